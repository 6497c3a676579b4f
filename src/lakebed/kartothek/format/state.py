"""The state of a dataset: what its metadata file says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

VERSION = 4
KEEP = "lakebed.keep_days"  # of the user metadata: for how long former states are kept
EXPORT = "lakebed.export"  # of the user metadata: the record of the last export of a table


@dataclass(frozen=True)
class DatasetState:
    """One committed state of a dataset.

    `partitions` maps a label to the data files of its tables. `schemas`, `index_sizes` and
    `commits` are Lakebed's own, under a key that other readers ignore and other writers drop: the
    schemas belonging to exactly this state (base64 of Arrow's message), the sizes of index files
    by path, and the ids of the last commits. `extra` are attributes that we do not know; they are
    kept.
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

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, which are the same in all partitions."""
        first = next(iter(self.partitions.values()), None)
        return tuple(self.schemas if first is None else first)

    @property
    def files(self) -> frozenset[str]:
        """All data files and indices; schemas and the metadata file are not among them."""
        data = (path for files in self.partitions.values() for path in files.values())
        return frozenset(data) | frozenset(self.indices.values())

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
