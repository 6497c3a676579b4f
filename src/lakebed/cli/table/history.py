"""The command `table history`."""

from typing import Annotated

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.presentation.table import history_json


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "history", examples=_HISTORY)(history)


_HISTORY = """
lakebed table history orders
lakebed table history orders --ref run_7 --json
"""


def history(
    screen: Screen,
    name: TableArgument,
    ref: Annotated[str, typer.Option("--ref", help="A branch or tag.")] = "main",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many snapshots to show.")] = 50,
) -> None:
    """Show what happened to a table, newest first: snapshots, rollbacks, tags, other changes."""
    changes = screen.lake.tables.history(name, ref=ref)
    rows = [history_json(change) for change in changes[:limit]]

    def text() -> None:
        if not rows:
            screen.say(f"{ref} has no snapshots yet")
            return
        numbers = ("added", "deleted", "rows")
        shown = [
            (
                row["snapshot"] or "",
                format_time(change.at),
                row["what"] + (" (undone)" if row["undone"] else ""),
                *("" if row[key] is None else format_count(row[key]) for key in numbers),
                (row["run"] or "")[:16] or row["detail"],
            )
            for row, change in zip(rows, changes, strict=False)
        ]
        screen.table(
            ("snapshot", "at (UTC)", "what", *numbers, "run or detail"), shown, right=numbers
        )
        if len(changes) > limit:
            screen.say(f"… and {len(changes) - limit} older; show more with --limit")

    screen.show(rows, text)
