"""`lake.layouts`: further arrangements of tables that queries use by themselves."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lakebed.derived.building.create import LayoutMaker
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
from lakebed.derived.overview import LayoutOverview, UndoneLayouts
from lakebed.derived.request import declared_elsewhere, requested_spec
from lakebed.derived.summary import LayoutSummary
from lakebed.derived.verify import LayoutCheck, LayoutVerifier
from lakebed.errors import UsageError
from lakebed.names import TableName


class Layouts:
    """The layouts of a lake's tables."""

    def __init__(self, services: LayoutServices) -> None:
        self.services = services
        self._overview = LayoutOverview(services)

    # -- looking

    def list(self, table: str | TableName | None = None) -> tuple[LayoutSummary, ...]:
        """The layouts of a table, or of all tables, with those that pipelines declare and no run
        has made yet. Changes nothing, starts no JVM.
        """
        return self._overview.lines(table)

    def names(self, table: str | TableName | None = None) -> tuple[str, ...]:
        """The names of layouts."""
        return tuple(layout.name for layout in self._overview.layouts(table))

    def due(self, table: TableName) -> dict[str, int]:
        """The layouts of a table that a build would change, and how many batches of them are stale:
        0 if only stamps are.
        """
        return self._overview.due(table)

    def undone(
        self, table: TableName, declared: DeclaredLayouts | None, *, rows: bool = True
    ) -> UndoneLayouts:
        """What `bring_up` would do now. Changes nothing, starts no JVM."""
        return self._overview.undone(table, declared, rows=rows)

    def bytes_of(self, table: TableName) -> int:
        """The bytes of all data files of a table's layouts; 0 if there is no such table."""
        return self._overview.bytes_of(table)

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
        spec = requested_spec(
            partition_by=partition_by,
            sort_by=sort_by,
            batch_by=batch_by,
            name=name,
            comment=comment,
        )
        if declared := self.services.declarations.layouts().get(found):
            raise declared_elsewhere(found, spec, declared)
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
        tables = [
            pointer.table for pointer, found in self._overview.tables(table) if listed_tables(found)
        ]
        if name is not None:
            self._overview.find(table, name)
        self.services.tables.placement.require_relocated(*tables)
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
            self._overview.find(table, name)
        found: list[LayoutCheck] = []
        with layout_session(self.services) as session:
            for pointer, metadata in self._overview.tables(table):
                verifier = LayoutVerifier(self.services, session, pointer.table)
                for layout in find_layouts(metadata, self.services.ports.catalog):
                    if name is None or layout.name.casefold() == name.casefold():
                        found.append(verifier.verify(layout.table))
        return tuple(found)

    def drop(self, table: str | TableName, name: str) -> TableName:
        """Drop a layout; care removes its files. Returns the table's name."""
        found = self.services.tables.find(table)
        require_source(found)
        layout = self._overview.find(found, name)
        declared = self._overview.declared().get(found)
        if declared and layout.name in {spec.label for spec in declared.specs}:
            raise UsageError(
                f"{declared.where} declares the layout {layout.name}: the next run would make it"
                " again.",
                next=f"Remove it from `{declared.key}` there, then: lakebed layout drop {found}"
                f" {name}",
            )
        with self._changing(found), layout_session(self.services) as session:
            LayoutMaker(self.services, session, found).forget(layout.table)
        return found

    @contextmanager
    def _changing(self, table: TableName) -> Iterator[tuple[Layout, ...]]:
        """The layouts of a table while no other process makes or drops any."""
        self.services.tables.placement.require_relocated(table)
        with self.services.changing_layouts(table):
            _, _, metadata = self.services.tables.look_up(table)
            yield find_layouts(metadata, self.services.ports.catalog)
