"""Types of files that disagree: which type holds the values of both."""

from dataclasses import replace

from lakebed.types.column_type import STRING, ColumnType, Primitive, with_parts

_WIDEST_DECIMAL = 38
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_NUMBERS = {*_DIGITS, "decimal", "float", "double"}
_TIMES = {"timestamp", "timestamp_ntz"}
_DOUBLE = Primitive("double")


def join_types(one: ColumnType, other: ColumnType, *, dates_are_times: bool = True) -> ColumnType:
    """The narrowest type that holds the values of both; string where there is no other.

    Whole numbers and doubles join to double.
    """
    if one == other:
        return one
    names = {one.name, other.name}
    if isinstance(one, Primitive) and isinstance(other, Primitive) and names <= _NUMBERS:
        return _join_numbers(one, other)
    if one.is_nested and one.name == other.name:
        return _join_nested(one, other)
    if names <= {"date", *_TIMES} and ("date" not in names or dates_are_times):
        return Primitive("timestamp" if "timestamp" in names else "timestamp_ntz")
    return STRING


def holds(wanted: ColumnType, own: ColumnType) -> bool:
    """Whether every value of a file's own type can be kept as the wanted one."""
    if own == wanted or {own.name, wanted.name} <= _TIMES:  # a time without a zone is in the lake's
        return True
    if own.is_nested or wanted.is_nested:
        return _holds_nested(wanted, own)
    if wanted.name == "double":
        return own.name in {"float", "tinyint", "smallint", "int"}
    return wanted != STRING and join_types(own, wanted) == wanted


def extends(wider: ColumnType, own: ColumnType) -> bool:
    """Whether `wider` only adds fields to structs, so that a reader by names can read one as the
    other.
    """
    if own.name != wider.name or not own.is_nested:
        return own == wider
    parts = dict(wider.parts)
    return all(name in parts and extends(parts[name], part) for name, part in own.parts)


def kept_as(type_: ColumnType) -> ColumnType:
    """The type in a table: `timestamp(9)`, nanoseconds in a Parquet file, becomes `timestamp`."""
    if isinstance(type_, Primitive) and type_.name in _TIMES:
        return replace(type_, numbers=())
    return type_


def _join_numbers(one: Primitive, other: Primitive) -> Primitive:
    first, second = _as_decimal(one), _as_decimal(other)
    if not first or not second:
        return _DOUBLE
    if "decimal" not in {one.name, other.name}:
        return max(one, other, key=lambda type_: _DIGITS[type_.name])
    scale = max(first[1], second[1])
    digits = max(first[0] - first[1], second[0] - second[1]) + scale
    return Primitive("decimal", (digits, scale)) if digits <= _WIDEST_DECIMAL else _DOUBLE


def _as_decimal(type_: Primitive) -> tuple[int, int] | None:
    """Its number of digits, and how many of them are after the point."""
    if type_.name == "decimal":
        return type_.numbers[0], type_.numbers[1]
    return (_DIGITS[type_.name], 0) if type_.name in _DIGITS else None


def _join_nested(one: ColumnType, other: ColumnType) -> ColumnType:
    parts = dict(one.parts)
    for name, part in other.parts:
        parts[name] = join_types(parts[name], part) if name in parts else part
    return with_parts(one, tuple(parts.items()))


def _holds_nested(wanted: ColumnType, own: ColumnType) -> bool:
    """Part by part, in the same order: Spark casts a struct by the positions of its fields."""
    if own.name != wanted.name or len(own.parts) != len(wanted.parts):
        return False
    pairs = zip(wanted.parts, own.parts, strict=True)
    return all(
        there.casefold() == here.casefold() and holds(to, of) for (there, to), (here, of) in pairs
    )
