"""What a check of a lake can find, and the repairs that lose nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lakebed.names import TableName
from lakebed.ports import PointerChange, RefMove

Severity = Literal["problem", "warning", "info"]
FindingKind = Literal[
    "damaged database", "lost catalog", "moved lake", "damaged metadata", "missing file",
    "wrong size", "damaged file", "changed file", "damaged dropped table", "folder without table",
    "unreached files", "stale branch", "dead run", "left-over table", "divided publication",
    "divided change", "dead pin", "dead protection", "protection without follower",
    "silent follower", "ledger of unknown table", "table without pipeline",
    "pipeline without table", "bad pipeline", "damaged release", "derived table without source",
    "unlisted derived table", "missing derived table", "unknown derived table", "unstored digests",
]  # fmt: skip
# how many data files, and how many metadata files, a check reads in full by default
SAMPLE = 200


@dataclass(frozen=True)
class Heal:
    """Remove what dead runs of a table left: branches, hidden tables, pins; and close their
    records.
    """

    table: TableName

    def __str__(self) -> str:
        return f"clean up after the dead runs of {self.table}"


@dataclass(frozen=True)
class PointBack:
    """Point the catalog at the newest readable metadata file that has everything committed.

    `replay` is the publication that only the lost file had: it is repeated first.
    """

    table: TableName
    move: PointerChange
    replay: RefMove | None = None

    def __str__(self) -> str:
        again = " and repeat the publication that it lacks" if self.replay else ""
        return f"point {self.table} at {self.move.to.rsplit('/', 1)[-1]}{again}"


@dataclass(frozen=True)
class Purge:
    """Remove a hidden table that no run will publish, and that shares no file with another."""

    table: TableName

    def __str__(self) -> str:
        return f"remove the hidden table {self.table}"


@dataclass(frozen=True)
class ClearStage:
    """Remove the folder in which a run that ended staged its result, and from which no table
    reaches a file.
    """

    folder: str
    run_id: str

    def __str__(self) -> str:
        return f"remove the staged files in {self.folder}"


@dataclass(frozen=True)
class Unpin:
    """Remove the pins of runs that have ended."""

    run_ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"remove the pins of {len(self.run_ids)} ended runs"


@dataclass(frozen=True)
class GiveBack:
    """Release what a holder protects of a table, if nobody can need it: none of these snapshots
    exists, and the holder is no follower.
    """

    holder: str
    table: TableName

    def __str__(self) -> str:
        return f"release what {self.holder} protects of {self.table}"


@dataclass(frozen=True)
class Settle:
    """Finish publications and other changes that a crash interrupted."""

    def __str__(self) -> str:
        return "settle interrupted publications and changes"


@dataclass(frozen=True)
class Relist:
    """Let a table list exactly the tables that are derived from it."""

    table: TableName
    derived: tuple[TableName, ...]

    def __str__(self) -> str:
        return f"list the {len(self.derived)} derived tables of {self.table}"


Repair = Heal | PointBack | Purge | ClearStage | Unpin | GiveBack | Settle | Relist
"""One thing that `--repair` does."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong: what, where, how bad, and the repair if there is one that loses
    nothing.
    """

    kind: FindingKind
    severity: Severity
    where: str
    what: str
    repair: Repair | None = None
    advice: str = ""  # what to do if there is no repair


@dataclass(frozen=True)
class Looked:
    """How much a check has looked at."""

    tables: int = 0
    files: int = 0
    read: int = 0  # files that were read in full
    bytes: int = 0  # of those


@dataclass(frozen=True)
class RepairOutcome:
    """How a repair ended."""

    repair: str
    done: bool
    detail: str = ""


@dataclass(frozen=True)
class FsckReport:
    """The result of a check."""

    findings: tuple[Finding, ...]
    looked: Looked
    repairs: tuple[RepairOutcome, ...] = ()

    @property
    def problems(self) -> int:
        return sum(found.severity == "problem" for found in self.findings)


@dataclass(frozen=True)
class PipelineInventory:
    """The tables that pipeline folders build, and folders that cannot be read, with the reason."""

    tables: frozenset[TableName] = frozenset()
    bad: Mapping[str, str] = field(default_factory=dict)  # folder → why


@dataclass(frozen=True)
class StoredContent:
    """Content that is named by its SHA-256, and who needs it."""

    needed_by: str
    path: str
    sha256: str
