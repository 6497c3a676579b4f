"""How a table's columns follow a result's: decided before anything is written."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import BadBatch
from lakebed.names import TableName, spark_identifier
from lakebed.ports import Field

Policy = Literal["fail", "append", "sync"]

# Iceberg has no smaller integers and no limits on texts.
_KEPT_AS = {"tinyint": "int", "smallint": "int"}
_SAFE = {
    ("int", "bigint"), ("int", "float"), ("int", "double"), ("bigint", "double"), ("float", "double"),
    ("date", "timestamp"), ("date", "timestamp_ntz"),
}  # fmt: skip
_WIDENED = {("int", "bigint"), ("float", "double")}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


@dataclass(frozen=True)
class SchemaChange:
    """What is done to a table's columns. Before the gates it only gains; `final` waits for the publishing swap."""

    add: tuple[Field, ...] = ()
    widen: tuple[Field, ...] = ()
    final: tuple[str, ...] | None = None  # the columns from then on, in order; None: as they are

    @property
    def before_gates(self) -> bool:
        return bool(self.add or self.widen)


def plan_schema(
    table: TableName,
    present: Sequence[Field],
    result: Sequence[Field],
    *,
    policy: Policy,
    own: Collection[str] = (),
    fixed: Collection[str] = (),
) -> SchemaChange:
    """How `present` becomes fit for `result`, or `BadBatch`. `own` are the strategy's columns, `fixed` may not go."""
    refuse_unfit_columns(table, result)
    there = {field.name.casefold(): field for field in present}
    arriving = {field.name.casefold(): field for field in result}
    new = tuple(kept(field) for name, field in arriving.items() if name not in there)
    gone = tuple(field for name, field in there.items() if name not in arriving and field.name not in own)
    widen = _widened(table, there, arriving)
    if policy == "fail" and (new or gone or widen):
        raise _refused(table, new, gone, widen)
    if policy != "sync":
        return SchemaChange(new, widen)
    _refuse_fixed(table, gone, fixed)
    final = (
        *(there.get(name, field).name for name, field in arriving.items()),
        *(name for name in own if name.casefold() in there),
    )
    after = (*(field.name for field in present), *(field.name for field in new))
    return SchemaChange(new, widen, final=final if final != after else None)


def kept(field: Field) -> Field:
    """The field as Iceberg keeps it."""
    plain = re.sub(r"^(?:var)?char\(\d+\)$", "string", field.type)
    return Field(field.name, _KEPT_AS.get(plain, plain))


def refuse_unfit_columns(table: TableName, result: Iterable[Field]) -> None:
    """Names that are the same, or differ only in case, and types no table has."""
    seen: dict[str, str] = {}
    for field in result:
        if other := seen.get(field.name.casefold()):
            raise _unfit(table, f"the columns {other!r} and {field.name!r} have one name", "Rename one of them.")
        seen[field.name.casefold()] = field.name
        if field.type in {"void", "null"} or field.type.startswith("interval"):
            advice = f"Cast it: CAST({field.name} AS STRING), for example."
            raise _unfit(table, f"the column {field.name!r} is of type {field.type}, which no table keeps", advice)


def _unfit(table: TableName, what: str, next: str) -> BadBatch:
    return BadBatch(f"{what}.", where=str(table), safe="Nothing was written.", next=next)


def _widened(table: TableName, there: dict[str, Field], arriving: dict[str, Field]) -> tuple[Field, ...]:
    widen = []
    for name, field in arriving.items():
        present, wanted = there.get(name), kept(field)
        if present is None or present.type == wanted.type or is_safe(wanted.type, present.type):
            continue
        if not _can_widen(present.type, wanted.type):
            raise _unfit(
                table,
                f"the column {present.name!r} is {present.type} in the table and {wanted.type} in the result",
                f"Cast it in the query: CAST({present.name} AS {present.type}), or give the new column another name.",
            )
        widen.append(Field(present.name, wanted.type))
    return tuple(widen)


def is_safe(given: str, target: str) -> bool:
    """Whether every value of the one type is a value of the other."""
    if (given, target) in _SAFE:
        return True
    digits = {"int": 10, "bigint": 19}
    into = _DECIMAL.fullmatch(target)
    if into and given in digits:
        return int(into[1]) - int(into[2]) >= digits[given]
    of = _DECIMAL.fullmatch(given)
    return bool(into and of and int(into[2]) >= int(of[2]) and int(into[1]) - int(into[2]) >= int(of[1]) - int(of[2]))


def _can_widen(present: str, wanted: str) -> bool:
    if (present, wanted) in _WIDENED:
        return True
    old, new = _DECIMAL.fullmatch(present), _DECIMAL.fullmatch(wanted)
    return bool(old and new and old[2] == new[2] and int(new[1]) > int(old[1]))


def _refused(table: TableName, new: Sequence[Field], gone: Sequence[Field], widen: Sequence[Field]) -> BadBatch:
    said = [
        f"{label} {', '.join(f'{field.name} {field.type}' for field in fields)}"
        for label, fields in (("new:", new), ("missing:", gone), ("wider:", widen))
        if fields
    ]
    return _unfit(
        table,
        f"the result's columns differ from the table's ({'; '.join(said)}), and on_schema_change is fail",
        "Set on_schema_change to append or sync, or change the query.",
    )


def _refuse_fixed(table: TableName, gone: Iterable[Field], fixed: Collection[str]) -> None:
    for field in gone:
        if field.name in fixed:
            raise _unfit(
                table,
                f"the column {field.name!r} is gone from the result, and the table is partitioned or sorted by it",
                "Bring it back, or make the table anew.",
            )


def alterations(table: TableName, change: SchemaChange) -> tuple[str, ...]:
    """The statements that prepare a table for the branch; its readers see no row change."""
    added = ", ".join(f"{spark_identifier(field.name)} {field.type}" for field in change.add)
    adding = (f"ALTER TABLE {table.spark} ADD COLUMNS ({added})",) if change.add else ()
    widening = (
        f"ALTER TABLE {table.spark} ALTER COLUMN {spark_identifier(field.name)} TYPE {field.type}" for field in change.widen
    )
    return (*adding, *widening)
