"""How a function becomes a command: shared options, and errors as exit codes."""

import inspect
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, NoReturn

import typer

from lakebed.cli.output.screen import Screen
from lakebed.errors import LakebedError

LakeOption = Annotated[
    str | None,
    typer.Option(
        "--lake", metavar="PATH", help="The lake: a folder or s3:// address. Also LAKEBED_LAKE."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
NoWorkerOption = Annotated[
    bool, typer.Option("--no-worker", help="Start Spark for this command alone.")
]

_SHARED = {
    "lake": (LakeOption, None),
    "json": (JsonOption, False),
    "quiet": (QuietOption, False),
    "debug": (DebugOption, False),
    "no_worker": (NoWorkerOption, False),
}


def command(
    app: typer.Typer, name: str, *, examples: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command; its `Screen` is made from the shared options."""

    def made(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(context: typer.Context, **given: Any) -> None:
            screen = _screen(
                context.find_root().obj or Screen(), {key: given.pop(key) for key in _SHARED}
            )
            with _errors_as_exit_codes(screen), screen:
                function(screen, **given)

        run.__signature__ = _signature(function)  # type: ignore[attr-defined]
        del run.__wrapped__
        epilog = "\n\n".join(f"  $ {line}" for line in examples.strip().splitlines())
        app.command(
            name,
            help=inspect.getdoc(function),
            epilog=f"Examples:\n\n{epilog}" if examples else None,
        )(run)
        return function

    return made


def _signature(function: Callable[..., None]) -> inspect.Signature:
    own = list(inspect.signature(function).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(key, keyword, default=default, annotation=kind)
        for key, (kind, default) in _SHARED.items()
    ]
    context = inspect.Parameter(
        "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    return inspect.Signature(
        [context, *(parameter.replace(kind=keyword) for parameter in own), *shared]
    )


def _screen(above: Screen, given: dict[str, Any]) -> Screen:
    return Screen(
        lake_path=given["lake"] or above.lake_path,
        as_json=given["json"] or above.as_json,
        quiet=given["quiet"] or above.quiet,
        debug=given["debug"] or above.debug or os.environ.get("LAKEBED_DEBUG") == "1",
        no_worker=given["no_worker"] or above.no_worker,
    )


@contextmanager
def _errors_as_exit_codes(screen: Screen) -> Iterator[None]:
    try:
        yield
    except LakebedError as error:
        _end(screen, error)
    except (KeyboardInterrupt, typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:
        # The reader has gone; without this the interpreter would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(0) from None
    except Exception as error:
        unexpected = LakebedError(
            f"Lakebed itself failed: {type(error).__name__}: {error}",
            safe="",
            next="Run it again with --debug and report the output.",
        )
        unexpected.__cause__ = error
        _end(screen, unexpected)


def _end(screen: Screen, error: LakebedError) -> NoReturn:
    if screen.debug:
        traceback.print_exception(error)
    screen.show_error(error)
    raise typer.Exit(error.exit_code) from None
