"""A sample of a table's rows: how many values columns have, and typical ones."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.ports import Scan
from lakebed.query.advice.figures import ValueFigures
from lakebed.query.engine import ReadRequest, TableReader
from lakebed.query.layouts.arms import restricted
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.planning.plan import PinnedTable, PlannedTable, ReadTarget

if TYPE_CHECKING:
    import pyarrow as pa

SampledRow = dict[str, Any]  # values by column, in lower case

_FILES = 8  # of a table, that rows are read of
_ROWS = 20_000  # of a file
_TYPICAL = 3  # rows
_LONGEST_PREFIX = 8
_MOSTLY_UNIQUE = 0.5  # of the sampled rows have a value of their own


def read_sample(
    pinned: PinnedTable, scan: Scan, names: Sequence[str], reader: TableReader
) -> list[SampledRow]:
    """Some rows of files all over the table."""
    rows: list[SampledRow] = []
    for batch in _batches(pinned, scan, tuple(names), reader):
        columns = [column.to_pylist() for column in batch.columns]
        folded = [name.casefold() for name in batch.schema.names]
        rows += [dict(zip(folded, row, strict=True)) for row in zip(*columns, strict=True)]
    return rows


def _batches(
    pinned: PinnedTable, scan: Scan, names: tuple[str, ...], reader: TableReader
) -> "Iterator[pa.RecordBatch]":
    selection = TableSelection(pinned, names)
    # files of a scan that is not plain cannot be read one by one
    parts = [restricted(scan, [file]) for file in spread(scan.files, _FILES)]
    for part in parts if scan.plain else [scan]:
        limit = _ROWS if scan.plain else _FILES * _ROWS
        planned = PlannedTable(("", "", ""), ReadTarget(pinned), scan=part)
        yield from reader.batches(selection, planned, ReadRequest(names, limit=limit), memory=None)


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """So many items, from everywhere in a sequence."""
    if len(items) <= count:
        return list(items)
    return [items[(2 * place + 1) * len(items) // (2 * count)] for place in range(count)]


def typical_rows(rows: Sequence[SampledRow]) -> list[SampledRow]:
    """Rows whose values stand for those of conditions, which the log does not tell."""
    return spread(rows, _TYPICAL)


def column_figures(name: str, values: Iterable[Any], *, rows: int) -> ValueFigures:
    """A column of a table with so many rows, from sampled values. If most of them are different,
    it is taken for one whose values do not repeat.
    """
    found = [value for value in values if value is not None]
    texts = {value for value in found if isinstance(value, str)}
    prefixes = {length: len({one[:length] for one in texts}) for length in _lengths(texts)}
    return ValueFigures(name, _distinct(found, rows), prefixes)


def _lengths(texts: set[str]) -> range:
    longest = max(map(len, texts), default=0)
    return range(1, min(longest, _LONGEST_PREFIX) + 1)


def _distinct(values: Sequence[Any], rows: int) -> int:
    try:
        seen = len(set(values))
    except TypeError:  # lists and the like
        return 1
    if seen > _MOSTLY_UNIQUE * len(values):
        return max(seen, seen * rows // max(len(values), 1))
    return seen
