"""`lake.layouts`: further arrangements of tables that queries use by themselves."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from lakebed.derived.building.create import LayoutMaker
from lakebed.derived.building.look import look_at_source, source_batches
from lakebed.derived.building.metrics import amplification, stored_bytes
from lakebed.derived.building.run import BuildOptions, TableBuilds, build_layouts
from lakebed.derived.building.services import LayoutServices, layout_session
from lakebed.derived.building.steps import LayoutBuild, LayoutListener
from lakebed.derived.checks import (
    DeclaredLayouts,
    complete_spec,
    require_free_label,
    require_possible,
    require_source,
)
from lakebed.derived.identity import Layout, find_layouts, listed_tables
from lakebed.derived.labels import FileLabels
from lakebed.derived.look import LayoutLooks, LayoutState
from lakebed.derived.spec import LayoutSpec, read_layout
from lakebed.derived.summary import LayoutSummary, declared_summary, summarize
from lakebed.derived.verify import LayoutCheck, LayoutVerifier
from lakebed.errors import LakebedError, UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import Pointer, TableMetadata
from lakebed.settings import reason

_PATIENCE = 30.0


class Layouts:
    """The layouts of a lake's tables."""

    def __init__(self, services: LayoutServices) -> None:
        self.services = services

    # -- looking

    def list(self, table: str | TableName | None = None) -> tuple[LayoutSummary, ...]:
        """The layouts of a table, or of all tables, with those that pipelines declare and no run
        has made yet. Changes nothing, starts no JVM.
        """
        declared = self._declared()
        return tuple(
            line
            for pointer, metadata in self._tables(table)
            for line in self._of_table(pointer, metadata, declared.get(pointer.table))
        )

    def names(self, table: str | TableName | None = None) -> tuple[str, ...]:
        """The names of layouts."""
        return tuple(
            layout.name
            for _, metadata in self._tables(table)
            for layout in find_layouts(metadata, self.services.catalog)
        )

    def due(self, table: TableName) -> dict[str, int]:
        """The layouts of a table that a build would change, and how many batches of them are stale:
        0 if only stamps are.
        """
        _, pointer, metadata = self.services.tables.look_up(table)
        head = metadata.head()
        stamped = {
            layout.name
            for layout in find_layouts(metadata, self.services.catalog)
            if head and layout.covers == head.id
        }
        return {
            line.name: line.stale
            for line in self._of_table(pointer, metadata, declared=None)
            if line.hidden and (line.state != "fresh" or line.name not in stamped)
        }

    def bytes_of(self, table: TableName) -> int:
        """The bytes of all data files of a table's layouts; 0 if there is no such table."""
        catalog = self.services.catalog
        sources = catalog.metadata(catalog.pointers([table]).values()).values()
        found = (layout for source in sources for layout in find_layouts(source, catalog))
        return sum(stored_bytes(layout.metadata) for layout in found)

    def _tables(self, table: str | TableName | None) -> Iterator[tuple[Pointer, TableMetadata]]:
        catalog = self.services.catalog
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
        services = self.services
        if not listed_tables(source) and not (declared and declared.specs):
            return
        looks = LayoutLooks(services.catalog, services.scans(), services.files)
        states = looks.look(pointer, source)
        factor = amplification(source, [one.layout.metadata for one in states])
        for one in states:
            labels = self._labels(pointer, source, one)
            line = summarize(one, pointer.table, source, labels, amplification=factor)
            yield _with_origin(line, declared) if declared else line
        if declared:
            there = {one.layout.name.casefold() for one in states}
            yield from _missing(pointer.table, source, declared, there)

    def _labels(
        self, pointer: Pointer, source: TableMetadata, found: LayoutState
    ) -> Sequence[str] | None:
        """The batches of the table, if they have to be known."""
        if found.freshness.whole:
            return tuple(found.freshness.fresh)
        state = look_at_source(self.services, pointer.table)
        try:
            labels = FileLabels(source.columns, found.layout.spec.batch_columns)
        except KeyError:
            return None
        batches = source_batches(self.services, None, state, labels) if state else ()
        return None if batches is None else [batch.label for batch in batches]

    def _declared(self) -> Mapping[TableName, DeclaredLayouts]:
        """What pipelines declare, unless one of them cannot be read: no reason to fail."""
        try:
            return self.services.declared()
        except LakebedError:
            return {}

    # -- changing

    def add(
        self,
        table: str | TableName,
        *,
        partition_by: str | Sequence[str] = (),
        sort_by: str | Sequence[str] = (),
        batch_by: str | Sequence[str] | None = None,
        name: str = "",
        comment: str = "",
    ) -> LayoutSummary:
        """Give a table without a pipeline a further layout. Writes only metadata: `build` writes
        its rows.
        """
        found = self.services.tables.find(table)
        require_source(found)
        spec = _spec(
            partition_by=partition_by,
            sort_by=sort_by,
            batch_by=batch_by,
            name=name,
            comment=comment,
        )
        if declared := self.services.declared().get(found):
            raise _declared_elsewhere(found, spec, declared)
        _, _, metadata = self.services.tables.look_up(found)
        complete = complete_spec(spec, metadata)
        require_possible(complete, found, metadata)
        with self._changing(found) as present:
            require_free_label(complete, [one.name for one in present], found)
            with layout_session(self.services) as session:
                LayoutMaker(self.services, session, found).create(complete, metadata)
        return next(line for line in self.list(found) if line.name == complete.label)

    def build(
        self,
        table: str | TableName | None = None,
        *,
        name: str | None = None,
        force: bool = False,
        listener: "LayoutListener | None" = None,
    ) -> tuple[LayoutBuild, ...]:
        """Bring layouts up to date with their tables: batches that have changed are written again,
        all others stay. With `force` all are.

        A layout that fails does not stop the others: its `error` says why.
        """
        asked = BuildOptions(
            names=None if name is None else (name,),
            force=force,
            listener=listener or LayoutListener(),
        )
        tables = [pointer.table for pointer, found in self._tables(table) if listed_tables(found)]
        if name is not None:
            self._require_known(table, name)
        self.services.tables.placement.require_relocated()
        return tuple(
            build for one in tables for build in build_layouts(self.services, one, asked).builds
        )

    def bring_up(
        self,
        table: TableName,
        declared: DeclaredLayouts | None,
        *,
        rows: bool = True,
        listener: "LayoutListener | None" = None,
    ) -> TableBuilds:
        """What a run does once it is published: make what its pipeline declares, and build what is
        stale; without `rows` only the former.
        """
        asked = BuildOptions(rows=rows, listener=listener or LayoutListener())
        return build_layouts(self.services, table, asked, declared=declared)

    def verify(
        self, table: str | TableName | None = None, *, name: str | None = None
    ) -> tuple[LayoutCheck, ...]:
        """Compare counts and checksums of layouts with those of their tables, batch by batch. What
        differs is not used any more, and built again by the next build.
        """
        if name is not None:
            self._require_known(table, name)
        found: list[LayoutCheck] = []
        with layout_session(self.services) as session:
            for pointer, metadata in self._tables(table):
                verifier = LayoutVerifier(self.services, session, pointer.table)
                for layout in find_layouts(metadata, self.services.catalog):
                    if name is None or layout.name.casefold() == name.casefold():
                        found.append(verifier.verify(layout.table))
        return tuple(found)

    def drop(self, table: str | TableName, name: str) -> TableName:
        """Drop a layout; care removes its files. Returns the table's name."""
        found = self.services.tables.find(table)
        require_source(found)
        layout = self._require_known(found, name)
        declared = self._declared().get(found)
        if declared and layout.name in {spec.label for spec in declared.specs}:
            raise UsageError(
                f"{declared.where} declares the layout {layout.name}: the next run would make it"
                " again.",
                next=f"Remove it from `layouts` there, then: lakebed layout drop {found} {name}",
            )
        with self._changing(found), layout_session(self.services) as session:
            LayoutMaker(self.services, session, found).forget(layout.table)
        return found

    def _require_known(self, table: str | TableName | None, name: str) -> Layout:
        known = [
            layout
            for _, metadata in self._tables(table)
            for layout in find_layouts(metadata, self.services.catalog)
        ]
        for layout in known:
            if layout.name.casefold() == name.casefold():
                return layout
        raise UnknownName("layout", name, {layout.name for layout in known})

    @contextmanager
    def _changing(self, table: TableName) -> Iterator[tuple[Layout, ...]]:
        """The layouts of a table while no other process makes or drops any."""
        self.services.tables.placement.require_relocated()
        with self.services.holding(f"{table}#layouts", wait=_PATIENCE):
            _, _, metadata = self.services.tables.look_up(table)
            yield find_layouts(metadata, self.services.catalog)


