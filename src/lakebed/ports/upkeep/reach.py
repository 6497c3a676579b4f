"""The files that a table needs: none may be removed, and all must exist."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from lakebed.ports.catalog.tables import ForeignTable, Pointer

ReachableKind = Literal["metadata", "manifest list", "manifest", "data", "deletes", "statistics"]


@dataclass(frozen=True)
class ReachableFile:
    """A file that a table needs.

    `location` is normalized; `size` and `rows` are as the metadata says, if it does.
    """

    location: str
    kind: ReachableKind
    size: int | None = None
    rows: int | None = None


class ReachableFiles(Protocol):
    """Follows metadata to files.

    `DamagedTable` if a metadata file, manifest list or manifest cannot be read.
    """

    def files(
        self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None
    ) -> Iterator[ReachableFile]:
        """Every file that these snapshots need, each once.

        Without `snapshots`: every file of every snapshot, and the table's metadata files.
        """
        ...
