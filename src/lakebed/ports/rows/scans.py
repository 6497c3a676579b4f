"""Planning a read: the files of a snapshot that may contain the wanted rows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lakebed.names import TableName
from lakebed.ports.catalog.tables import Pointer
from lakebed.ports.rows.predicates import Predicate

# Of a partition field: the id of the column that it is derived from, and Iceberg's text of the
# transform, such as `identity`, `day` or `bucket[8]`.
PartitionKey = tuple[int, str]


@dataclass(frozen=True)
class ScanColumn:
    """A top-level column as readers see it; `type` is Iceberg's text, for nested types its JSON.

    In files older than the column every row has `default` in it, or NULL without one. `nans`: files
    may contain NaN, which no bounds include, so a reader that trusts Parquet's bounds would lose
    such rows.
    """

    id: int
    name: str
    type: str
    required: bool
    default: object | None = None
    nans: bool = False


@dataclass(frozen=True)
class ScanFile:
    """A data file; its location is normalized.

    `column_sizes` are bytes by field id, as the writer recorded them; of a nested column by the ids
    of its innermost fields. `partition` has the file's values of the partition fields of its own
    spec. Those of `identity` are what readers see in every row: an integer, text, truth value, date
    or decimal, or None for NULL. Those of `bucket[8]`, `day` and the like are Iceberg's numbers. A
    column that is no partition field, but certainly has one value in all rows, is there as
    `identity`, too. What cannot be given exactly is left out, such as floats, times and bytes.
    """

    location: str
    size: int
    rows: int
    split_offsets: tuple[int, ...] = ()
    column_sizes: Mapping[int, int] = field(default_factory=dict, repr=False, compare=False)
    partition: Mapping[PartitionKey, object] = field(
        default_factory=dict, repr=False, compare=False
    )


@dataclass(frozen=True)
class ChangedFile:
    """A data or delete file that a snapshot added or removed; `partition` as in a `ScanFile`.

    Of a delete file only partition fields are given, as it may concern rows of other values
    elsewhere. Without any, rows of all partitions may have changed.
    """

    location: str
    deletes: bool
    added: bool
    partition: Mapping[PartitionKey, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class ColumnGroup:
    """Files with the same names for the columns of a scan; None for a column that they lack.

    All files of a group have the same types, which may be narrower than the table's.
    """

    names: tuple[str | None, ...]
    files: tuple[ScanFile, ...]


@dataclass(frozen=True)
class Scan:
    """What has to be read of a table at one snapshot.

    `plain`: reading the top-level columns of `files` by field id is exact. If not (delete files,
    changed nested fields, names that writers spell differently), the files still contain every
    wanted row, but an engine that knows Iceberg has to read them. `groups` gives the columns' names
    in the files where they are known: then reading by name is as exact as reading by field id.
    """

    table: TableName
    snapshot: int | None
    metadata_location: str
    columns: tuple[ScanColumn, ...]
    files: tuple[ScanFile, ...]
    total_files: int
    total_bytes: int
    plain: bool
    groups: tuple[ColumnGroup, ...] = ()

    @property
    def bytes(self) -> int:
        """The total size of the files to read."""
        return sum(file.size for file in self.files)

    @property
    def rows(self) -> int:
        """The rows in the files to read: an upper bound of the wanted rows."""
        return sum(file.rows for file in self.files)


class Scans(Protocol):
    """From a metadata file and a snapshot to data files.

    `DamagedTable` if something cannot be read.
    """

    def plan(
        self,
        pointer: Pointer,
        *,
        snapshot: int | None,
        schema: int | None = None,
        predicate: Predicate | None = None,
        columns: Collection[str] | None = None,
    ) -> Scan:
        """The files that may contain rows for which the predicate is true; never too few.

        Columns are those of `schema`, by default the table's present one; `columns` chooses among
        them, and `UnknownName` is raised for one that does not exist. A snapshot of None has no
        files.
        """
        ...

    def folders(self, pointer: Pointer, *, snapshot: int) -> frozenset[str]:
        """The folders of a snapshot's manifests, data and delete files; a clone's include those of
        its source.
        """
        ...

    def changes(
        self, pointer: Pointer, *, since: int, until: int
    ) -> tuple[ChangedFile, ...] | None:
        """The files that the snapshots after `since` up to `until` added or removed, oldest first;
        a file may be both.

        Snapshots that only replaced files are left out: they change no rows. None if it cannot be
        told: `since` is not known to be an ancestor of `until`, manifests are gone, a snapshot
        counts more changes than it lists, or there are too many.
        """
        ...
