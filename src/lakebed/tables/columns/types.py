"""Types of columns read into trees, so that nested ones can be compared part by part. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lakebed.names import spark_identifier

_NESTED = re.compile(r"\s*(array|list|map|struct)\s*<(.*)>.*", re.IGNORECASE | re.DOTALL)
_STRUCT_FIELD = re.compile(r"\s*(`(?:[^`]|``)*`|[^`:]+?)\s*:(.*)", re.DOTALL)
_CHARACTERS = re.compile(r"(?:var)?char\(\d+\)")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_SPELT = {
    "integer": "int", "short": "int", "smallint": "int", "byte": "int", "tinyint": "int", "long": "bigint", "real": "float",
    "bool": "boolean", "timestamp_ltz": "timestamp", "decimal": "decimal(10,0)",
}  # fmt: skip
_OF_ICEBERG = {"timestamp": "timestamp_ntz", "timestamptz": "timestamp", "uuid": "string", "unknown": "void"}
_KNOWN = {
    "boolean", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp", "timestamp_ntz", "variant",
}  # fmt: skip
_SAFE = {
    ("int", "bigint"), ("int", "float"), ("int", "double"), ("bigint", "double"), ("float", "double"),
    ("date", "timestamp"), ("date", "timestamp_ntz"),
}  # fmt: skip
_EXACT_UP_TO = {("int", "float"): 2**24, ("bigint", "double"): 2**53}  # beyond, the one of the two has numbers the other lacks
_WIDENED = {("int", "bigint"), ("float", "double")}


@dataclass(frozen=True)
class Plain:
    """A type without parts, as tables keep it: no smaller integers, no limits on texts."""

    name: str

    @property
    def spark(self) -> str:
        return self.name


@dataclass(frozen=True)
class Array:
    """Several values of one type."""

    element: "Type"

    @property
    def spark(self) -> str:
        return f"array<{self.element.spark}>"


@dataclass(frozen=True)
class Map:
    """Values by key."""

    key: "Type"
    value: "Type"

    @property
    def spark(self) -> str:
        return f"map<{self.key.spark},{self.value.spark}>"


@dataclass(frozen=True)
class Struct:
    """Fields in order."""

    fields: tuple[tuple[str, "Type"], ...]

    @property
    def spark(self) -> str:
        return "struct<" + ",".join(f"{spark_identifier(name)}:{type_.spark}" for name, type_ in self.fields) + ">"


Type = Plain | Array | Map | Struct


def read_type(text: str) -> Type:
    """A type as Spark writes it, or as a person would."""
    nested = _NESTED.fullmatch(text)
    if not nested:
        return _plain(text)
    kind, inner = nested[1].casefold(), nested[2]
    if kind == "struct":
        return Struct(tuple((name, read_type(of)) for name, of in map(struct_field, split_type(inner))))
    parts = tuple(map(read_type, split_type(inner)))
    if len(parts) != (2 if kind == "map" else 1):
        return _plain(text)
    return Map(*parts) if kind == "map" else Array(*parts)


def _plain(text: str) -> Plain:
    name = re.sub(r"\s*([(),])\s*", r"\1", text.strip().casefold())
    name = re.sub(r"^(?:numeric|dec)\b", "decimal", name)
    return Plain("string" if _CHARACTERS.fullmatch(name) else _SPELT.get(name, name))


def spark_type(text: str) -> str:
    """Spark's text for a type in Iceberg's words."""
    return _in_spark(read_type(text)).spark


def _in_spark(type_: Type) -> Type:
    match type_:
        case Plain(name):
            return Plain("binary" if name.startswith("fixed[") else _OF_ICEBERG.get(name, name))
        case Array(element):
            return Array(_in_spark(element))
        case Map(key, value):
            return Map(_in_spark(key), _in_spark(value))
        case Struct(fields):
            return Struct(tuple((name, _in_spark(part)) for name, part in fields))


def is_known(type_: Type) -> bool:
    """Whether a table can have it; of nested types all parts."""
    match type_:
        case Plain(name):
            return name in _KNOWN or bool(_DECIMAL.fullmatch(name))
        case Array(element):
            return is_known(element)
        case Map(key, value):
            return is_known(key) and is_known(value)
        case Struct(fields):
            return all(is_known(part) for _, part in fields)


def struct_field(text: str) -> tuple[str, str]:
    """The name and the type of a struct's field; a text that is neither has no type."""
    found = _STRUCT_FIELD.fullmatch(text)
    if not found:
        return text.strip(), ""
    name = found[1].strip()
    return name[1:-1].replace("``", "`") if name.startswith("`") else name, found[2]


def split_type(inner: str) -> Iterator[str]:
    """The parts of a nested type, cut at its own commas only."""
    depth, quoted, start = 0, False, 0
    for at, letter in enumerate(inner):
        quoted ^= letter == "`"
        if not quoted:
            depth += (letter in "<(") - (letter in ">)")
            if letter == "," and not depth:
                yield inner[start:at]
                start = at + 1
    yield inner[start:]


def exact_up_to(given: str, target: str) -> int | None:
    """The number from which on values of the one plain type are no values of the other; None: there is no such number."""
    return _EXACT_UP_TO.get((given, target))


def is_safe(given: str, target: str) -> bool:
    """Whether every value of the one plain type is a value of the other, at least `exact_up_to` a number."""
    if (given, target) in _SAFE:
        return True
    digits = {"int": 10, "bigint": 19}
    into = _DECIMAL.fullmatch(target)
    if into and given in digits:
        return int(into[1]) - int(into[2]) >= digits[given]
    of = _DECIMAL.fullmatch(given)
    return bool(into and of and int(into[2]) >= int(of[2]) and int(into[1]) - int(into[2]) >= int(of[1]) - int(of[2]))


def can_widen(present: str, wanted: str) -> bool:
    """Whether Iceberg lets a column of the one plain type become one of the other."""
    if (present, wanted) in _WIDENED:
        return True
    old, new = _DECIMAL.fullmatch(present), _DECIMAL.fullmatch(wanted)
    return bool(old and new and old[2] == new[2] and int(new[1]) > int(old[1]))
