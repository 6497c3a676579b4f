"""Every row of the catalog that holds the address of a metadata file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lakebed.names import TableName
from lakebed.ports.catalog.catalog import RefMove
from lakebed.ports.catalog.commit_records import NO_CHANGE_RECORDS, ChangeRecords
from lakebed.ports.state.leases import Lease


@dataclass(frozen=True)
class PointerRow:
    """A table, view or dropped table, and its metadata file.

    `key` identifies the row among its kind.
    """

    kind: Literal["table", "view", "dropped"]
    name: str
    table: TableName | None  # None for a name that is not in three parts
    location: str
    key: str
    previous: str | None = None  # the metadata file before this one


@dataclass(frozen=True)
class PointerChange:
    """A row that is to point at another metadata file of the same table."""

    row: PointerRow
    to: str


class PointerRows(Protocol):
    """Reads and changes pointers of any kind, several in one transaction."""

    def rows(self) -> tuple[PointerRow, ...]:
        """Every table, view and dropped table."""
        ...

    def stage(self, location: str, move: RefMove) -> str:
        """Write a new metadata file: the one at `location` after a move of refs.

        Returns its location.
        """
        ...

    def change(
        self,
        changes: Sequence[PointerChange],
        *,
        leases: Sequence[Lease] = (),
        records: ChangeRecords = NO_CHANGE_RECORDS,
    ) -> None:
        """Commit all changes and their records in one transaction.

        `PointerMoved` if a row no longer points where it did, `LeaseLost` if a lease was lost: then
        nothing is changed.
        """
        ...
