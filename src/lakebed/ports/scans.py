"""Reading a table at one of its states: which files may hold the rows that are wanted."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from lakebed.names import TableName
from lakebed.ports.predicates import Predicate
from lakebed.ports.tables import Pointer


@dataclass(frozen=True)
class ScanColumn:
    """A top-level column as readers see it; `type` is Iceberg's text, which for nested types is its JSON.

    Files that were written before the column was there are read as if they held `default` in it, or NULL without one.
    `nans` says that files may hold NaN in it, which is in no bounds: a reader that trusts those of Parquet loses such rows.
    """

    id: int
    name: str
    type: str
    required: bool
    default: object | None = None
    nans: bool = False


@dataclass(frozen=True)
class ScanFile:
    """A data file; its location in one spelling."""

    location: str
    size: int
    rows: int
    split_offsets: tuple[int, ...] = ()


@dataclass(frozen=True)
class ColumnGroup:
    """Files that hold the columns of a scan in the same way: `names` are theirs there, None for a column they do not have.

    Types are the same in all files of one, and may be narrower than the table's.
    """

    names: tuple[str | None, ...]
    files: tuple[ScanFile, ...]


@dataclass(frozen=True)
class Scan:
    """What has to be read of a table at one snapshot.

    `plain` says that reading the top-level columns of `files` by field id is exact. Where it is not (rows were deleted by
    delete files, a nested field has changed or has a name that writers spell otherwise) the files still hold every row
    that is wanted, but an engine that knows Iceberg must read them. `stored` says under which
    names the files hold the columns, where that is known: to read these by name is as exact as by field id.
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
        """Of the files that have to be read, whole."""
        return sum(file.size for file in self.files)

    @property
    def rows(self) -> int:
        """Of the files that have to be read; an upper bound of the rows that are wanted."""
        return sum(file.rows for file in self.files)


class Scans(Protocol):
    """From a metadata file and a snapshot to data files. What cannot be read raises `DamagedTable`."""

    def plan(
        self,
        pointer: Pointer,
        *,
        snapshot: int | None,
        schema: int | None = None,
        predicate: Predicate | None = None,
        columns: Collection[str] | None = None,
    ) -> Scan:
        """The files that may hold rows for which the predicate is true; never too few of them.

        Columns are those of a schema of the table, of its present one unless said otherwise; `columns` chooses among them, and
        `UnknownName` is raised for one that there is not. None is no snapshot: no files.
        """
        ...

    def folders(self, pointer: Pointer, *, snapshot: int) -> frozenset[str]:
        """Where the files of a snapshot lie, manifests, data and deletes: a clone's lie with the table it comes from."""
        ...
