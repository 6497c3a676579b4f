"""How much a read would take of another arrangement of a table. Pure."""

import math
from dataclasses import dataclass

from lakebed.query.advice.figures import (
    OPEN_COST,
    ROW_GROUP,
    TARGET_FILE,
    PatternFigures,
    TableFigures,
    ValueFigures,
)
from lakebed.query.advice.workload import Comparing
from lakebed.tables.arrangement import PartitionField, arrangement_of

_OF_A_RANGE = 1 / 3  # of the values lie between bounds that nobody knows


@dataclass(frozen=True)
class Arranged:
    """An arrangement to compare: of the table itself (`in_place`: its partitions stay), or of a
    layout, whose batches are partitions too.
    """

    partition_by: tuple[PartitionField, ...] = ()
    sort_by: str = ""  # the first column of its order
    in_place: bool = False


@dataclass(frozen=True)
class ReadEstimate:
    """What a read of an arrangement takes."""

    files: float
    needed: float

    @property
    def cost(self) -> float:
        return self.needed + OPEN_COST * self.files


def leaves(arranged: Arranged, table: TableFigures) -> int:
    """Partitions of a batch of a layout, or of the whole table in place."""
    if arranged.in_place:
        return table.partitions
    return math.prod(_values(field, table) for field in arranged.partition_by)


def leaf_size(arranged: Arranged, table: TableFigures) -> float:
    """Bytes of a partition."""
    parts = leaves(arranged, table) * (1 if arranged.in_place else table.batches)
    return table.bytes / max(parts, 1)


def estimate(arranged: Arranged, pattern: PatternFigures, table: TableFigures) -> ReadEstimate:
    """What reads of a pattern would take, if rows are spread evenly."""
    if arranged.in_place:
        hit, parts = pattern.partitions, table.partitions
    else:
        compared = dict(pattern.pattern.conditions)
        shares = (
            _share(field, compared.get(field.column.casefold()), table)
            for field in arranged.partition_by
        )
        within = leaves(arranged, table)
        hit = pattern.batches * within * math.prod(shares)
        parts = table.batches * within
    files, groups = _in_leaf(arranged, pattern, table)
    return ReadEstimate(hit * files, pattern.needed_in_all * hit / max(parts, 1) * groups)


def _in_leaf(
    arranged: Arranged, pattern: PatternFigures, table: TableFigures
) -> tuple[float, float]:
    """The files of a partition that are opened, and the share of its row groups that is read."""
    size = leaf_size(arranged, table)
    files = max(1, math.ceil(size / TARGET_FILE))
    column = arranged.sort_by.casefold()
    comparing = dict(pattern.pattern.conditions).get(column)
    if not comparing:
        return files, 1.0
    groups = max(1, math.ceil(size / ROW_GROUP))
    wanted = _wanted(column, comparing, arranged, table)
    return max(1.0, files * wanted), min(1.0, wanted + min(groups, 2) / groups)


def _wanted(column: str, comparing: Comparing, arranged: Arranged, table: TableFigures) -> float:
    """The share of a partition's rows that fulfil a condition on the column it is sorted by."""
    found = table.columns.get(column)
    if not found:
        return 1.0
    shares = (
        _share(field, comparing, table)
        for field in _all_fields(arranged, table)
        if field.column.casefold() == column
    )
    return min(1.0, _selected(found, comparing) / math.prod(shares))


def _all_fields(arranged: Arranged, table: TableFigures) -> tuple[PartitionField, ...]:
    if arranged.in_place:
        return arrangement_of(table.partition_by, ()).partition_by or ()
    return (*arranged.partition_by, *(PartitionField(column=name) for name in table.batch_by))


def _selected(column: ValueFigures, comparing: Comparing) -> float:
    """The share of rows that fulfil a condition."""
    if comparing == "point":
        return 1 / max(column.distinct, 1)
    if comparing == "prefix":
        return 1 / max(column.prefixes.get(column.usual_prefix, 1), 1)
    return _OF_A_RANGE


def _share(field: PartitionField, comparing: Comparing | None, table: TableFigures) -> float:
    """The share of a field's partitions that a condition on its column leaves."""
    column = table.columns.get(field.column.casefold())
    if comparing is None or column is None:
        return 1.0
    values = _values(field, table)
    if field.transform == "bucket":
        return 1 / values if comparing == "point" else 1.0
    if comparing == "point":
        return 1 / values
    return max(_selected(column, comparing), 1 / values)


def _values(field: PartitionField, table: TableFigures) -> int:
    """How many partitions a field makes."""
    column = table.columns.get(field.column.casefold())
    distinct = column.distinct if column else 1
    if field.transform == "bucket":
        return max(1, min(field.width or 1, distinct))
    if field.transform == "truncate" and column and column.prefixes:
        longest = max(column.prefixes)
        return max(1, column.prefixes.get(min(field.width or 1, longest), distinct))
    return max(1, distinct)
