"""All tables of the catalog, Lakebed's and others, and their folders."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

from lakebed.errors import BadName, DamagedTable, LakebedError, PathUnresolved, PointsElsewhere
from lakebed.names import TableName
from lakebed.ports import (
    SOURCE_UUID,
    Catalog,
    DroppedTable,
    Files,
    ForeignTable,
    Pointer,
    TableMetadata,
)
from lakebed.settings import Root
from lakebed.tables import MovedTables, table_folder


@dataclass(frozen=True)
class Member:
    """A table, or a dropped one that can be restored; `metadata` is None if it cannot be read."""

    pointer: Pointer
    metadata: TableMetadata | None
    dropped: DroppedTable | None = None
    damage: str = ""
    folder: str = ""  # below the root, symbolic links followed; empty if it is elsewhere

    @property
    def uuid(self) -> str:
        return self.metadata.uuid if self.metadata else self.dropped.uuid if self.dropped else ""


@dataclass(frozen=True)
class Stock:
    """Everything in the catalog."""

    members: tuple[Member, ...]
    foreign: tuple[ForeignTable, ...] = ()  # tables whose names Lakebed would not give
    foreign_folders: frozenset[str] = frozenset()  # their folders below the root
    views: frozenset[str] = frozenset()  # folders of all views
    adopted: frozenset[str] = frozenset()  # folders below the root whose files tables took over
    # a table that points outside its lake, or to an unknown place
    in_the_way: LakebedError | None = None

    @cached_property
    def tables(self) -> dict[TableName, Member]:
        return {member.pointer.table: member for member in self.members if member.dropped is None}

    @cached_property
    def sources(self) -> dict[TableName, TableName]:
        """The table that each derived table is computed from, dropped ones included; those whose
        source is gone for good are left out.
        """
        shown = [member for member in self.members if not member.pointer.table.hidden]
        by_uuid = {member.uuid: member.pointer.table for member in reversed(shown)}
        wanted = {
            table: member.metadata.properties.get(SOURCE_UUID, "")
            for table, member in self.tables.items()
            if table.derived and member.metadata
        }
        return {table: by_uuid[uuid] for table, uuid in wanted.items() if uuid and uuid in by_uuid}

    @property
    def rows(self) -> tuple[Pointer | ForeignTable, ...]:
        """Every table."""
        return (*(member.pointer for member in self.members), *self.foreign)

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders of all tables."""
        return self.foreign_folders | {member.folder for member in self.members if member.folder}

    def obstacle(self) -> str:
        """Why nothing may be removed: what some table needs is unknown. Empty if all tables can be
        read.
        """
        damaged = next((member.damage for member in self.members if member.damage), "")
        return str(self.in_the_way) if self.in_the_way else damaged


class Stocktaking:
    """Lists the tables of a catalog repeatedly. A metadata file never changes, so each is read
    once.
    """

    def __init__(self, catalog: Catalog, files: Files, root: Root) -> None:
        self._catalog, self._files, self._strays = catalog, files, MovedTables(files, root)
        self._read: dict[str, TableMetadata] = {}
        self._paths: dict[str, str | None] = {}

    def take(self) -> Stock:
        """All tables. Pointers are read first and last, so that no table dropped, restored or
        renamed meanwhile is missed.
        """
        before, dropped, others = (
            self._catalog.pointers(),
            self._catalog.dropped(),
            self._catalog.foreign(),
        )
        views = [
            *(
                ForeignTable("view", str(name), location)
                for name, location in self._catalog.views().items()
            )
        ]
        views += [one for one in others if one.kind == "view"]
        after = self._catalog.pointers()
        pointers = {
            (pointer.table, pointer.location): pointer
            for pointer in (*before.values(), *after.values())
        }
        self._read_at_once(
            [pointer for pointer in after.values() if pointer.location not in self._read]
        )
        members = (
            *map(self._member, pointers.values()),
            *(self._member(one.pointer, one) for one in dropped),
        )
        foreign = tuple(one for one in others if one.kind == "table")
        try:
            theirs, viewed = (
                frozenset(map(self._folder, rows)) - {""} for rows in (foreign, views)
            )
            found = Stock(members, foreign, theirs, viewed, self._adopted(members))
            astray = self._astray([*found.rows, *views], found.folders)
            return replace(found, in_the_way=astray or self._written_elsewhere(members))
        except PathUnresolved as error:
            return Stock(members, foreign, in_the_way=error)

    def _read_at_once(self, pointers: list[Pointer]) -> None:
        """Reads all at once, which is cheaper; if one is damaged, they are read one by one."""
        with suppress(DamagedTable, BadName):
            found = self._catalog.metadata(pointers)
            self._read |= {
                pointer.location: found[pointer.table]
                for pointer in pointers
                if pointer.table in found
            }

    def _member(self, pointer: Pointer, dropped: DroppedTable | None = None) -> Member:
        try:
            found = self._read.get(pointer.location) or self._catalog.metadata([pointer]).get(
                pointer.table
            )
            folder = self._path(found.location, pointer) if found else self._folder(pointer)
        except (DamagedTable, PathUnresolved, BadName) as damage:  # a link may lead outside
            return Member(pointer, None, dropped, str(damage))
        if found:
            self._read[pointer.location] = found
        return Member(pointer, found, dropped, folder=folder or "")

    def _adopted(self, members: Iterable[Member]) -> frozenset[str]:
        found = (
            self._path(member.metadata.adopted_from, member.pointer)
            for member in members
            if member.metadata and member.metadata.adopted_from
        )
        return frozenset(path for path in found if path)

    def _folder(self, row: Pointer | ForeignTable) -> str:
        """The folder of a table or view, by its metadata file."""
        return self._path(table_folder(row.location), row) or ""

    def _path(self, location: str, row: Pointer | ForeignTable) -> str | None:
        if location not in self._paths:
            self._paths[location] = path_below(self._files, location, row)
        return self._paths[location]

    def _astray(
        self, rows: Iterable[Pointer | ForeignTable], taken: Collection[str]
    ) -> PointsElsewhere | None:
        if self._catalog.owns_files:
            return None  # it places tables where it likes
        outside = (row for row in rows if self._path(row.location, row) is None)
        found = (
            self._strays.error_for(str(row.table), row.location, taken=taken) for row in outside
        )
        return next((one for one in found if one), None)

    def _written_elsewhere(self, members: Iterable[Member]) -> PointsElsewhere | None:
        """The error for a table whose metadata file is here, but names the folder of another
        place.
        """
        if self._catalog.owns_files:
            return None
        for member in members:
            pointer, metadata = member.pointer, member.metadata
            path_of = partial(self._path, row=pointer)
            if metadata and (
                error := self._strays.error_in(
                    str(pointer.table), pointer.location, metadata, path_of=path_of
                )
            ):
                return error
        return None


def path_below(files: Files, location: str, row: Pointer | ForeignTable) -> str | None:
    """The path below the root of a file that a table needs; None if it is elsewhere,
    `PathUnresolved` if that is unknown.
    """
    try:
        return files.path_of(location)
    except LakebedError as error:
        raise PathUnresolved(str(row.table), location, error.what) from error
