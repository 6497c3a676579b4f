"""Arguments and options that several commands share."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from lakebed.cli.parsing.completion import all_pipelines, known_pipelines, known_tables
from lakebed.errors import UsageError

_PAIR = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


_HELP = (
    "silver.orders, +a, a+, 2+a, @a, tag:x, path:x, state:modified, patterns with *. Default: all."
)
SelectorsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SELECTORS]...", help=_HELP, autocompletion=known_pipelines),
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--select",
        metavar="SELECTOR",
        help="Same as SELECTORS; repeatable.",
        autocompletion=known_pipelines,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="SELECTOR",
        help="Leave these out; repeatable.",
        autocompletion=known_pipelines,
    ),
]
VarsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vars", metavar="KEY=VALUE", help="A variable, or several as YAML or JSON; repeatable."
    ),
]
FullRefreshOption = Annotated[
    bool,
    typer.Option(
        "-f",
        "--full-refresh",
        help="Rebuild tables from scratch, from all input, including archived files.",
    ),
]
BatchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--batch", metavar="KEY=VALUE", help="Only this batch of a source: year=2020; repeatable."
    ),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="VALUE", help="Backfill from this date, time or integer on; with --end."
    ),
]
EndOption = Annotated[
    str | None, typer.Option("--end", metavar="VALUE", help="Backfill up to here; exclusive.")
]
ChunkOption = Annotated[
    str | None,
    typer.Option(
        "--chunk",
        metavar="SIZE",
        help=(
            "How much of a backfill is published at once: hour, day, week, month, year, or a count"
            " of integers. Default: month, or all integers."
        ),
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Write batches even if they are unchanged, or a backfill has done them."
    ),
]
RepairGapsOption = Annotated[
    bool,
    typer.Option(
        "--repair-gaps",
        help="Write batches of a source again that other programs have removed from the table.",
    ),
]
ReleasedOption = Annotated[
    bool, typer.Option("--released", help="Use the newest releases instead of the drafts.")
]
ThreadsOption = Annotated[
    int,
    typer.Option("--threads", min=1, max=256, help="How many pipelines may run at the same time."),
]
WaitOption = Annotated[
    float,
    typer.Option("--wait", min=0, help="Seconds to wait for a table that another run is changing."),
]
TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="namespace.layer.name, or the last parts of it.",
        autocompletion=known_tables,
    ),
]
PipelineArgument = Annotated[
    str,
    typer.Argument(
        metavar="PIPELINE",
        help="namespace.layer.name, or the last parts of it.",
        autocompletion=all_pipelines,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="POINT", help="A snapshot, tag, branch, run or time. Default: now."
    ),
]
NamespaceOption = Annotated[
    str | None, typer.Option("-n", "--namespace", help="Where to look for short names first.")
]


def all_selectors(
    arguments: Iterable[str] | None, options: Iterable[str] | None
) -> tuple[str, ...]:
    """The selectors given as arguments, and those given with --select."""
    return (*(arguments or ()), *(options or ()))


def variables(given: Iterable[str] | None) -> dict[str, Any]:
    """`day=2026-10-01` or `{day: 2026-10-01, n: 3}`; later ones win. Dates stay strings."""
    found: dict[str, Any] = {}
    for text in given or ():
        found |= _variables(text)
    return found


def _variables(text: str) -> dict[str, Any]:
    if pair := _PAIR.fullmatch(text.strip()):
        return {pair[1]: _plain(pair[2], text)}
    tree = _plain(text, text)
    if not isinstance(tree, dict) or not all(isinstance(name, str) for name in tree):
        raise UsageError(
            f"{text!r} is not a variable.",
            where="--vars",
            next="Write --vars day=2026-10-01, or --vars '{a: 1, b: 2}'.",
        )
    return tree


def _plain(text: str, whole: str) -> Any:
    """Numbers, booleans, lists and mappings as YAML reads them; a date stays a string."""
    import json

    import yaml

    from lakebed.settings import read_yaml

    try:
        value = read_yaml(text)[1]
    except yaml.YAMLError:
        raise UsageError(f"{whole!r} is not valid YAML.", where="--vars") from None
    return text if hasattr(value, "isoformat") else json.loads(json.dumps(value, default=str))
