"""The indices of one state, opened when a query needs them."""

import io
from collections.abc import Sequence
from typing import Any

from lakebed.errors import DamagedDataset, FileMissing
from lakebed.kartothek.format.column_types import normal_type, same_type
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.indexes.files import IndexFile
from lakebed.kartothek.indexes.segments import SegmentedIndex
from lakebed.kartothek.predicates.conditions import ColumnCondition
from lakebed.ports.files.files import Files
from lakebed.ports.files.ranged_file import RangedFile

_WHOLE = 128 * 1024  # a file up to this size is fetched at once
_REBUILD = "Build it again: build_indices."


class StateIndices:
    """Looks values up in the indices of a state; each file is opened at most once."""

    def __init__(self, files: Files, state: DatasetState) -> None:
        self._files, self._state = files, state
        self._opened: dict[str, IndexFile] = {}  # by path

    def __contains__(self, column: str) -> bool:
        return column in self._state.indexed

    def type(self, column: str) -> Any:
        """The type of the values in an index."""
        newest = self._state.index_files(column)[-1]  # the first segment may be large
        return self._open(column, newest).type

    def require_type(self, column: str, schema: Any) -> None:
        """`DamagedDataset` if the index holds values of another type than the column's; a field
        outside the rows has that of the index.
        """
        if column not in schema.names:
            return
        found, expected = self.type(column), normal_type(schema.field(column).type)
        if not same_type(found, expected):
            raise DamagedDataset(
                self._state.index_files(column)[-1],
                f"the index on {column!r} is of type {found}, and the column of type {expected}.",
                next=_REBUILD,
            )

    def labels(
        self, schema: Any, column: str, conditions: Sequence[ColumnCondition]
    ) -> frozenset[str]:
        """The partitions with a value that satisfies all the conditions.

        `DamagedDataset` if the index names a partition that the dataset does not have, or is of
        another type than the schema's column.
        """
        self.require_type(column, schema)
        found = self.index(column).labels(conditions)
        self.require_known(column, found)
        return found

    def require_known(self, column: str, labels: frozenset[str]) -> None:
        unknown = sorted(labels - self._state.partitions.keys())
        if unknown:
            raise DamagedDataset(
                self._state.index_files(column)[0],
                f"the index on {column!r} names the partition {unknown[0]!r}, which the dataset"
                " does not have.",
                next=_REBUILD,
            )

    def index(self, column: str) -> IndexFile | SegmentedIndex:
        opened = [self._open(column, path) for path in self._state.index_files(column)]
        if column in self._state.indices:
            return opened[0]
        return SegmentedIndex(opened, self._state.partitions.keys())

    def merged(self, column: str, segments: Sequence[str]) -> Any:
        """All rows of some segments, each value once."""
        opened = [self._open(column, path) for path in segments]
        return SegmentedIndex(opened, self._state.partitions.keys()).whole()

    def _open(self, column: str, path: str) -> IndexFile:
        try:
            if path not in self._opened:
                self._opened[path] = IndexFile(self._source(path), column, path=path)
            return self._opened[path]
        except FileMissing as error:
            raise DamagedDataset(
                path,
                f"the index on {column!r} is missing.",
                next=_REBUILD,
            ) from error

    def _source(self, path: str) -> Any:
        """A file whose size is in the state needs no further call to find its footer."""
        size = self._state.index_sizes.get(path)
        size = self._files.info(path).size if size is None else size
        if size <= _WHOLE:
            return io.BytesIO(self._files.read(path))
        return RangedFile(self._files, path, size=size)
