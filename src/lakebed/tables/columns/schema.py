"""How a table's columns follow a result's columns, decided before anything is written. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.errors import BadBatch
from lakebed.names import TableName, spark_identifier
from lakebed.ports import ColumnAlias, Field
from lakebed.tables.columns.fitting import IncompatibleType, NestedChange, plan_type_change
from lakebed.tables.columns.renames import Renames, apply_renames, inverse_renames
from lakebed.types import is_storable, read_table_type

SchemaPolicy = Literal["fail", "append", "sync"]
ByName = dict[str, Field]  # by casefolded name


@dataclass(frozen=True)
class SchemaChange:
    """The change to a table's columns.

    Before the gates columns are only added; `final` and `renames` wait for publishing.

    A column whose type cannot change is replaced: its values are written to a temporary column,
    which is renamed when the old column is dropped.
    """

    add: tuple[Field, ...] = ()
    widen: tuple[Field, ...] = ()
    nested: tuple[NestedChange, ...] = ()
    final: tuple[str, ...] | None = (
        None  # the columns after publishing, in order, by their present names; None: unchanged
    )
    renames: Renames = ()  # from the present name to the name after publishing

    @property
    def before_gates(self) -> bool:
        return bool(self.add or self.widen or self.nested)

    @property
    def at_publishing(self) -> bool:
        return self.final is not None or bool(self.renames)

    @property
    def touched(self) -> tuple[str, ...]:
        """The columns that are new or change type."""
        return (
            *(field.name for field in (*self.add, *self.widen)),
            *(change.path[0] for change in self.nested),
        )

    def aliases(self, present: Sequence[str]) -> tuple[ColumnAlias, ...]:
        """The branch's columns under their names after publishing; none if no name changes."""
        if not self.renames:
            return ()
        kept = present if self.final is None else self.final
        return tuple(
            ColumnAlias(new, old)
            for old, new in zip(kept, apply_renames(kept, self.renames), strict=True)
        )


def plan_schema(
    table: TableName,
    present: Sequence[Field],
    result: Sequence[Field],
    *,
    policy: SchemaPolicy,
    own: Collection[str] = (),
    fixed: Collection[str] = (),
    renames: Renames = (),
    replaces: bool = False,
) -> SchemaChange:
    """What must change in `present` columns to store `result`; raises `BadBatch` if that is not
    allowed.

    `own` are the strategy's columns; `fixed` (casefolded) may not be dropped; `renames` are
    pending; `replaces`: no row of the table stays.
    """
    require_storable_columns(table, result)
    _refuse_renames(table, result, renames, own)
    own = apply_renames(tuple(own), inverse_renames(renames))
    there = {field.name.casefold(): field for field in present}
    arriving = _under_present_names(result, renames)
    new = tuple(field for name, field in arriving.items() if name not in there)
    gone = tuple(
        field for name, field in there.items() if name not in arriving and field.name not in own
    )
    inside, temporary = _followed(table, there, arriving, replaces=replaces and policy == "sync")
    if policy == "fail" and (new or gone or inside):
        raise _refused(table, new, gone, inside)
    change = SchemaChange(
        (*new, *(Field(to, arriving[name].type) for name, to in temporary.items())),
        tuple(Field(change.path[0], change.type) for change in inside if len(change.path) == 1),
        tuple(change for change in inside if len(change.path) > 1),
        renames=_renamed_with(temporary, there, renames),
    )
    if policy != "sync":
        return change
    _refuse_fixed(table, (*gone, *(there[name] for name in temporary)), fixed)
    return _synced(change, there, arriving, temporary, own)


def _renamed_with(temporary: dict[str, str], there: ByName, renames: Renames) -> Renames:
    """A temporary column gets the old column's name, or the name of a pending rename."""
    news = {old.casefold(): new for old, new in renames}
    kept = (pair for pair in renames if pair[0].casefold() not in temporary)
    return (*kept, *((to, news.get(name, there[name].name)) for name, to in temporary.items()))


def _synced(
    change: SchemaChange,
    there: ByName,
    arriving: ByName,
    temporary: dict[str, str],
    own: Iterable[str],
) -> SchemaChange:
    """The change that makes the columns the result's, in its order, with the strategy's own columns
    last.
    """
    final = (
        *(temporary.get(name) or there.get(name, field).name for name, field in arriving.items()),
        *(name for name in own if name.casefold() in there),
    )
    after = (*(field.name for field in there.values()), *(field.name for field in change.add))
    return SchemaChange(
        change.add, change.widen, change.nested, final if final != after else None, change.renames
    )


def _under_present_names(result: Iterable[Field], renames: Renames) -> ByName:
    olds = {new.casefold(): old for old, new in renames}
    fields = (Field(olds.get(field.name.casefold(), field.name), field.type) for field in result)
    return {field.name.casefold(): as_stored(field) for field in fields}


