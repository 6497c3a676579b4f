"""Manual changes: through the same lease, branch, gates and publication as a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from lakebed.errors import LakebedError, UnknownName, UsageError
from lakebed.names import TableName, new_run_id, split_names
from lakebed.pipelines.definition.config import PipelineConfig, build_strategy
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.running.adopting.names import restore_names
from lakebed.pipelines.running.builds.attempts import attempt_until
from lakebed.pipelines.running.builds.build_request import Build, hold_table
from lakebed.pipelines.running.heal import heal
from lakebed.ports import RunRecord
from lakebed.settings import reason
from lakebed.sql import ChangeStatement, check_condition
from lakebed.tables import ALIASES, STRATEGIES, OverwriteWhere, Strategy, altered_event

BY_HAND = "by hand"
MODES = {**ALIASES, **{name: name for name in STRATEGIES}, "overwrite": "full_refresh"}


@dataclass(frozen=True)
class WriteOptions:
    """How rows are written: the strategy, the key, the column that says which row is newer,
    whether new columns are added, which rows are replaced, and how a new table is partitioned.
    """

    mode: str = "append"
    key: tuple[str, ...] = ()
    order: str | None = None
    on_schema_change: str = "fail"
    where: str | None = None
    partition_by: tuple[str, ...] = ()


def manual_spec(
    table: TableName, manner: WriteOptions, *, pipeline: PipelineSpec | None, release: str
) -> PipelineSpec:
    """Stands in for a pipeline. If the table has a pipeline, its gates and contract apply to manual
    changes too.
    """
    if manner.mode.casefold() not in MODES:
        raise UnknownName("mode", manner.mode, MODES)
    given: dict[str, Any] = {
        "merge_strategy": MODES[manner.mode.casefold()],
        "unique_key": manner.key,
        "watermark_column": manner.order,
        "on_schema_change": manner.on_schema_change,
    }
    if manner.partition_by:
        given["partition_by"] = manner.partition_by
    if pipeline and type(pipeline.strategy) is STRATEGIES[given["merge_strategy"]]:
        given |= pipeline.strategy.own_settings
    if pipeline and pipeline.config.contract:
        given |= {"contract": True, "columns": pipeline.config.columns}
    config, strategy = _configured(given)
    if manner.where is not None:
        strategy = _overwrite_where(manner.where, strategy)
    return PipelineSpec(
        table=table,
        folder=pipeline.folder if pipeline else "",
        file=BY_HAND,
        kind="hand",
        style="hand",
        source="",
        config=config,
        strategy=strategy,
        gates=pipeline.gates if pipeline else (),
        refs=(),
        gate_refs=pipeline.gate_refs if pipeline else (),
        zones=(),
        names=frozenset(),
        digest=release,
    )


def _overwrite_where(where: str, strategy: Strategy) -> Strategy:
    if not strategy.rebuilds_all:
        raise UsageError(
            f"a write with mode {strategy.strategy}: where: only mode overwrite takes a condition.",
            next="Leave where out, or set mode to overwrite.",
        )
    return OverwriteWhere(where=check_condition(where).text)


def _configured(given: dict[str, Any]) -> tuple[PipelineConfig, Strategy]:
    try:
        config = PipelineConfig.model_validate(given)
        return config, build_strategy(config)
    except ValidationError as error:
        first = error.errors()[0]
        named = {"unique_key": "key", "watermark_column": "order", "merge_strategy": "mode"}
        option = named.get(str(first["loc"][-1]), str(first["loc"][-1]))
        mode = given["merge_strategy"]
        raise UsageError(f"a write with mode {mode}: {option}: {reason(first)}") from None


def apply_manual_change(build: Build, spec: PipelineSpec) -> RunRecord:
    """Carry out a change and publish it; if it fails, the error is raised and nothing changed."""
    outcome = attempt_until(build, spec)
    change = build.options.manual_change
    if outcome.error and outcome.error.overtaken and change and change.readable_once:
        outcome.error.next = "Write it again; these rows could be read only once."
    if outcome.error:
        raise _in_own_words(outcome.error)
    return outcome.record


_OWN_WORDS = {
    "on_schema_change: sync, and --full-refresh": "mode overwrite with on_schema_change sync",
    "on_schema_change is fail": "on_schema_change is fail, as it is unless given",
    "the result's columns": "the columns of what is written",
    "the result": "what is written",
    "in the query": "in what is written",
    "the query": "what is written",
    "unique_key": "key",
    "watermark_column": "order",
    "merge_strategy": "mode",
}


def _in_own_words(error: LakebedError) -> LakebedError:
    """The error in terms of rows and options instead of queries and settings."""
    for said, own in _OWN_WORDS.items():
        error.what, error.next = error.what.replace(said, own), error.next.replace(said, own)
    error.args = (error.what,)
    return error


def alter_manually(build: Build, table: TableName, statement: ChangeStatement) -> RunRecord:
    """An ALTER TABLE is one commit of its own, made under the lease; it changes no row, so no gate
    runs.

    The record says where the table was before: if this process dies, `settle_alters` finds out
    whether the ALTER was committed, and writes its event.
    """
    run_id, services, ports = new_run_id(), build.services, build.services.ports
    text = statement.on(table.spark, alias="")
    with hold_table(build, table, run_id) as held:
        heal(table, services, lease=held.require())
        before = ports.catalog.pointers([table]).get(table)
        record = RunRecord(
            run_id,
            build.options.invocation,
            table,
            "running",
            ports.now(),
            strategy=BY_HAND,
            altered_from=before.location if before else "",
            message=text,
        )
        ports.records.write(record)
        compute = ports.sessions.open(run_id)
        try:
            compute.execute(text)
            restore_names(table, services, lease=held.require())
        except LakebedError as error:
            error.what = statement.with_own_positions(error.what, table.spark, alias="")
            ports.records.write(
                replace(record, state="failed", ended_at=ports.now(), error=error.as_dict())
            )
            raise
        finally:
            compute.close()
        done = replace(record, state="success", ended_at=ports.now())
        ports.records.close(done, altered_event(done))
    return done


def keys_given(key: str | Sequence[str]) -> tuple[str, ...]:
    """One column or several, also as `a, b`."""
    return split_names(key) if isinstance(key, str) else tuple(key)
