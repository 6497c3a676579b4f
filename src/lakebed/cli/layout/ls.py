"""The command `layout ls`."""

from typing import TYPE_CHECKING

import typer

from lakebed.cli.layout.arguments import AnyTableArgument
from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.layout import layouts_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.derived.summary import LayoutSummary

_HEADINGS = (
    *("table", "layout", "state", "partitioned by", "sorted by", "batches", "rows", "files"),
    *("size", "stored", "why"),
)
_RIGHT = ("batches", "rows", "files", "size", "stored")


def add_to(noun: typer.Typer) -> None:
    """Give the noun `layout` this command."""
    command(noun, "ls", examples=_LS)(ls)


_LS = """
lakebed layout ls
lakebed layout ls silver.orders --json
"""


def ls(screen: Screen, table: AnyTableArgument = None) -> None:
    """List layouts: how they are arranged, which batches are fresh, and why others are not.

    "stored" is what is stored for each byte of the table, with all its layouts. Starts no JVM.
    """
    found = screen.lake.layouts.list(table)

    def text() -> None:
        if not found:
            screen.say("no layouts")
            return
        screen.table(_HEADINGS, [_row(one) for one in found], right=_RIGHT)

    screen.show(layouts_json(found), text)


def _row(one: "LayoutSummary") -> tuple[str, ...]:
    return (
        str(one.table),
        one.name,
        f"{one.stale} stale" if one.state == "stale" else one.state,
        ", ".join(one.partition_by),
        ", ".join(one.sort_by),
        f"{one.fresh}/{one.fresh + one.stale}",
        format_count(one.rows),
        format_count(one.files),
        format_size(one.bytes),
        f"{one.amplification:.2f}" if one.amplification else "",
        one.why,
    )