def _spec(**given: Any) -> LayoutSpec:
    """What was asked for, in the words of a pipeline's config."""
    batch = given.pop("batch_by")
    asked = {key: value for key, value in given.items() if value} | (
        {} if batch is None else {"batch_by": batch}
    )
    try:
        return LayoutSpec.model_validate(read_layout(asked))
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{first['loc'][0]}: " if first["loc"] else ""
        raise UsageError(f"{where}{reason(first)}") from None


def _declared_elsewhere(
    table: TableName, spec: LayoutSpec, declared: DeclaredLayouts
) -> UsageError:
    """The lines to write instead."""
    lines = [
        "layouts:",
        f"  - name: {spec.label}",
        *(f"    {key}: [{', '.join(values)}]" for key, values in _lines(spec)),
    ]
    return UsageError(
        f"{table} has a pipeline, which declares its layouts.",
        where=declared.where,
        next="Write there, then run it:\n" + "\n".join(lines),
    )


def _lines(spec: LayoutSpec) -> Iterator[tuple[str, Sequence[str]]]:
    if spec.partition_by:
        yield "partition_by", [str(field) for field in spec.partition_by]
    if spec.sort_by:
        yield "sort_by", spec.sort_by
    if spec.batch_by is not None:
        yield "batch_by", spec.batch_by


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
            yield declared_summary(complete, table, source, declared.where)
