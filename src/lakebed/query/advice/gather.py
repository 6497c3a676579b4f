"""What the manifests of a table tell about the reads of the log."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakebed.derived import Layout, LayoutSpec
from lakebed.derived.checks import only_reorders
from lakebed.derived.labels import FileLabels
from lakebed.ports import (
    And,
    Comparison,
    IsNull,
    Predicate,
    Scan,
    ScanFile,
    Scans,
    StartsWith,
    TableMetadata,
)
from lakebed.query.advice.figures import ColumnFigures, PatternFigures, TableFigures
from lakebed.query.advice.judge import PresentLayout
from lakebed.query.advice.sample import SampledRow, column_figures, typical_rows
from lakebed.query.advice.workload import Comparing, ReadPattern, TableWorkload
from lakebed.query.layouts.choose import MARGIN
from lakebed.query.layouts.cost import OPEN_COST, ReadCost, file_costs
from lakebed.query.planning.plan import PinnedTable
from lakebed.tables.arrangement import PartitionField, arrangement_of

_ADDED = "added-files-size"  # of a snapshot's summary


@dataclass(frozen=True)
class AdvisedTable:
    """A table of the log, with its files, a sample of its rows, and the layouts it has."""

    pinned: PinnedTable
    workload: TableWorkload
    scan: Scan
    rows: Sequence[SampledRow]
    layouts: tuple[Layout, ...] = ()
    batch_by: tuple[str, ...] = ()
    has_pipeline: bool = False

    @property
    def metadata(self) -> TableMetadata:
        return self.pinned.metadata


class Gathering:
    """Plans reads of one table, and of its layouts, with sampled values."""

    def __init__(self, table: AdvisedTable, scans: Scans) -> None:
        self._table, self._scans = table, scans
        self._spelt = {column.name.casefold(): column.name for column in table.pinned.columns}
        self.columns = dict(self._columns())
        self._labels = FileLabels(table.pinned.columns, table.batch_by)
        self._fields = _field_keys(table.metadata)
        self._typical = typical_rows(table.rows)

    def figures(self) -> TableFigures:
        """The table, and what its reads cost now."""
        table, scan = self._table, self._table.scan
        found = table.workload.patterns.items()
        return TableFigures(
            str(table.pinned.table),
            len(scan.files),
            scan.bytes,
            scan.rows,
            table.metadata.partition_by,
            table.metadata.sort_by,
            self._partitions(scan.files),
            table.batch_by,
            self._batches(scan.files),
            self.columns,
            tuple(self._pattern(pattern, reads) for pattern, reads in found),
            table.has_pipeline,
        )

    def present(self, layout: Layout, since: datetime | None) -> PresentLayout:
        """A layout, and what reads save by it."""
        head = layout.metadata.head()
        written = sum(
            one.count(_ADDED) or 0
            for one in layout.metadata.snapshots.values()
            if since is None or one.at >= since
        )
        used = self._table.workload.uses.get(layout.name, {})
        saves = {one: self._now(one).cost - self._cost(layout, one).cost for one in used}
        size = self._plan(layout, None).total_bytes if head else 0
        reorders = only_reorders(layout.spec, self._table.metadata)
        return PresentLayout(layout.spec, size, written, saves, only_reorders=reorders)

    def _columns(self) -> Iterator[tuple[str, ColumnFigures]]:
        asked = {
            name
            for pattern in self._table.workload.patterns
            for name, _ in pattern.conditions
            if name in self._spelt
        }
        rows = self._table.rows
        for name in sorted(asked):
            values = (row[name] for row in rows if name in row)
            yield name, column_figures(self._spelt[name], values, rows=self._table.scan.rows)

    def _pattern(self, pattern: ReadPattern, reads: int) -> PatternFigures:
        hit = [self._source_files(one) for one in self._predicates(pattern)]
        in_batches = [
            self._source_files(one)
            for one in self._predicates(pattern, only=frozenset(self._folded_batch()))
        ]
        now = self._now(pattern)
        for layout in self._table.layouts:
            through = self._cost(layout, pattern)
            now = through if 0 < through.cost <= MARGIN * now.cost else now
        whole = file_costs(
            self._table.scan.columns, pattern.columns, sort_by=(), predicate=None, open_cost=0
        )
        return PatternFigures(
            pattern,
            reads,
            now.files,
            now.needed,
            _average([self._partitions(files) for files in hit]),
            _average([self._batches(files) for files in in_batches]),
            whole.measure(self._table.scan.files).needed,
        )

    def _now(self, pattern: ReadPattern) -> ReadCost:
        """What a read of the table itself costs."""
        return self._measured(None, pattern)

    def _cost(self, layout: Layout, pattern: ReadPattern) -> ReadCost:
        """What a read through a layout costs; nothing if it was never built."""
        return self._measured(layout, pattern) if layout.metadata.head() else ReadCost()

    def _measured(self, layout: Layout | None, pattern: ReadPattern) -> ReadCost:
        found: list[ReadCost] = []
        metadata = layout.metadata if layout else self._table.metadata
        for predicate in self._predicates(pattern):
            scan = self._plan(layout, predicate)
            costs = file_costs(
                scan.columns,
                pattern.columns,
                sort_by=metadata.sort_by,
                predicate=predicate,
                open_cost=OPEN_COST["duckdb"],
            )
            found.append(costs.measure(scan.files))
        total = sum(found, ReadCost())
        each = max(len(found), 1)
        return ReadCost(
            *(getattr(total, part) // each for part in ("files", "bytes", "needed", "cost"))
        )

    def _plan(self, layout: Layout | None, predicate: Predicate | None) -> Scan:
        if layout is None:
            pinned = self._table.pinned
            if predicate is None:
                return self._table.scan
            return self._scans.plan(
                pinned.pointer,
                snapshot=pinned.snapshot_id,
                schema=pinned.schema,
                predicate=predicate,
            )
        head = layout.metadata.head()
        return self._scans.plan(
            layout.pointer, snapshot=head.id if head else None, predicate=predicate
        )

    def _source_files(self, predicate: Predicate | None) -> tuple[ScanFile, ...]:
        return self._plan(None, predicate).files

    def _predicates(
        self, pattern: ReadPattern, *, only: frozenset[str] | None = None
    ) -> list[Predicate | None]:
        """The conditions of a pattern, with the values of each typical row."""
        conditions = [
            (name, how)
            for name, how in pattern.conditions
            if name in self.columns and (only is None or name in only)
        ]
        if not conditions or not self._typical:
            return [None]
        return [
            And(tuple(self._condition(name, how, row.get(name)) for name, how in conditions))
            for row in self._typical
        ]

    def _condition(self, name: str, how: Comparing, value: object) -> Predicate:
        column = self._spelt[name]
        if value is None:
            return IsNull(column)
        if how == "prefix" and isinstance(value, str):
            return StartsWith(column, value[: self.columns[name].usual_prefix])
        return Comparison(column, ">=" if how == "range" else "=", value)

    def _folded_batch(self) -> Iterator[str]:
        return (name.casefold() for name in self._table.batch_by)

    def _partitions(self, files: Sequence[ScanFile]) -> int:
        return len({tuple(file.partition.get(key) for key in self._fields) for file in files})

    def _batches(self, files: Sequence[ScanFile]) -> int:
        """How many batches they are of; one if that is not certain."""
        labels = {self._labels.label(file.partition) for file in files}
        return 1 if None in labels else len(labels)


def _mean(costs: Sequence[ReadCost]) -> ReadCost:
    total, count = sum(costs, ReadCost()), max(len(costs), 1)
    return ReadCost(
        total.files // count, total.bytes // count, total.needed // count, total.cost // count
    )


def _average(numbers: Sequence[int]) -> float:
    return sum(numbers) / max(len(numbers), 1)


def _field_keys(metadata: TableMetadata) -> tuple[tuple[int, str], ...]:
    """By which files know their values of the partition fields."""
    ids = {column.name.casefold(): column.id for column in metadata.columns}
    fields = arrangement_of(metadata.partition_by, ()).partition_by or ()
    return tuple((ids.get(field.column.casefold(), 0), _transform(field)) for field in fields)


def _transform(field: PartitionField) -> str:
    name = field.transform if field.transform == "identity" else field.transform.rstrip("s")
    return f"{name}[{field.width}]" if field.width is not None else name


def declared_only(
    specs: Sequence[LayoutSpec], layouts: Sequence[Layout], metadata: TableMetadata
) -> Iterator[PresentLayout]:
    """The layouts that a pipeline declares and that do not exist yet."""
    there = {layout.name.casefold() for layout in layouts}
    for spec in specs:
        if spec.label.casefold() not in there:
            yield PresentLayout(spec, exists=False, only_reorders=only_reorders(spec, metadata))


def stored_bytes(layouts: Mapping[str, PresentLayout]) -> int:
    return sum(one.bytes for one in layouts.values())
