"""Records of runs, the ledger of landing files, and pins: the snapshots that runs are reading."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from lakebed.names import TableName, ZoneName
from lakebed.ports.state.events import Event
from lakebed.ports.state.ledger import ConsumedFile, Descent, MovedFile
from lakebed.ports.state.runs import InputPin, RunRecord, RunState, RunSummary


class Records(Protocol):
    """What runs did. What a publication records is written by the catalog, in the same commit."""

    def write(self, record: RunRecord) -> None:
        """Add a record, or replace that of the same run; a successful run stays successful."""
        ...

    def close(self, record: RunRecord, *events: Event) -> bool:
        """A run has ended: store its record and what it tells followers in one commit.

        False if it was closed already: then nothing is stored. Of several who close a run one does;
        only one that counts as failed can still turn out to have succeeded.
        """
        ...

    def run(self, run_id: str) -> RunRecord | None:
        """The record of this run."""
        ...

    def runs(
        self,
        *,
        table: TableName | None = None,
        invocation: str | None = None,
        state: RunState | None = None,
        limit: int = 50,
    ) -> tuple[RunRecord, ...]:
        """Records, newest first."""
        ...

    def summaries(self) -> tuple[RunSummary, ...]:
        """A summary of every record, newest first."""
        ...

    def last_digests(self) -> dict[TableName, str]:
        """The digest of the pipeline files that each table's last successful run used."""
        ...

    def consumed(
        self, zone: ZoneName, *, table: TableName | None = None
    ) -> tuple[ConsumedFile, ...]:
        """The files of a zone that published runs consumed, or that are excluded: by one table, or
        by any.

        If several runs of a table consumed a file, the last one whose rows are visible counts; if
        none is visible, the last one.
        """
        ...

    def record_moves(self, moves: Iterable[MovedFile]) -> None:
        """Store the new paths and etags of files that were moved or rewritten."""
        ...

    def ledger(self, table: TableName) -> tuple[ConsumedFile, ...]:
        """The files that published runs of a table consumed, whatever their state now, in order of
        publication.
        """
        ...

    def descents(self, uuid: str) -> tuple[Descent, ...]:
        """What was recorded of the descent of a table's snapshots when some of them expired."""
        ...

    def zone_types(self, zone: ZoneName) -> dict[str, dict[str, str]]:
        """The column types that published runs learned from a zone's files, by file pattern; "" is
        all files.
        """
        ...

    def appends_replaced(self, zone: ZoneName) -> bool:
        """Whether the zone was in use before replaced files were refused: unless its settings
        decide, their rows are added there.
        """
        ...

    def delete_runs(self, run_ids: Collection[str]) -> int:
        """Delete records of runs that have ended; the ledger keeps their files.

        Returns how many were deleted.
        """
        ...

    def pin(self, run_id: str, pins: Sequence[InputPin]) -> None:
        """Keep the snapshots that a run reads from expiring."""
        ...

    def unpin(self, run_ids: Collection[str]) -> None:
        """Remove the pins of these runs."""
        ...

    def pinned(self) -> dict[TableName, frozenset[int]]:
        """Every snapshot that a running run has pinned."""
        ...
