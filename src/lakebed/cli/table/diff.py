"""The command `table diff`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.results import cell
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument, named_columns
from lakebed.presentation.table import diff_json

if TYPE_CHECKING:
    from lakebed.tables import ColumnFigures, Example


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "diff", examples=_DIFF)(diff)


_DIFF = """
lakebed table diff orders 2026-11-01
lakebed table diff orders before_migration main --key order_id
"""


def diff(
    screen: Screen,
    name: TableArgument,
    before: Annotated[
        str, typer.Argument(metavar="POINT", help="A snapshot, tag, branch, run or time.")
    ],
    after: Annotated[
        str | None, typer.Argument(metavar="[POINT]", help="Another one. Default: now.")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            callback=named_columns,
            help="Columns that identify a row: a,b; repeatable. Default: the pipeline's key.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, help="How many rows of each kind to show.")
    ] = 5,
) -> None:
    """Compare a table at two points: columns, rows by key, statistics of each column."""
    with screen.spinner("comparing"), screen.lake.spark_ahead():
        found = screen.lake.tables.diff(name, before, after, keys=key, examples=examples)

    def text() -> None:
        old, new = found.before, found.after
        by = f"by {', '.join(found.keys)}" if found.keys else "as a whole, since no key is known"
        screen.say(
            f"from snapshot {old.id} ({format_time(old.at)}) to {new.id} ({format_time(new.at)}),"
            f" rows compared {by}"
        )
        for change in found.columns:
            screen.say(
                f"  column {change.name} {change.kind}: {change.before or '–'} →"
                f" {change.after or '–'}"
            )
        screen.say(
            "  " + " · ".join(f"{kind} {format_count(count)}" for kind, count in found.rows.items())
        )
        figures = [one for one in found.figures if one.differs]
        if figures:
            screen.table(
                ("column", "figure", "before", "after"),
                [line for one in figures for line in _figures(one)],
            )
        for kind, rows in found.examples.items():
            for row in rows:
                screen.say(f"  {kind}: {_example(row)}")

    screen.show(diff_json(found), text)


def _figures(one: "ColumnFigures") -> list[tuple[str, str, str, str]]:
    names = [name for name in one.after if one.before.get(name) != one.after[name]]
    return [(one.column, name, str(one.before.get(name)), str(one.after[name])) for name in names]


def _example(row: "Example") -> str:
    before, after = row.before, row.after
    if before is None or after is None:
        return " ".join(
            f"{name}={_value(value)}" for name, value in (before or after or {}).items()
        )
    return " ".join(
        (
            f"{name}={_value(value)}"
            if before[name] == value
            else f"{name}={_value(before[name])}→{_value(value)}"
        )
        for name, value in after.items()
    )


def _value(value: Any) -> str:
    return repr(value) if isinstance(value, str) else cell(value)
