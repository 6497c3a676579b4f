"""Commands that rename, drop and restore tables: table rename, drop, dropped, restore."""

from typing import Annotated

import typer

from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import dropped_tables
from lakebed.cli.parsing.options import TableArgument
from lakebed.names import ForeignName
from lakebed.presentation.table import (
    dropped_json,
    dropped_view_json,
    just_dropped_json,
    table_name_json,
)


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` these commands."""
    command(noun, "rename", examples=_RENAME)(rename)
    command(noun, "drop", examples=_DROP)(drop)
    command(noun, "dropped", examples=_DROPPED)(dropped)
    command(noun, "restore", examples=_RESTORE)(restore)


_RENAME = """
lakebed table rename orders shop.silver.orders_old
"""


def rename(
    screen: Screen,
    name: TableArgument,
    to: Annotated[str, typer.Argument(help="namespace.layer.name")],
) -> None:
    """Rename a table.

    Its files and history stay. If it has a pipeline, that will create a new table.
    """
    table = screen.lake.tables.rename(name, to)
    screen.show(table_name_json(table), lambda: screen.say(f"renamed to {table}"))


_DROP = """
lakebed table drop orders_old
"""


def drop(screen: Screen, name: TableArgument) -> None:
    """Drop a table or view.

    A table's files stay for a while: `lakebed table restore` brings it back.
    """
    lake = screen.lake
    found, view = lake.tables.find_readable(name)
    if view and not isinstance(found, ForeignName):
        lake.tables.drop_view(found)
        screen.show(
            dropped_view_json(found),
            lambda: screen.say(f"dropped the view {found}; its pipeline can create it again"),
        )
        return
    gone = lake.tables.drop(name)

    def text() -> None:
        screen.say(f"dropped {gone.table}")
        screen.say(f"bring it back with: lakebed table restore {gone.table}")

    screen.show(just_dropped_json(gone), text)


_DROPPED = """
lakebed table dropped
"""


def dropped(screen: Screen) -> None:
    """List dropped tables that can be restored."""
    known = [one for one in screen.lake.tables.dropped() if not one.table.hidden]
    rows = [dropped_json(one) for one in known]

    def text() -> None:
        if not rows:
            screen.say("no dropped tables")
            return
        screen.table(
            ("table", "dropped (UTC)", "uuid"),
            [(str(one.table), format_time(one.at), one.uuid) for one in known],
        )

    screen.show(rows, text)


_RESTORE = """
lakebed table restore orders
lakebed table restore orders --to shop.silver.orders_again
"""


def restore(
    screen: Screen,
    name: Annotated[
        str,
        typer.Argument(
            help="The dropped table's name, the last parts of it, or its uuid.",
            autocompletion=dropped_tables,
        ),
    ],
    to: Annotated[
        str | None, typer.Option("--to", metavar="TABLE", help="A new name: namespace.layer.name.")
    ] = None,
) -> None:
    """Restore a dropped table with all its rows and history."""
    table = screen.lake.tables.restore(name, to=to)
    screen.show(table_name_json(table), lambda: screen.say(f"restored {table}"))
