"""The layouts of a lake's tables as they are now: found, compared with their tables, summarized."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakebed.derived.building.look import (
    look_at_source,
    look_at_tables,
    source_batches,
    source_state,
)
from lakebed.derived.building.metrics import amplification, stored_bytes
from lakebed.derived.building.services import LayoutServices
from lakebed.derived.checks import (
    DeclaredLayouts,
    complete_spec,
    impossible_layouts,
    require_source,
)
from lakebed.derived.identity import Layout, find_layouts, listed_tables
from lakebed.derived.labels import FileLabels
from lakebed.derived.look import LayoutLooks, LayoutState
from lakebed.derived.summary import LayoutSummary, declared_summary, summarize
from lakebed.errors import LakebedError, UnknownName
from lakebed.names import TableName
from lakebed.ports import Pointer, TableMetadata


@dataclass(frozen=True)
class UndoneLayouts:
    """The layouts of a table that a build would make, change, drop or write; and those that it
    would leave alone: `undeclared` by the table's pipeline, or of a kind that is `unknown`.
    """

    due: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    unknown: Mapping[TableName, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LayoutOverview:
    """Looks at layouts. Changes nothing, starts no JVM."""

    services: LayoutServices

    def lines(self, table: str | TableName | None) -> tuple[LayoutSummary, ...]:
        """The layouts of a table, or of all tables, with those that are only declared."""
        declared = self.declared()
        return tuple(
            line
            for pointer, metadata in self.tables(table)
            for line in self._of_table(pointer, metadata, declared.get(pointer.table))
        )

    def layouts(self, table: str | TableName | None) -> Iterator[Layout]:
        """The layouts of a table, or of all tables."""
        for _, metadata in self.tables(table):
            yield from find_layouts(metadata, self.services.ports.catalog)

    def find(self, table: str | TableName | None, name: str) -> Layout:
        """The layout of this name; `UnknownName` if there is none."""
        known = list(self.layouts(table))
        for layout in known:
            if layout.name.casefold() == name.casefold():
                return layout
        raise UnknownName("layout", name, {layout.name for layout in known})

    def due(self, table: TableName) -> dict[str, int]:
        """The layouts of a table that a build would change, and how many batches of them are stale:
        0 if only stamps are.
        """
        _, pointer, metadata = self.services.tables.look_up(table)
        head, states = metadata.head(), self._states(pointer, metadata)
        stamped = {one.layout.name for one in states if head and one.layout.covers == head.id}
        return {
            line.name: line.stale
            for line in self._summaries(pointer, metadata, states)
            if line.state != "fresh" or line.name not in stamped
        }

    def undone(
        self, table: TableName, declared: DeclaredLayouts | None, *, rows: bool
    ) -> UndoneLayouts:
        """What a build would do now; without `rows` it makes hidden tables only."""
        source = look_at_source(self.services, table)
        asked = bool(declared and declared.specs)
        if source is None or not (asked or listed_tables(source.metadata)):
            return UndoneLayouts()
        look = look_at_tables(self.services, source, declared, source.metadata)
        tables = (*map(str, look.half_made), *(step.name for step in look.planned.steps))
        stale = self.due(table) if rows and look.present else {}
        due = tuple(dict.fromkeys((*tables, *stale)))
        return UndoneLayouts(due, look.planned.undeclared, look.unknown)

    def bytes_of(self, table: TableName) -> int:
        """The bytes of all data files of a table's layouts; 0 if there is no such table."""
        catalog = self.services.ports.catalog
        sources = catalog.metadata(catalog.pointers([table]).values()).values()
        found = (layout for source in sources for layout in find_layouts(source, catalog))
        return sum(stored_bytes(layout.metadata) for layout in found)

    def tables(self, table: str | TableName | None) -> Iterator[tuple[Pointer, TableMetadata]]:
        """A table, or all of them."""
        catalog = self.services.ports.catalog
        if table is not None:
            found, pointer, metadata = self.services.tables.look_up(table)
            require_source(found)
            yield pointer, metadata
            return
        pointers = {one: at for one, at in catalog.pointers().items() if not one.hidden}
        for name, metadata in sorted(catalog.metadata(pointers.values()).items()):
            yield pointers[name], metadata

    def _of_table(
        self, pointer: Pointer, source: TableMetadata, declared: DeclaredLayouts | None
    ) -> Iterator[LayoutSummary]:
        states = self._states(pointer, source)
        for line in self._summaries(pointer, source, states):
            yield _with_origin(line, declared) if declared else line
        if declared:
            there = {one.layout.name.casefold() for one in states}
            yield from _missing(pointer.table, source, declared, there)

    def _states(self, pointer: Pointer, source: TableMetadata) -> tuple[LayoutState, ...]:
        services = self.services
        if not listed_tables(source):
            return ()
        return LayoutLooks(services.ports).look(pointer, source)

    def _summaries(
        self, pointer: Pointer, source: TableMetadata, states: Sequence[LayoutState]
    ) -> Iterator[LayoutSummary]:
        factor = amplification(source, [one.layout.metadata for one in states])
        for one in states:
            labels = self._labels(pointer, source, one)
            yield summarize(one, pointer.table, source, labels, amplification=factor)

    def _labels(
        self, pointer: Pointer, source: TableMetadata, found: LayoutState
    ) -> Sequence[str] | None:
        """The batches of the table, if they have to be known."""
        if found.freshness.whole:
            return tuple(found.freshness.fresh)
        state = source_state(pointer, source)
        try:
            labels = FileLabels(source.columns, found.layout.spec.batch_columns)
        except KeyError:
            return None
        batches = source_batches(self.services, None, state, labels) if state else ()
        return None if batches is None else [batch.label for batch in batches]

    def declared(self) -> Mapping[TableName, DeclaredLayouts]:
        """What pipelines declare, unless one of them cannot be read: no reason to fail."""
        try:
            return self.services.declarations.layouts()
        except LakebedError:
            return {}


def _with_origin(line: LayoutSummary, declared: DeclaredLayouts) -> LayoutSummary:
    """Says so if the table's pipeline does not declare it."""
    if line.name.casefold() in {spec.label.casefold() for spec in declared.specs}:
        return line
    told = f"{declared.where} does not declare it: lakebed layout drop {line.table} {line.name}"
    return replace(line, why=f"{line.why}; {told}" if line.why else told)


def _missing(
    table: TableName, source: TableMetadata, declared: DeclaredLayouts, there: Collection[str]
) -> Iterator[LayoutSummary]:
    for spec in declared.specs:
        if spec.label.casefold() not in there:
            complete = complete_spec(spec, source, batch_columns=declared.batch_columns)
            line = declared_summary(complete, table, source, declared.where)
            wrong = next(impossible_layouts(replace(declared, specs=(spec,)), table, source), "")
            yield replace(line, why=wrong) if wrong else line
