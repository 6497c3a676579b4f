"""Writing snapshots out of data files that exist: no row is read."""

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from lakebed.ports.catalog.added_files import AddedFile
from lakebed.ports.catalog.amendments import AddSnapshot, Amendment
from lakebed.ports.catalog.tables import Pointer


class SnapshotWriter(Protocol):
    """Writes the manifests of a snapshot. It is in the table once `Catalog.amend` has added it,
    where the table is `expected` to be at the same pointer.
    """

    def of_files(self, pointer: Pointer, files: Collection[str]) -> AddSnapshot | None:
        """A snapshot with these data files of `main` only, and with what marks their rows as
        deleted; None if `main` has none of them any more.

        Files are given by their normalized locations.
        """
        ...

    def adding(
        self, pointer: Pointer, files: Iterable[AddedFile], *, summary: Mapping[str, str]
    ) -> tuple[Amendment, ...]:
        """What makes these files part of a table that has no snapshot yet: a snapshot, to which
        `main` moves, and the names by which their columns are found.

        A bounded number of files is in memory.
        """
        ...

    def appending(self, pointer: Pointer, *, made: int) -> AddSnapshot:
        """`main` with the data files that the snapshot `made` added to an earlier state of it, as
        a snapshot of its own with the same summary.

        The files get its new sequence number: with their former one, a delete file that others
        committed since would remove their rows. `Diverged` if not all of them can be told.
        """
        ...

    def replacing(
        self, pointer: Pointer, *, picked: int, by: int, summary: Mapping[str, str]
    ) -> AddSnapshot:
        """`main` with the data files of the snapshot `picked` replaced by those of the snapshot
        `by`, as a snapshot that only rewrites.

        `Diverged` if `main` no longer has all of them, if rows of any file were marked as deleted
        since, or if the new files do not have the table's present partition spec.
        """
        ...
