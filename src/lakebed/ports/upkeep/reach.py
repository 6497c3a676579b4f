"""The files that a table needs: none may be removed, and all must exist."""

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from lakebed.ports.catalog.tables import ForeignTable, Pointer

ReachableKind = Literal[
    "metadata", "manifest list", "manifest", "data", "deletes", "statistics", "batches"
]


@dataclass(frozen=True, slots=True)
class Partition:
    """Where a file belongs: the id of a partition spec, and a value for each field of it."""

    spec: int
    values: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ReachableFile:
    """A file that a table needs.

    `location` is normalized; `size` and `rows` are as the metadata says, if it does. Data and
    delete files have a `partition`, whatever folder they are in.
    """

    location: str
    kind: ReachableKind
    size: int | None = None
    rows: int | None = None
    partition: Partition | None = None


class ReachableFiles(Protocol):
    """Follows metadata to files.

    `DamagedTable` if a metadata file, manifest list or manifest cannot be read.
    """

    def files(
        self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None
    ) -> Iterator[ReachableFile]:
        """Every file that these snapshots need, a few at a time: a table may have millions.

        Without `snapshots`: every file of every snapshot, and the table's metadata files. A file
        that several manifests name may come more than once.
        """
        ...
