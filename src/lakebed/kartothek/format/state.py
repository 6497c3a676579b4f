"""The state of a dataset: what its metadata file says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

VERSION = 4
SEGMENTS = "lakebed.index_segments"  # of the user metadata: "true" if indices are in segments
KEEP = "lakebed.keep_days"  # of the user metadata: for how long former states are kept
EXPORT = "lakebed.export"  # of the user metadata: the record of the last export of a table


@dataclass(frozen=True)
class DatasetState:
    """One committed state of a dataset.

    `partitions` maps a label to the data files of its tables. `schemas`, `index_sizes`, `commits`
    and `segments` are Lakebed's own, under a key that other readers ignore and other writers drop:
    the schemas belonging to exactly this state (base64 of Arrow's message), the sizes of index
    files by path, the ids of the last commits, and the files of indices in segments. `extra` are
    attributes that we do not know; they are kept.
    """

    uuid: str
    partitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    partition_keys: tuple[str, ...] = ()
    indices: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)
    index_sizes: Mapping[str, int] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    segments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def indexed(self) -> tuple[str, ...]:
        """The columns with an index, whole or in segments."""
        return (*self.indices, *self.segments)

    def index_files(self, column: str) -> tuple[str, ...]:
        """The files of a column's index."""
        return (self.indices[column],) if column in self.indices else self.segments[column]

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, which are the same in all partitions."""
        first = next(iter(self.partitions.values()), None)
        return tuple(self.schemas if first is None else first)

    @property
    def files(self) -> frozenset[str]:
        """All data files and indices; schemas and the metadata file are not among them."""
        data = (path for files in self.partitions.values() for path in files.values())
        indices = (path for column in self.indexed for path in self.index_files(column))
        return frozenset(data) | frozenset(indices)

    @property
    def needed(self) -> frozenset[str]:
        """All files that garbage collection must leave, schemas aside."""
        return self.files | frozenset(filter(None, [self.metadata.get(EXPORT)]))

    def with_partitions(
        self, added: Mapping[str, Mapping[str, str]], *, without: Iterable[str] = ()
    ) -> "DatasetState":
        gone = frozenset(without)
        kept = {label: files for label, files in self.partitions.items() if label not in gone}
        return replace(self, partitions={**kept, **added})
