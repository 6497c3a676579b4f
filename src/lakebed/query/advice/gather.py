"""What the manifests of a table tell about the reads of the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lakebed.derived import Layout, LayoutSpec
from lakebed.derived.checks import only_reorders
from lakebed.derived.labels import FileLabels
from lakebed.ports import Predicate, Scan, ScanFile, Scans, TableMetadata
from lakebed.query.advice.conditions import TypicalConditions
from lakebed.query.advice.figures import PatternFigures, TableFigures, ValueFigures
from lakebed.query.advice.judge import PresentLayout
from lakebed.query.advice.sample import SampledRow, column_figures, typical_rows
from lakebed.query.advice.workload import ReadPattern, TableWorkload
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
    layouts_key: str = ""  # under which its pipeline declares layouts; empty without a pipeline

    @property
    def metadata(self) -> TableMetadata:
        return self.pinned.metadata


class Gathering:
    """Plans reads of one table, and of its layouts, with sampled values."""

    def __init__(self, table: AdvisedTable, scans: Scans) -> None:
        self._table, self._scans = table, scans
        self._columns = dict(_column_figures(table))
        self._conditions = TypicalConditions(self._columns, typical_rows(table.rows))
        self._batch_columns = frozenset(name.casefold() for name in table.batch_by)
        self._labels = FileLabels(table.pinned.columns, table.batch_by)
        self._fields = _field_keys(table.metadata)

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
            self._columns,
            tuple(self._pattern(pattern, reads) for pattern, reads in found),
            table.layouts_key,
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

    def _pattern(self, pattern: ReadPattern, reads: int) -> PatternFigures:
        hit = [self._source_files(one) for one in self._conditions.predicates(pattern)]
        in_batches = [
            self._source_files(one)
            for one in self._conditions.predicates(pattern, only=self._batch_columns)
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
        for predicate in self._conditions.predicates(pattern):
            scan = self._plan(layout, predicate)
            costs = file_costs(
                scan.columns,
                pattern.columns,
                sort_by=metadata.sort_by,
                predicate=predicate,
                open_cost=OPEN_COST["duckdb"],
            )
            found.append(costs.measure(scan.files))
        return _mean(found)

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

    def _partitions(self, files: Sequence[ScanFile]) -> int:
        return len({tuple(file.partition.get(key) for key in self._fields) for file in files})

    def _batches(self, files: Sequence[ScanFile]) -> int:
        """How many batches they are of; one if that is not certain."""
        labels = {self._labels.label(file.partition) for file in files}
        return 1 if None in labels else len(labels)


def _column_figures(table: AdvisedTable) -> Iterator[tuple[str, ValueFigures]]:
    """The columns of conditions, by their names in lower case."""
    asked = {name for pattern in table.workload.patterns for name, _ in pattern.conditions}
    for column in table.pinned.columns:
        name = column.name.casefold()
        if name in asked:
            values = (row[name] for row in table.rows if name in row)
            yield name, column_figures(column.name, values, rows=table.scan.rows)


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
