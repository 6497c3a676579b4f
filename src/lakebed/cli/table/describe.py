"""The command `table describe`."""

from typing import TYPE_CHECKING

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.presentation.table import column_type, table_json, view_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.names import TableName
    from lakebed.ports import ViewMetadata


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "describe", examples=_DESCRIBE)(describe)


_DESCRIBE = """
lakebed table describe ecommerce.silver.orders
lakebed table describe orders --json
"""


def describe(screen: Screen, name: TableArgument) -> None:
    """Show columns, partitioning, refs and size of a table, or columns and SQL of a view."""
    lake = screen.lake
    table, view = lake.tables.find_readable(name)
    if view:
        _view(screen, table, view)
        return
    metadata = lake.tables.describe(name)
    facts = table_json(table, metadata)

    def text() -> None:
        screen.say(bold(table))
        screen.say(
            f"  rows {format_count(facts['rows'])} · files {format_count(facts['files'])} ·"
            f" {format_size(facts['bytes'])}"
        )
        screen.say(f"  updated {format_time(metadata.updated_at)} UTC · {metadata.location}")
        for label, parts in (
            ("partitioned by", metadata.partition_by),
            ("sorted by", metadata.sort_by),
        ):
            if parts:
                screen.say(f"  {label} {', '.join(parts)}")
        columns = [
            (
                column.name,
                column_type(column.type),
                "required" if column.required else "",
                column.doc,
            )
            for column in metadata.columns
        ]
        screen.table(("column", "type", "", "description"), columns)
        refs = [(ref.name, ref.kind, str(ref.snapshot)) for ref in metadata.refs.values()]
        if refs:
            screen.table(("ref", "kind", "snapshot"), refs)

    screen.show(facts, text)


def _view(screen: Screen, name: "TableName", view: "ViewMetadata") -> None:
    def text() -> None:
        screen.say(bold(name), " (view)")
        screen.say(f"  updated {format_time(view.updated_at)} UTC · {view.location}")
        screen.table(
            ("column", "type", "description"),
            [(column.name, column_type(column.type), column.doc) for column in view.columns],
        )
        screen.say(view.sql)

    screen.show(view_json(name, view), text)
