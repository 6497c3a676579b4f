"""What was decided about each layout of a table that a query reads, as fixed codes."""

from dataclasses import dataclass
from typing import Literal

LayoutReason = Literal[
    "CHOSEN",
    "HYBRID",
    "COST_HIGHER",
    "NO_PRUNING_GAIN",
    "STALE",
    "SCHEMA_DRIFT",
    "TAINTED",
    "NOT_BUILT",
    "MIXED_FILES",
    "TIME_TRAVEL",
    "ORDER_SENSITIVE",
    "HINT_OFF",
    "UNPARSEABLE",
]
Verdict = Literal["chosen", "possible", "refused"]

LAYOUT_REASONS: dict[LayoutReason, str] = {
    "CHOSEN": "it is read instead of the table",
    "HYBRID": "its fresh batches are read from it, the others from the table",
    "COST_HIGHER": "reading it would not be clearly cheaper",
    "NO_PRUNING_GAIN": "the query's conditions skip none of its files",
    "STALE": "the batches that the query reads are not up to date in it",
    "SCHEMA_DRIFT": "the table's columns have changed since it was built",
    "TAINTED": "something else has written into it, or it cannot be read",
    "NOT_BUILT": "none of its batches was built yet",
    "MIXED_FILES": "files that the query reads have rows of several batches",
    "TIME_TRAVEL": "only the present state of a table is read from layouts",
    "ORDER_SENSITIVE": "the answer may depend on the order of rows",
    "HINT_OFF": "layouts are switched off, for this query or by the settings",
    "UNPARSEABLE": "the query is not understood well enough",
}


@dataclass(frozen=True)
class LayoutVerdict:
    """One layout that was considered. `files`, `bytes` and `cost` are of everything that would be
    read with it, files of the table included; `needed_bytes` are those of the needed columns.
    """

    layout: str
    table: str
    verdict: Verdict
    reason: LayoutReason
    files: int = 0
    total_files: int = 0
    bytes: int = 0
    needed_bytes: int = 0
    cost: int = 0
    fresh_batches: int = 0
    stale_batches: int = 0
    source_files: int = 0  # those of the table among `files`
