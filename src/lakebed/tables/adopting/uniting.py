"""One schema for files of differing schemas: columns are united by name. Pure."""

from dataclasses import dataclass, field
from functools import cached_property

from lakebed.errors import BadFiles
from lakebed.ports import Field
from lakebed.tables.adopting.arrow_types import FileColumn
from lakebed.types import Array, ColumnType, Map, Primitive, Struct, can_widen, join_types


@dataclass
class United:
    """The columns of all files, each with the first file that has it. Files differ in few ways,
    and come in any order: they are united by the paths of the first file of each kind.
    """

    rewrite: bool  # types that do not fit may be converted
    _kinds: dict[tuple[FileColumn, ...], str] = field(default_factory=dict)

    def take(self, columns: tuple[FileColumn, ...], path: str) -> None:
        """One more file; `BadFiles` if a table cannot have one of its columns."""
        if columns not in self._kinds and not self.rewrite:
            for column in columns:
                if column.fault:
                    raise _unfit(path, column)
        self._kinds[columns] = min(path, self._kinds.get(columns, path))

    @cached_property
    def _columns(self) -> dict[str, tuple[FileColumn, str]]:
        """All columns, by casefolded name; `BadFiles` names the file that does not fit."""
        found: dict[str, tuple[FileColumn, str]] = {}
        for columns, path in sorted(self._kinds.items(), key=lambda kind: kind[1]):
            for column in columns:
                known = found.get(column.name.casefold())
                found[column.name.casefold()] = (
                    (self._both(*known, column, path), known[1]) if known else (column, path)
                )
        return found

    def _both(self, known: FileColumn, first: str, column: FileColumn, path: str) -> FileColumn:
        if known.name != column.name and not self.rewrite:
            raise _clash(f"{known.name} in {first} is {column.name}", path)
        if known.void or column.void:
            return column if known.void else known
        both = united(known.type, column.type)
        if both is None and self.rewrite and not (known.type.is_nested or column.type.is_nested):
            both = join_types(known.type, column.type)
        if both is None:
            raise _clash(f"{column.name} is {known.type} in {first} and {column.type}", path)
        return FileColumn(known.name, both)

    def type_of(self, name: str) -> ColumnType | None:
        """The type of a column; None if no file has it."""
        found = self._columns.get(name.casefold())
        return found[0].type if found else None

    def fields(self) -> tuple[Field, ...]:
        """The table's columns; `BadFiles` if nothing tells the type of one."""
        for column, path in self._columns.values():
            if column.void and not self.rewrite:
                raise BadFiles(
                    f"the column {column.name} has no type: every value is NULL.",
                    where=path,
                    safe="Nothing was changed.",
                    next="Copy the rows instead: --rewrite.",
                )
        return tuple(Field(column.name, str(column.type)) for column, _ in self._columns.values())


def united(one: ColumnType, other: ColumnType) -> ColumnType | None:
    """The type of a table's column in whose files it has these types; None if there is none.

    What Iceberg lets a column become, its readers read in files from before.
    """
    if one == other:
        return one
    if isinstance(one, Primitive) and isinstance(other, Primitive):
        if can_widen(one, other):
            return other
        return one if can_widen(other, one) else None
    if isinstance(one, Array) and isinstance(other, Array):
        element = united(one.element, other.element)
        return Array(element) if element else None
    if isinstance(one, Map) and isinstance(other, Map):
        value = united(one.value, other.value) if one.key == other.key else None
        return Map(one.key, value) if value else None
    if isinstance(one, Struct) and isinstance(other, Struct):
        return _structs(one, other)
    return None


def _structs(one: Struct, other: Struct) -> Struct | None:
    fields = dict(one.fields)
    for name, type_ in other.fields:
        both = united(fields[name], type_) if name in fields else type_
        if both is None:
            return None
        fields[name] = both
    if len({name.casefold() for name in fields}) < len(fields):
        return None
    return Struct(tuple(fields.items()))


def _unfit(path: str, column: FileColumn) -> BadFiles:
    return BadFiles(
        f"the file cannot be part of a table as it is: {column.fault}.",
        where=path,
        safe="Nothing was changed.",
        next=f"Copy the rows into files of the table instead: --rewrite. (column {column.name})",
    )


def _clash(what: str, path: str) -> BadFiles:
    return BadFiles(
        f"the files do not fit together: the column {what} in {path}.",
        where=path,
        safe="Nothing was changed.",
        next="Adopt them as tables of their own, or copy the rows: --rewrite converts types where"
        " no value is lost.",
    )
