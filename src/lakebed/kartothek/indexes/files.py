"""Index files: written in order of values, read as far as a query needs them.

A Parquet file with the column and `partition`, a list of labels. Row groups are small and their
statistics tell which values they hold, so that one of many is fetched for a value. plateau reads
the file as its own.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakebed.errors import DamagedDataset
from lakebed.kartothek.format.column_types import is_text, normal_type
from lakebed.kartothek.format.footers import group_range
from lakebed.kartothek.indexes.postings import PARTITION, index_schema
from lakebed.kartothek.predicates.conditions import ColumnCondition
from lakebed.kartothek.predicates.rows import condition_mask
from lakebed.kartothek.predicates.statistics import may_match

_ROWS = 5_000


def index_file(column: str, index: Any) -> bytes:
    """The content of an index file."""
    sink = pa.BufferOutputStream()
    named = index.rename_columns([column, PARTITION])
    pq.write_table(named, sink, row_group_size=_ROWS, coerce_timestamps="us")
    return bytes(sink.getvalue().to_pybytes())


class IndexFile:
    """An index whose footer has been read; `source` is a seekable file."""

    def __init__(self, source: Any, column: str, *, path: str) -> None:
        self._column, self._path = column, path
        try:
            self._file = pq.ParquetFile(source, pre_buffer=True)
            self.type = _declared(self._file.schema_arrow.field(column).type)
        except (pa.ArrowException, KeyError, OSError) as error:
            raise self._damaged(error) from error

    def labels(self, conditions: Sequence[ColumnCondition]) -> frozenset[str]:
        """The partitions with a value that satisfies all the conditions."""
        groups = [
            group
            for group in range(self._file.num_row_groups)
            if all(may_match(one, self._range(group)) for one in conditions)
        ]
        found = self._read(groups)
        for condition in conditions:
            found = found.filter(condition_mask(found.column("value"), condition))
        lists = found.column(PARTITION).combine_chunks()
        return frozenset(pc.unique(pc.list_flatten(lists)).to_pylist())

    def whole(self) -> Any:
        """All rows."""
        return self._read(list(range(self._file.num_row_groups)))

    def _read(self, groups: list[int]) -> Any:
        try:
            read = self._file.read_row_groups(groups, columns=[self._column, PARTITION])
            named = read.select([self._column, PARTITION]).rename_columns(["value", PARTITION])
            return named.cast(index_schema(self.type)).combine_chunks()
        except (pa.ArrowException, KeyError, OSError) as error:
            raise self._damaged(error) from error

    def _range(self, group: int) -> Any:
        return group_range(self._file.metadata.row_group(group), self._column, self.type)

    def _damaged(self, error: Exception) -> DamagedDataset:
        reason = str(error).strip().splitlines()[0]
        return DamagedDataset(
            self._path,
            f"the index on {self._column!r} cannot be read: {reason}.",
            next="Build it again: build_indices.",
        )


def _declared(type_: Any) -> Any:
    """The normal type, where text stays as it is: plateau appends only to the same."""
    return type_ if is_text(type_) else normal_type(type_)