def _refuse_renames(
    table: TableName, result: Iterable[Field], renames: Renames, own: Collection[str]
) -> None:
    names = {field.name.casefold() for field in result}
    for old, new in renames:
        if old.casefold() in names:
            raise _unfit(
                table,
                f"{old} is renamed to {new}, and the result still has a column {old!r}",
                "Leave it out of the result.",
            )
        if new.casefold() not in names and new not in own:
            what = f"{old} is renamed to {new}, and the result has no column {new!r}"
            raise _unfit(table, what, f"Call it so in the query: {old} AS {new}.")


def as_stored(field: Field) -> Field:
    """The field as Iceberg stores it."""
    return Field(field.name, read_table_type(field.type).spark)


def require_storable_columns(table: TableName, result: Iterable[Field]) -> None:
    """Raise for column names that differ at most in case, and for types that no table can store."""
    seen: dict[str, str] = {}
    for field in result:
        if other := seen.get(field.name.casefold()):
            raise _unfit(
                table,
                f"the columns {other!r} and {field.name!r} have the same name",
                "Rename one of them.",
            )
        seen[field.name.casefold()] = field.name
        if not is_storable(read_table_type(field.type)):
            advice = f"Cast it: CAST({field.name} AS STRING), for example."
            raise _unfit(
                table,
                f"the column {field.name!r} is of type {field.type}, which no table can store",
                advice,
            )


def _unfit(table: TableName, what: str, next: str) -> BadBatch:
    return BadBatch(f"{what}.", where=str(table), safe="Nothing was written.", next=next)


def _followed(
    table: TableName, there: ByName, arriving: ByName, *, replaces: bool
) -> tuple[tuple[NestedChange, ...], dict[str, str]]:
    """What must change in the columns that stay, and temporary names for those that must be
    replaced.
    """
    inside: list[NestedChange] = []
    temporary: dict[str, str] = {}
    for name, present in there.items():
        if name not in arriving:
            continue
        try:
            inside += plan_type_change(
                read_table_type(present.type), read_table_type(arriving[name].type), (present.name,)
            )
        except IncompatibleType as unfit:
            if not replaces:
                advice = (
                    f"Cast it in the query: CAST({present.name} AS {present.type}), or give the new"
                    " column another name."
                )
                raise _unfit(table, str(unfit), f"{advice} {_REPLACING}") from None
            temporary[name] = _temporary_name(present.name, {*there, *arriving})
    return tuple(inside), temporary


_REPLACING = "To replace it with all its values: on_schema_change: sync, and --full-refresh."


def _temporary_name(name: str, taken: Collection[str]) -> str:
    temporary = f"__new_{name}"
    while temporary.casefold() in taken:
        temporary += "_"
    return temporary


def _refused(
    table: TableName, new: Sequence[Field], gone: Sequence[Field], inside: Sequence[NestedChange]
) -> BadBatch:
    added = [*new, *(Field(change.dotted, change.type) for change in inside if change.is_new)]
    wider = [Field(change.dotted, change.type) for change in inside if not change.is_new]
    said = [
        f"{label} {', '.join(f'{field.name} {field.type}' for field in fields)}"
        for label, fields in (("new:", added), ("missing:", gone), ("wider:", wider))
        if fields
    ]
    return _unfit(
        table,
        f"the result's columns differ from the table's ({'; '.join(said)}), and on_schema_change is"
        " fail",
        "Set on_schema_change to append or sync, or change the query.",
    )


def _refuse_fixed(table: TableName, gone: Iterable[Field], fixed: Collection[str]) -> None:
    for field in gone:
        if field.name.casefold() in fixed:
            raise _unfit(
                table,
                f"the column {field.name!r} is gone or of another type, and the table is"
                " partitioned or sorted by it",
                "Bring it back, or change partition_by and sort_by.",
            )


def drop_statements(
    table: TableName, present: Sequence[Field], change: SchemaChange
) -> tuple[str, ...]:
    """Statements that drop the columns a change leaves out at once, for a table that nobody reads
    yet.
    """
    if change.final is None:
        return ()
    stay = {name.casefold() for name in change.final}
    gone = (field.name for field in present if field.name.casefold() not in stay)
    return tuple(f"ALTER TABLE {table.spark} DROP COLUMN {spark_identifier(name)}" for name in gone)


def alter_statements(table: TableName, change: SchemaChange) -> tuple[str, ...]:
    """Statements that prepare a table for the branch; its readers see no row change."""
    columns = (f"{spark_identifier(field.name)} {field.type}" for field in change.add)
    added = ", ".join((*columns, *(part.spark for part in change.nested if part.is_new)))
    adding = (f"ALTER TABLE {table.spark} ADD COLUMNS ({added})",) if added else ()
    wider = (
        *(f"{spark_identifier(field.name)} TYPE {field.type}" for field in change.widen),
        *(part.spark for part in change.nested if not part.is_new),
    )
    return (*adding, *(f"ALTER TABLE {table.spark} ALTER COLUMN {column}" for column in wider))
