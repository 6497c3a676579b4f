"""What reading files costs: bytes of the needed columns, and something for every file that is
opened. Pure.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lakebed.ports import Always, And, Comparison, In, IsNull, Or, Predicate, ScanColumn, ScanFile
from lakebed.tables.arrangement import parse_sort_field

OPEN_COST = {"duckdb": 256 * 1024, "spark": 1024 * 1024}  # bytes that opening a file is worth


@dataclass(frozen=True)
class ReadCost:
    """What reading some files costs. `needed` are the bytes of the needed columns in the row groups
    that have to be read; `cost` is in bytes too.
    """

    files: int = 0
    bytes: int = 0
    needed: int = 0
    cost: int = 0

    def __add__(self, other: "ReadCost") -> "ReadCost":
        return ReadCost(
            self.files + other.files,
            self.bytes + other.bytes,
            self.needed + other.needed,
            self.cost + other.cost,
        )


@dataclass(frozen=True)
class FileCosts:
    """How the files of one table are measured.

    `needed` are ids of the needed columns, with those inside them; None: all. `share` of a file is
    needed where its writer did not record the sizes of columns. `values` are how many values of
    the column that files are sorted by are wanted; None: any number.
    """

    needed: frozenset[int] | None
    share: float
    values: int | None
    open_cost: int

    def measure(self, files: Sequence[ScanFile]) -> ReadCost:
        """What reading these files costs."""
        needed = int(sum(map(self._needed, files)))
        size = sum(file.size for file in files)
        return ReadCost(len(files), size, needed, needed + self.open_cost * len(files))

    def _needed(self, file: ScanFile) -> float:
        return self._columns(file) * self._groups(file)

    def _columns(self, file: ScanFile) -> float:
        if self.needed is None:
            return file.size
        sizes = file.column_sizes
        if not sizes:
            return file.size * self.share
        return sum(sizes.get(id_, 0) for id_ in self.needed)

    def _groups(self, file: ScanFile) -> float:
        """The share of row groups that have to be read: sorted rows of a value are in one of them,
        or in two neighbours.
        """
        groups = len(file.split_offsets)
        if self.values is None or groups < 2:
            return 1.0
        return min(groups, self.values + 1) / groups


def file_costs(
    columns: Sequence[ScanColumn],
    needed: Collection[str] | None,
    *,
    sort_by: Sequence[str],
    predicate: Predicate | None,
    open_cost: int,
) -> FileCosts:
    """How files of a table with these columns are measured, for a query that needs some of them.

    `sort_by` is the table's sort order, as its metadata writes it.
    """
    lead = _leading_column(sort_by)
    values = wanted_values(predicate, lead) if predicate is not None and lead else None
    if needed is None:
        return FileCosts(None, 1.0, values, open_cost)
    wanted = {name.casefold() for name in needed}
    chosen = [column for column in columns if column.name.casefold() in wanted]
    ids = frozenset(id_ for column in chosen for id_ in _ids(column.id, column.type))
    return FileCosts(ids, len(chosen) / max(len(columns), 1), values, open_cost)


def _leading_column(sort_by: Sequence[str]) -> str:
    try:
        return parse_sort_field(sort_by[0]).by.column.casefold() if sort_by else ""
    except ValueError:  # a column with a name that no sort order can be read with
        return ""


def wanted_values(predicate: Predicate, column: str) -> int | None:
    """How many values of a column rows may have for which the predicate is true; None if there is
    no such number.
    """
    match predicate:
        case Comparison(name, "=", _) if name.casefold() == column:
            return 1
        case IsNull(name, False) if name.casefold() == column:
            return 1
        case In(name, values, False) if name.casefold() == column:
            return len(values)
        case Always(False):
            return 0
        case And(parts):
            known = [found for found in _each(parts, column) if found is not None]
            return min(known, default=None)
        case Or(parts):
            each = list(_each(parts, column))
            return None if None in each else sum(found for found in each if found is not None)
    return None


def _each(parts: Iterable[Predicate], column: str) -> Iterator[int | None]:
    return (wanted_values(part, column) for part in parts)


@lru_cache(4096)
def _ids(id_: int, type_: str) -> tuple[int, ...]:
    """The id of a column and those inside it: files record the sizes of the innermost."""
    return (id_, *_inside(json.loads(type_))) if type_.startswith("{") else (id_,)


def _inside(type_: Any) -> Iterator[int]:
    if not isinstance(type_, dict):
        return
    for key in ("element", "key", "value"):
        if key in type_:
            yield type_[f"{key}-id"]
            yield from _inside(type_[key])
    for field in type_.get("fields", ()):
        yield field["id"]
        yield from _inside(field["type"])
