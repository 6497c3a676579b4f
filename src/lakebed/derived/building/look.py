"""Looking at a table and its layouts, as of one snapshot of the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BatchStates
from lakebed.derived.building.batches import (
    MOST_BATCHES,
    BatchSize,
    batches_of_files,
    batches_of_rows,
    distinct_query,
)
from lakebed.derived.building.columns import fit_of, rows_query
from lakebed.derived.building.plan import BatchLook, LayoutTables, as_if_unchanged, plan_tables
from lakebed.derived.building.services import LayoutServices, LayoutSession
from lakebed.derived.building.steps import ForgetLayout, LayoutStep
from lakebed.derived.checks import DeclaredLayouts
from lakebed.derived.freshness import Freshness, compare_batches
from lakebed.derived.identity import (
    Layout,
    find_layouts,
    layout_of,
    listed_tables,
    unknown_kind,
)
from lakebed.derived.labels import FileLabels
from lakebed.derived.look import changes_until
from lakebed.errors import UnknownName
from lakebed.names import TableName
from lakebed.ports import SOURCE_UUID, Pointer, Snapshot, TableMetadata


@dataclass(frozen=True)
class SourceState:
    """A table as it was looked at: its layouts are built from this snapshot of it."""

    table: TableName
    pointer: Pointer
    metadata: TableMetadata
    head: Snapshot

    @property
    def snapshot(self) -> int:
        return self.head.id


def look_at_source(services: LayoutServices, table: TableName) -> SourceState | None:
    """The table as it is now; None if there is none, or it has no snapshot yet."""
    catalog = services.ports.catalog
    pointer = catalog.pointers([table]).get(table)
    return source_state(pointer, catalog.metadata([pointer])[table]) if pointer else None


def source_state(pointer: Pointer, metadata: TableMetadata) -> SourceState | None:
    """A table as it was read; None if it has no snapshot yet."""
    head = metadata.head()
    return SourceState(pointer.table, pointer, metadata, head) if head else None


def read_layout_table(services: LayoutServices, hidden: TableName) -> Layout:
    """A layout as it is now; `UnknownName` if it was dropped meanwhile."""
    catalog = services.ports.catalog
    pointer = catalog.pointers([hidden]).get(hidden)
    found = layout_of(pointer, catalog.metadata([pointer])[hidden]) if pointer else None
    if found is None:
        raise UnknownName("layout", str(hidden), ())
    return found


@dataclass(frozen=True)
class TablesLook:
    """The hidden tables of a table's layouts, and what is to be done about them.

    `leftovers` were half made when a process died; `unknown` are derived tables of kinds that only
    a newer Lakebed knows.
    """

    planned: LayoutTables
    present: tuple[Layout, ...] = ()
    leftovers: tuple[ForgetLayout, ...] = ()
    unknown: Mapping[TableName, str] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[LayoutStep, ...]:
        return (*self.leftovers, *self.planned.steps)

    @property
    def half_made(self) -> tuple[TableName, ...]:
        return tuple(step.table for step in self.leftovers)


def look_at_tables(
    services: LayoutServices,
    source: SourceState,
    declared: DeclaredLayouts | None,
    listed_by: TableMetadata,
) -> TablesLook:
    """Compare the layouts that a table lists with those that its pipeline declares."""
    present = find_layouts(listed_by, services.ports.catalog)
    planned = plan_tables(
        source.table,
        source.metadata,
        present,
        declared.specs if declared else None,
        batch_columns=declared.batch_columns if declared else (),
    )
    names = set(listed_tables(listed_by)) - {layout.table for layout in present}
    pointers = services.ports.catalog.pointers(names) if names else {}
    others = services.ports.catalog.metadata(pointers.values()) if pointers else {}
    unknown = {hidden: kind for hidden, one in others.items() if (kind := unknown_kind(one))}
    leftovers = tuple(
        ForgetLayout(source=source.table, name="", table=hidden, why="it was never completed")
        for hidden, metadata in others.items()
        if hidden not in unknown
        and metadata.properties.get(SOURCE_UUID) == listed_by.uuid
        and layout_of(pointers[hidden], metadata) is None
    )
    return TablesLook(planned, present, leftovers, unknown)


def freshness_of(
    services: LayoutServices, source: SourceState, layout: Layout
) -> tuple[BatchStates, Freshness]:
    """The batches of a layout, compared with the table. If the layout has all columns of the table,
    it does not matter that it has not always had them.
    """
    states = known_batches(services.ports.files, layout.metadata)
    same = fit_of(layout, source.metadata) == "same"
    compared = as_if_unchanged(states, source.metadata) if same else states
    changes = changes_until(services.ports.scans, source.pointer, source.snapshot)
    return states, compare_batches(layout, compared, source.metadata, changes)


def source_batches(
    services: LayoutServices,
    session: LayoutSession | None,
    source: SourceState,
    labels: FileLabels,
) -> tuple[BatchSize, ...] | None:
    """The batches that the table has. Where its files do not tell, Spark looks at its rows; without
    a session for it they are not known.
    """
    files = services.ports.scans.plan(source.pointer, snapshot=source.snapshot).files
    found = batches_of_files(labels, files)
    if found is not None:
        return tuple(found)
    if session is None:
        return None
    rows = rows_query(source.table, source.metadata, source.snapshot)
    query = distinct_query(labels.keys, f"({rows})")
    told = session.compute.rows(query, limit=MOST_BATCHES + 1)
    return tuple(batches_of_rows(labels.keys, told, files))


def look_at_batches(
    services: LayoutServices, session: LayoutSession, source: SourceState, layout: Layout
) -> BatchLook:
    """Everything that is decided by."""
    labels = FileLabels(source.metadata.columns, layout.spec.batch_columns)
    states, freshness = freshness_of(services, source, layout)
    batches = source_batches(services, session, source, labels) or ()
    return BatchLook(
        source.table,
        source.metadata,
        source.snapshot,
        layout,
        labels.keys,
        states,
        freshness,
        batches,
    )
