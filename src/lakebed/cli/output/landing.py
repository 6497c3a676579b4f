"""What was restored of the ledger of landing files, in words."""

from typing import TYPE_CHECKING

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen

if TYPE_CHECKING:
    from lakebed.care.fsck import LedgerReport

_SHOWN = 20


def show_ledger(screen: Screen, ledger: "LedgerReport") -> None:
    """Name the files of which nothing is certain, and what to do about them."""
    unproved = ledger.unproved
    for file in unproved[:_SHOWN]:
        screen.say(f"not certain: {file.path}, which run {file.run[:16]} read for {file.table}")
    if len(unproved) > _SHOWN:
        screen.say(f"not certain: {format_count(len(unproved) - _SHOWN)} further files")
    if unproved:
        screen.say(
            "    nothing says whether these runs were published; next: where a table has the rows"
            " of a file that is still in its zone, move it to the zone's _processed/ before the"
            " next run reads it again"
        )


def ledger_summary(ledger: "LedgerReport") -> str:
    """How many files are restored and how many are not, for a closing line."""
    restored = f"{format_count(ledger.files)} landing files are in the ledger again"
    if not ledger.unproved:
        return restored
    return f"{restored}, {format_count(len(ledger.unproved))} are not certain"
