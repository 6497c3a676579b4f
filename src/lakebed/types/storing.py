"""Which types a table can have, and which changes of a column's type Iceberg allows."""

from lakebed.types.column_type import ColumnType, Primitive, primitives, with_parts
from lakebed.types.parsing import parse_type

_STORABLE = {
    "boolean", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp",
    "timestamp_ntz", "variant",
}  # fmt: skip
_SAFE = {
    ("int", "bigint"), ("int", "float"), ("int", "double"), ("bigint", "double"),
    ("float", "double"), ("date", "timestamp"), ("date", "timestamp_ntz"),
}  # fmt: skip
_WIDENED = {("int", "bigint"), ("float", "double")}
_DIGITS = {"int": 10, "bigint": 19}
# Beyond these numbers one of the two types has values that the other lacks.
_EXACT_UP_TO = {("int", "float"): 2**24, ("bigint", "double"): 2**53}


def read_table_type(text: str) -> ColumnType:
    """The type that a text names, as a table stores it; what cannot be read is not storable."""
    return stored_type(parse_type(text, strict=False))


def stored_type(type_: ColumnType) -> ColumnType:
    """The type as a table stores it: no small integers, no limit on the length of strings."""
    if isinstance(type_, Primitive):
        if type_.name in {"char", "varchar"} and type_.numbers:
            return Primitive("string")
        return Primitive("int") if type_.name in {"smallint", "tinyint"} else type_
    return with_parts(type_, tuple((name, stored_type(part)) for name, part in type_.parts))


def is_storable(type_: ColumnType) -> bool:
    """Whether a table can have a column of this type."""
    return all(
        len(part.numbers) == 2
        if part.name == "decimal"
        else part.name in _STORABLE and not part.numbers
        for part in primitives(type_)
    )


def exact_up_to(given: Primitive, target: Primitive) -> int | None:
    """The largest number up to which every value of one type is one of the other; None if
    all are.
    """
    return _EXACT_UP_TO.get((given.name, target.name))


def is_safe(given: Primitive, target: Primitive) -> bool:
    """Whether every value of one type is a value of the other, at least `exact_up_to` a number."""
    if (given.name, target.name) in _SAFE:
        return True
    if target.name != "decimal":
        return False
    digits, scale = target.numbers
    if given.name == "decimal":
        return scale >= given.numbers[1] and digits - scale >= given.numbers[0] - given.numbers[1]
    return given.name in _DIGITS and digits - scale >= _DIGITS[given.name]


def can_widen(present: Primitive, wanted: Primitive) -> bool:
    """Whether Iceberg lets a column of one type become one of the other."""
    if present.name == wanted.name == "decimal":
        return present.numbers[1] == wanted.numbers[1] and wanted.numbers[0] > present.numbers[0]
    return (present.name, wanted.name) in _WIDENED
