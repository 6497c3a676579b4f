"""Running a `pipeline.py`: what it is given, and what it may return."""

import linecache
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.errors import LakebedError, RunFailed, UnknownName, worker_traceback
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.templates import RANGE


class CallableFlag:
    """A boolean that can also be called: `context.is_incremental` and `context.is_incremental()`
    are the same.
    """

    def __init__(self, yes: bool) -> None:
        self._yes = yes

    def __bool__(self) -> bool:
        return self._yes

    def __call__(self) -> bool:
        return self._yes

    def __repr__(self) -> str:
        return repr(self._yes)


@dataclass(frozen=True)
class Context:
    """What a Python pipeline knows about its run, by attribute and by key.

    `ref` and `landing_zone` take a name and return a DataFrame, pinned for this run. For a pipeline
    that uses DuckDB they return text for a FROM clause and a path for its readers. `landing_files`
    returns the listed files themselves. `batch_start` and `batch_end` are None unless a backfill
    gives a range.
    """

    run_id: str
    ref: Callable[[str], Any]
    landing_zone: Callable[..., Any]
    landing_files: Callable[..., list[str]]
    this: Any
    is_incremental: CallableFlag
    watermark: Any
    watermark_value: str | None
    run_started_at: Any
    vars: Mapping[str, Any]
    config: Mapping[str, Any]
    logger: logging.Logger
    batch_start: Any = None
    batch_end: Any = None

    def var(self, name: str, *default: Any) -> Any:
        """A variable given by --vars, or the default."""
        if name in self.vars:
            return self.vars[name]
        if default:
            return default[0]
        raise UnknownName("variable", name, self.vars)

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def run_code(spec: PipelineSpec, context: Context, *, spark: Any, conn: Any) -> Any:
    """What the pipeline returns; its own exceptions, and its wish to end the process, are raised as
    `RunFailed`, with their line.
    """
    # A name that no module has: its functions are sent to Spark's workers by value, because those
    # have no such file.
    name = f"lakebed_pipeline_{spec.table.name}".replace("-", "_")
    shown = f"<{spec.file}>"
    linecache.cache[shown] = (len(spec.source), None, spec.source.splitlines(keepends=True), shown)
    space: dict[str, Any] = {"__name__": name, "__file__": spec.file}
    if spec.style == "flat":
        space |= _flat_names(context, spark, conn)
    try:
        exec(compile(spec.source, shown, "exec"), space)  # noqa: S102 - running the user's pipeline is the point
        if spec.style == "flat":
            return space.get("result")
        return space["run"](conn if spec.style == "duckdb" else spark, context)
    except (LakebedError, KeyboardInterrupt):
        raise
    except BaseException as error:  # `sys.exit` would end other runs, too, and say that all is well
        raise _failure(error, shown, spec) from error
    finally:
        linecache.cache.pop(shown, None)


def _flat_names(context: Context, spark: Any, conn: Any) -> dict[str, Any]:
    import pyarrow

    names = (
        "ref",
        "landing_zone",
        "this",
        "run_started_at",
        "is_incremental",
        "watermark",
        "watermark_value",
        *sorted(RANGE),
        "config",
        "vars",
    )
    given = {name: context[name] for name in names}
    return given | {
        "context": context,
        "spark": spark,
        "conn": conn,
        "duckdb_conn": conn,
        "pa": pyarrow,
        "log": context.logger,
    }


def _failure(error: BaseException, shown: str, spec: PipelineSpec) -> RunFailed:
    if told := worker_traceback(str(error)):
        return RunFailed(
            told.what,
            where=told.where or spec.file,
            next="Correct the function, or the rows it is given.",
        )
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == shown
    ]
    line = frames[-1].lineno if frames else None
    what = _what(error)
    excerpt = f"\n  {line} | {frames[-1].line}\n" if frames else ""
    return RunFailed(f"{what}{excerpt}", where=f"{spec.file}:{line}" if line else spec.file)


def _what(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"the code called sys.exit({'' if error.code is None else repr(error.code)})"
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
