"""The command `ls`."""

from datetime import datetime
from typing import Annotated, Any

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_names
from lakebed.presentation.lake import listed_foreign_json, listed_table_json, listed_view_json
from lakebed.sizes import format_size


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "ls", examples=_LS)(ls)


_LS = """
lakebed ls
lakebed ls silver
lakebed ls 'ecommerce.*.clean_*' --json
"""


def ls(
    screen: Screen,
    pattern: Annotated[
        str | None,
        typer.Argument(
            help="A name, part of one, or a pattern with * and ?.", autocompletion=known_names
        ),
    ] = None,
) -> None:
    """List tables and views, including those that other programs created in the catalog."""
    lake = screen.lake
    rows = [
        listed_table_json(str(table), metadata)
        for table, metadata in lake.tables.list(pattern).items()
    ]
    rows += [
        listed_view_json(str(view), metadata)
        for view, metadata in lake.tables.views(pattern).items()
    ]
    rows += [
        listed_foreign_json(entry, metadata)
        for entry, metadata in lake.tables.foreign(pattern).items()
    ]
    kinds = any(row["kind"] != "table" for row in rows)

    def text() -> None:
        if not rows:
            screen.say("no tables" + (f" match {pattern!r}" if pattern else " yet"))
            return
        heads = (
            "table",
            *(("kind",) if kinds else ()),
            "rows",
            "files",
            "size",
            "updated (UTC)",
            "branches",
        )
        shown = [tuple(_cell(row, head) for head in heads) for row in rows]
        screen.table(heads, shown, right=("rows", "files", "size", "branches"))

    screen.show(rows, text)


def _cell(row: dict[str, Any], head: str) -> str:
    if head in ("table", "kind"):
        return str(row[head])
    value = row[{"size": "bytes", "updated (UTC)": "updated_at"}.get(head, head)]
    if value is None:
        return ""
    if head == "updated (UTC)":
        return format_time(datetime.fromisoformat(value))
    return format_size(value) if head == "size" else format_count(value)
