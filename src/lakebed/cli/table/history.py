"""The command `table history`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, timed
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.ports import id_text

if TYPE_CHECKING:
    from lakebed.app.tables import HistoryEntry


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
    """What happened to a table, newest first: snapshots, those that were undone too, rollbacks, tags and other changes."""
    changes = screen.lake().table_work.history(name, ref=ref)
    rows = [_change(change) for change in changes[:limit]]

    def text() -> None:
        if not rows:
            screen.say(f"{ref} has no snapshot yet")
            return
        numbers = ("added", "deleted", "rows")
        shown = [
            (
                row["snapshot"] or "",
                timed(row["at"]),
                row["what"] + (" (undone)" if row["undone"] else ""),
                *("" if row[key] is None else counted(row[key]) for key in numbers),
                (row["run"] or "")[:16] or row["detail"],
            )
            for row in rows
        ]
        screen.table(("snapshot", "at (UTC)", "what", *numbers, "run or detail"), shown, right=numbers)
        if len(changes) > limit:
            screen.say(f"… and {len(changes) - limit} older; see more with --limit")

    screen.show(rows, text)


def _change(change: "HistoryEntry") -> dict[str, Any]:
    one, noted = change.snapshot, change.event
    return {
        "snapshot": id_text(one.id if one else noted.event.snapshot if noted else None),
        "at": change.at,
        "what": change.what,
        "current": change.current,
        "undone": change.undone,
        "added": (one.count("added-records") or 0) if one else None,
        "deleted": one.deleted if one else None,
        "rows": one.rows if one else None,
        "run": one.run_id if one else None,
        "detail": ", ".join(f"{key} {value}" for key, value in noted.event.detail.items()) if noted else "",
    }
