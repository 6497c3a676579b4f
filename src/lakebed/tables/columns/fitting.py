"""Result types compared with table types: what must change in the table, and how values are cast to
its types. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lakebed.names import spark_identifier
from lakebed.ports import ColumnAlias, Field
from lakebed.tables.statements import string_literal
from lakebed.types import (
    Array,
    ColumnType,
    Map,
    Primitive,
    Struct,
    can_widen,
    exact_up_to,
    is_safe,
    read_table_type,
)


@dataclass(frozen=True)
class NestedChange:
    """A field inside a column, by its path: it is new, or gets a wider type."""

    path: tuple[str, ...]
    type: str
    is_new: bool

    @property
    def spark(self) -> str:
        return (
            f"{'.'.join(map(spark_identifier, self.path))}"
            f" {'' if self.is_new else 'TYPE '}{self.type}"
        )

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


class IncompatibleType(ValueError):
    """The table's column cannot store values of the result's type, and cannot be widened to."""


def plan_type_change(
    present: ColumnType, wanted: ColumnType, path: tuple[str, ...]
) -> tuple[NestedChange, ...]:
    """What must change in a column so that it can store values of the wanted type;
    `IncompatibleType` if nothing helps.
    """
    match present, wanted:
        case Struct(), Struct():
            return tuple(_structs(present, wanted, path))
        case Array(old), Array(new):
            return plan_type_change(old, new, (*path, "element"))
        case Map(key, old), Map(other, new) if key == other:
            return plan_type_change(old, new, (*path, "value"))
        case Primitive(), Primitive() if present == wanted or is_safe(wanted, present):
            return ()
        case Primitive(), Primitive() if can_widen(present, wanted):
            return (NestedChange(path, wanted.spark, is_new=False),)
    raise IncompatibleType(
        f"the column {'.'.join(path)!r} is {present.spark} in the table and {wanted.spark} in the"
        " result"
    )


def can_accept(present: str, wanted: str) -> bool:
    """Whether a column of the present type can store values of the wanted type, possibly after
    widening.
    """
    try:
        plan_type_change(read_table_type(present), read_table_type(wanted), ())
    except IncompatibleType:
        return False
    return True


def _structs(present: Struct, wanted: Struct, path: tuple[str, ...]) -> Iterator[NestedChange]:
    there = {name.casefold(): (name, of) for name, of in present.fields}
    arriving = {name.casefold() for name, _ in wanted.fields}
    if lacking := [name for name, _ in present.fields if name.casefold() not in arriving]:
        raise IncompatibleType(
            f"the column {'.'.join(path)!r} lacks the field {lacking[0]!r}, which it has in the"
            " table"
        )
    for name, of in wanted.fields:
        if name.casefold() in there:
            known, type_ = there[name.casefold()]
            yield from plan_type_change(type_, of, (*path, known))
        else:
            yield NestedChange((*path, name), of.spark, is_new=True)


def selection(
    given: Iterable[Field], target: Iterable[Field], *, sources: Mapping[str, str]
) -> tuple[str, ...]:
    """Expressions that select exactly the target's columns: cast where types differ, NULL where the
    frame has none.

    `sources` maps columns of the target to the frame's names where they differ. A column of the
    target that itself has such a name is about to be dropped, and gets no value.
    """
    there = {field.name.casefold(): field for field in given}
    taken = {name.casefold() for name in sources.values()}
    called = {
        field: sources.get(field.name, "" if field.name.casefold() in taken else field.name)
        for field in target
    }
    return tuple(_selected(field, there.get(name.casefold())) for field, name in called.items())


def _selected(field: Field, source: Field | None) -> str:
    named = spark_identifier(field.name)
    if source is None:
        return f"CAST(NULL AS {field.type}) AS {named}"
    value = spark_identifier(source.name)
    if source.type != field.type:
        value = cast_expression(value, read_table_type(source.type), read_table_type(field.type))
    return value if value == named else f"{value} AS {named}"


def cast_expression(value: str, given: ColumnType, target: ColumnType, *, depth: int = 0) -> str:
    """The value cast to the target type.

    Fields of structs are matched by name; a plain CAST would match by position.

    A number whose last digits the target cannot store fails the statement.
    """
    if _same_names(given, target) and not may_lose_digits(given, target):
        return f"CAST({value} AS {target.spark})"
    match given, target:
        case Primitive(), Primitive() if most := exact_up_to(given, target):
            lost = string_literal(
                f" would lose digits as a {target.spark}: cast it in the query, or change the"
                " column."
            )
            refusal = f"raise_error(concat({value}, {lost}))"
            return (
                f"IF({value} NOT BETWEEN -{most} AND {most}, {refusal}, CAST({value} AS"
                f" {target.spark}))"
            )
        case Struct(), Struct():
            there = {name.casefold(): (name, of) for name, of in given.fields}
            parts = (
                f"{string_literal(name)}, {_part(value, there.get(name.casefold()), of, depth)}"
                for name, of in target.fields
            )
            return f"IF({value} IS NULL, NULL, named_struct({', '.join(parts)}))"
        case Array(old), Array(new):
            return (
                f"transform({value}, x{depth} ->"
                f" {cast_expression(f'x{depth}', old, new, depth=depth + 1)})"
            )
        case Map(_, old), Map(_, new):
            return (
                f"transform_values({value}, (k{depth}, x{depth}) ->"
                f" {cast_expression(f'x{depth}', old, new, depth=depth + 1)})"
            )
    return f"CAST({value} AS {target.spark})"


def _part(value: str, given: tuple[str, ColumnType] | None, target: ColumnType, depth: int) -> str:
    if given is None:
        return f"CAST(NULL AS {target.spark})"
    return cast_expression(f"{value}.{spark_identifier(given[0])}", given[1], target, depth=depth)


def may_lose_digits(given: ColumnType, target: ColumnType) -> bool:
    """Whether the given type, or a part of it, has numbers that the target cannot store exactly."""
    match given, target:
        case Primitive(), Primitive():
            return exact_up_to(given, target) is not None
        case Struct(), Struct():
            there = {name.casefold(): of for name, of in given.fields}
            return any(
                name.casefold() in there and may_lose_digits(there[name.casefold()], of)
                for name, of in target.fields
            )
        case (Array(old), Array(new)) | (Map(_, old), Map(_, new)):
            return may_lose_digits(old, new)
    return False


def _same_names(given: ColumnType, target: ColumnType) -> bool:
    match given, target:
        case Struct(), Struct():
            names = [[name.casefold() for name, _ in struct.fields] for struct in (given, target)]
            pairs = zip(given.fields, target.fields, strict=False)
            return names[0] == names[1] and all(
                _same_names(one, other) for (_, one), (_, other) in pairs
            )
        case Array(old), Array(new):
            return _same_names(old, new)
        case Map(_, old), Map(_, new):
            return _same_names(old, new)
    return True


def projection(relation: str, columns: Sequence[ColumnAlias]) -> str:
    """A relation for FROM with these columns only; the relation itself if none are given."""
    if not columns:
        return relation
    return f"(SELECT {', '.join(map(_shown, columns))} FROM {relation})"


def _shown(column: ColumnAlias) -> str:
    value, named = spark_identifier(column.of), spark_identifier(column.name)
    return value if value == named else f"{value} AS {named}"
