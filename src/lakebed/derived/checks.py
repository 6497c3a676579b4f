"""Whether a layout can be made of a table, and what it is once nothing is left open. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lakebed.derived.labels import batch_key_problem
from lakebed.derived.spec import LayoutSpec
from lakebed.errors import LakebedError, NameTaken, UnknownName, UsageError
from lakebed.name_rules import NameRule
from lakebed.names import TableName
from lakebed.ports import Column, TableMetadata
from lakebed.tables import PartitionField
from lakebed.types import Primitive, read_iceberg_type, read_table_type

LAYOUT_NAMES = NameRule(
    "layout", r"[\w-]+", "it consists of letters, digits, '_' and '-'", longest=128
)
_TIMES = {"timestamp", "timestamp_ntz", "timestamp_ns", "timestamptz_ns"}
_WHOLE = {"int", "bigint", "decimal", "string", "binary"}
_DATES = {"date", *_TIMES}
# the types that each transform can be computed of, by Spark's names; identity: of any but nested
_SUITABLE = {
    "year": _DATES,
    "month": _DATES,
    "day": _DATES,
    "hour": _TIMES,
    "truncate": _WHOLE,
    "bucket": {*_WHOLE, *_DATES, "time", "uuid", "fixed"},
}
_OF_TIME = {"year", "month", "day", "hour"}


@dataclass(frozen=True)
class DeclaredLayouts:
    """What the pipeline of a table declares, and the columns that its batches are told by."""

    specs: tuple[LayoutSpec, ...] = ()
    batch_columns: tuple[str, ...] = ()
    where: str = ""  # the file that declares it
    key: str = "layouts"  # under which it does


def complete_spec(
    spec: LayoutSpec, source: TableMetadata, *, batch_columns: Sequence[str] = ()
) -> LayoutSpec:
    """The spec with batch columns, and with all columns spelt as the table spells them.

    Batches are those of the table's pipeline; without any, values of its first partition column
    that can be a batch key; without one, the whole table is one batch.
    """
    asked = spec.batch_by if spec.batch_by is not None else spec.incremental_keys or None
    chosen = _default_batch(source, batch_columns) if asked is None else asked
    spelt = {column.name.casefold(): column.name for column in source.columns}
    complete = spec.model_copy(update={"batch_by": tuple(chosen)})
    return _with_names(complete, lambda name: spelt.get(name.casefold(), name))


def _with_names(spec: LayoutSpec, named: Callable[[str], str]) -> LayoutSpec:
    """The same with other names for its columns."""

    def field(one: PartitionField) -> PartitionField:
        return one.model_copy(update={"column": named(one.column)})

    order = (replace(term, by=field(term.by)) for term in spec.order) if spec.sort_by else ()
    return spec.model_copy(
        update={
            "partition_by": tuple(map(field, spec.partition_by)),
            "sort_by": tuple(map(str, order)),
            "batch_by": tuple(map(named, spec.batch_columns)),
        }
    )


def _default_batch(source: TableMetadata, declared: Sequence[str]) -> tuple[str, ...]:
    columns = {column.name.casefold(): column for column in source.columns}
    if declared and all(name.casefold() in columns for name in declared):
        return tuple(declared)
    found = (columns.get(field.casefold()) for field in source.partition_by)
    return tuple(one.name for one in found if one and not batch_key_problem(one))[:1]


def require_source(table: TableName) -> None:
    """Raise for a table that has no layouts: a hidden one, hence a layout, too."""
    if table.hidden:
        what = "a layout" if table.derived else "one of Lakebed's own hidden tables"
        raise UsageError(
            f"{table} is {what}: only tables that people name have layouts.",
            next="Name the table itself; lakebed ls lists them.",
        )


def require_possible(spec: LayoutSpec, table: TableName, source: TableMetadata) -> None:
    """Raise if the layout cannot be made of the table."""
    if spec.name:
        LAYOUT_NAMES.require("layout", spec.name)
    columns = {column.name.casefold(): column for column in source.columns}
    terms = (*spec.partition_by, *(term.by for term in spec.order))
    for name in (*(field.column for field in terms), *spec.batch_columns):
        if name.casefold() not in columns:
            known = [column.name for column in source.columns]
            raise UnknownName(f"column of {table}", name, known)
    for field in terms:
        _require_suitable(field, columns[field.column.casefold()], table)
    for name in spec.batch_columns:
        if problem := batch_key_problem(columns[name.casefold()]):
            raise _impossible(table, f"{name}: {problem}.", "Choose other columns as batch_by.")
    _require_types(spec, table, columns)
    _require_one_time(spec.fields, table)


def impossible_layouts(
    declared: DeclaredLayouts, table: TableName, source: TableMetadata | None
) -> Iterator[str]:
    """What is wrong with each layout that cannot be made of the table; of one that does not exist
    yet no column is known.
    """
    for spec in declared.specs:
        try:
            if source is None:
                _require_one_time(spec.fields, table)
            else:
                complete = complete_spec(spec, source, batch_columns=declared.batch_columns)
                require_possible(complete, table, source)
        except UnknownName as error:
            yield f"the layout {spec.label} cannot be built unless this run adds it: {error.what}"
        except LakebedError as error:
            yield f"the layout {spec.label} cannot be built: {error.what}"


def _require_suitable(field: PartitionField, column: Column, table: TableName) -> None:
    type_ = read_iceberg_type(column.type)
    transform = field.transform.removesuffix("s")
    if transform == "identity" and isinstance(type_, Primitive):
        return
    if isinstance(type_, Primitive) and type_.name in _SUITABLE.get(transform, ()):
        return
    what = f"{field} cannot be computed: {column.name} is of type {type_}."
    able = [name for name, types in _SUITABLE.items() if type_.name in types]
    raise _impossible(table, what, f"Of this type there is {', '.join(able)}." if able else "")


def _require_types(spec: LayoutSpec, table: TableName, columns: dict[str, Column]) -> None:
    for name, declared in spec.types.items():
        column = columns[name.casefold()]
        has, wanted = read_iceberg_type(column.type), read_table_type(declared)
        if has != wanted:
            what = f"the layout {spec.label} declares {name} as {wanted}, and the table has {has}."
            raise _impossible(table, what, "A layout has the types of its table: leave them out.")


def _require_one_time(fields: Iterable[PartitionField], table: TableName) -> None:
    """Iceberg takes only one of year, month, day and hour of a column."""
    seen: dict[str, PartitionField] = {}
    for field in fields:
        if field.transform.removesuffix("s") not in _OF_TIME:
            continue
        if former := seen.get(field.column.casefold()):
            raise _impossible(table, f"{former} and {field} exclude each other.", "Keep the finer.")
        seen[field.column.casefold()] = field


def _impossible(table: TableName, what: str, next: str) -> UsageError:
    return UsageError(what, where=str(table), next=next)


def require_free_label(spec: LayoutSpec, taken: Iterable[str], table: TableName) -> None:
    """Raise if another layout of the table has this name."""
    if spec.label.casefold() in {name.casefold() for name in taken}:
        raise NameTaken(
            f"{table} already has a layout {spec.label}.",
            where=str(table),
            next=f"Choose another name, or drop it: lakebed layout drop {table} {spec.label}",
        )


def only_reorders(spec: LayoutSpec, source: TableMetadata) -> bool:
    """Whether it has the partitions of the table in another order, and no order that the table does
    not have: then no query can leave out more files. With some of them alone it has fewer files.
    """
    fields = {str(field).casefold() for field in spec.fields}
    here = [str(term).casefold() for term in spec.order]
    there = [term.casefold() for term in source.sort_by]
    return fields == {field.casefold() for field in source.partition_by} and (
        here == there[: len(here)]
    )


def renamed_spec(spec: LayoutSpec, source: TableMetadata) -> LayoutSpec:
    """The spec after columns of the table were renamed since it was given: a name that the table
    had, and has no longer, means the column that had it.
    """
    present = {column.id: column.name for column in source.columns}
    known = {name.casefold() for name in present.values()}
    former = {
        column.name.casefold(): present[column.id]
        for columns in source.schemas.values()
        for column in columns
        if column.id in present and column.name.casefold() not in known
    }

    kept = spec.model_copy(update={"name": spec.label})
    return _with_names(kept, lambda name: former.get(name.casefold(), name))
