"""A column's type as a value. Names are Spark's where Spark has the type, else Iceberg's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from lakebed.names import spark_identifier

INTEGER_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
NESTED = frozenset({"array", "map", "struct"})
ICEBERG_NAMES = {
    "bigint": "long",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
    "void": "unknown",
}
_SPARK_NAMES = {"uuid": "string", "fixed": "binary"}  # how Spark reads types that it does not have
# names that must be quoted in Iceberg's spelling
_AMBIGUOUS = re.compile(r"[`:,<>()\[\]]|^\s|\s$|^$")


class _Spelling:
    """What all types have in common: their text is Spark's spelling."""

    def __str__(self) -> str:
        return self.spark

    @property
    def spark(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Primitive(_Spelling):
    """A type without parts; `numbers` are its arguments, as in `decimal(12,2)`."""

    name: str
    numbers: tuple[int, ...] = ()

    is_nested: ClassVar[bool] = False
    parts: ClassVar[tuple[tuple[str, "ColumnType"], ...]] = ()

    @property
    def spark(self) -> str:
        if self.name in _SPARK_NAMES:
            return _SPARK_NAMES[self.name]
        return f"{self.name}({','.join(map(str, self.numbers))})" if self.numbers else self.name

    @property
    def iceberg(self) -> str:
        if self.name == "fixed":
            return f"fixed[{self.numbers[0]}]"
        name = ICEBERG_NAMES.get(self.name, self.name)
        return f"{name}({', '.join(map(str, self.numbers))})" if self.numbers else name


@dataclass(frozen=True)
class Array(_Spelling):
    """A list of values of one type."""

    element: "ColumnType"

    name: ClassVar[str] = "array"
    is_nested: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[tuple[str, "ColumnType"], ...]:
        return (("element", self.element),)

    @property
    def spark(self) -> str:
        return f"array<{self.element.spark}>"

    @property
    def iceberg(self) -> str:
        return f"list<{self.element.iceberg}>"


@dataclass(frozen=True)
class Map(_Spelling):
    """Values by key."""

    key: "ColumnType"
    value: "ColumnType"

    name: ClassVar[str] = "map"
    is_nested: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[tuple[str, "ColumnType"], ...]:
        return (("key", self.key), ("value", self.value))

    @property
    def spark(self) -> str:
        return f"map<{self.key.spark},{self.value.spark}>"

    @property
    def iceberg(self) -> str:
        return f"map<{self.key.iceberg}, {self.value.iceberg}>"


@dataclass(frozen=True)
class Struct(_Spelling):
    """Named fields in order."""

    fields: tuple[tuple[str, "ColumnType"], ...]

    name: ClassVar[str] = "struct"
    is_nested: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[tuple[str, "ColumnType"], ...]:
        return self.fields

    @property
    def spark(self) -> str:
        fields = (f"{spark_identifier(name)}:{part.spark}" for name, part in self.fields)
        return f"struct<{','.join(fields)}>"

    @property
    def iceberg(self) -> str:
        fields = (f"{_iceberg_name(name)}: {part.iceberg}" for name, part in self.fields)
        return f"struct<{', '.join(fields)}>"


ColumnType = Primitive | Array | Map | Struct

STRING = Primitive("string")


def with_parts(type_: ColumnType, parts: tuple[tuple[str, ColumnType], ...]) -> ColumnType:
    """The type with other types inside it; a type without parts stays as it is."""
    inside = [part for _, part in parts]
    match type_:
        case Primitive():
            return type_
        case Array():
            return Array(*inside)
        case Map():
            return Map(*inside)
        case Struct():
            return Struct(parts)


def primitives(type_: ColumnType) -> Iterator[Primitive]:
    """The type itself, or all primitive types inside it."""
    if isinstance(type_, Primitive):
        yield type_
    for _, part in type_.parts:
        yield from primitives(part)


def _iceberg_name(name: str) -> str:
    return spark_identifier(name) if _AMBIGUOUS.search(name) else name
