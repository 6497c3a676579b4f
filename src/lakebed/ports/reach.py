"""Which files a table reaches: what must not be removed, and what must be there."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from lakebed.ports.tables import ForeignTable, Pointer

ReachableKind = Literal["metadata", "manifest list", "manifest", "data", "deletes", "statistics"]


@dataclass(frozen=True)
class ReachableFile:
    """A file that a table needs, by the address it has in the metadata, in one spelling; `size` where that is known there."""

    location: str
    kind: ReachableKind
    size: int | None = None
    rows: int | None = None


class ReachableFiles(Protocol):
    """Follows metadata to files. A metadata file, manifest list or manifest that cannot be read raises `DamagedTable`."""

    def files(self, pointer: Pointer | ForeignTable, *, snapshots: Collection[int] | None = None) -> Iterator[ReachableFile]:
        """Every file that these snapshots reach, each once.

        Without `snapshots` it is all that the table keeps: of every ref, every snapshot, and its own metadata files.
        """
        ...
