"""Which partitioning a table is to have, and whether it may. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import ByteSize, TypeAdapter, ValidationError

from lakebed.batches.state import BatchStates
from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName
from lakebed.ports import Column, TableMetadata
from lakebed.tables.arrangement import (
    Arrangement,
    ArrangementChange,
    PartitionField,
    arrangement_of,
    parse_partition_field,
    plan_arrangement,
)

_COMMA = re.compile(r",(?![^()]*\))")  # not inside of bucket(8, id)
_DATES = {"date", "timestamp", "timestamptz"}
_WHOLE = {"int", "long", "decimal", "string", "binary"}
_FITTING = {
    "year": _DATES,
    "month": _DATES,
    "day": _DATES,
    "hour": _DATES - {"date"},
    "bucket": _WHOLE | _DATES | {"time", "uuid", "fixed"},
    "truncate": _WHOLE,
}
_FORMAT = 2
_NESTED = {"struct", "list", "map"}


@dataclass(frozen=True)
class DeclaredPartitions:
    """How a pipeline declares that its table is partitioned; the draft and the release may
    differ.
    """

    where: str  # the file that says so
    partition_by: tuple[PartitionField, ...]
    batch_keys: tuple[str, ...] = ()


def read_partition_by(given: str | Sequence[str]) -> tuple[PartitionField, ...]:
    """`month(at), bucket(16, id)`, in one text or in several."""
    texts = [given] if isinstance(given, str) else list(given)
    parts = [part.strip() for text in texts for part in _COMMA.split(text) if part.strip()]
    return tuple(map(_field, parts))


def read_batch_size(given: str | int) -> int:
    """Bytes: `1GiB`, `256MB`, or a number."""
    try:
        size = int(TypeAdapter(ByteSize).validate_python(given))
    except ValidationError:
        size = 0
    if size <= 0:
        raise UsageError(f"--batch-size {given}: not a size.", next="Write 1GiB or 256MB.")
    return size


def _field(text: str) -> PartitionField:
    try:
        return PartitionField.model_validate(parse_partition_field(text))
    except ValidationError as error:
        why = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise UsageError(
            f"--partition-by {text}: {why}", next="Write it as in config.yaml: month(at), id."
        ) from None


def wanted_partitions(
    table: TableName,
    metadata: TableMetadata,
    asked: Sequence[PartitionField] | None,
    declared: Sequence[DeclaredPartitions],
    batches: BatchStates,
) -> tuple[PartitionField, ...]:
    """The partitioning that was asked for, or else the one that the pipeline declares."""
    if metadata.format_version != _FORMAT:
        raise UsageError(
            f"{table} has Iceberg format version {metadata.format_version}; only tables of version"
            f" {_FORMAT} can be migrated."
        )
    if asked is None and not declared:
        raise UsageError(
            f"no pipeline says how {table} is to be partitioned.",
            next="Say so: --partition-by 'month(at), bucket(16, id)', or --unpartitioned.",
        )
    wanted = tuple(asked) if asked is not None else declared[0].partition_by
    found = tuple(_known(table, field, metadata.columns) for field in wanted)
    _refuse_other_declarations(table, found, declared)
    _require_batch_keys(table, found, declared, batches)
    return found


def _known(table: TableName, field: PartitionField, columns: Sequence[Column]) -> PartitionField:
    column = next((one for one in columns if one.name.lower() == field.column.lower()), None)
    if column is None:
        raise UnknownName(f"column of {table}", field.column, [one.name for one in columns])
    kind = re.split(r"[\[(<]", column.type)[0]
    transform = field.transform.rstrip("s")
    fits = kind not in _NESTED if transform == "identity" else kind in _FITTING[transform]
    if not fits:
        raise UsageError(
            f"{table} cannot be partitioned by {field}: {column.name} is of type {column.type}."
        )
    return field.model_copy(update={"column": column.name})


def _refuse_other_declarations(
    table: TableName, wanted: Sequence[PartitionField], declared: Sequence[DeclaredPartitions]
) -> None:
    """Otherwise the next run would take the table back to what its pipeline declares."""
    for one in declared:
        if not is_same(wanted, one.partition_by):
            raise UsageError(
                f"{one.where} declares that {table} is partitioned by {_listed(one.partition_by)},"
                f" not by {_listed(wanted)}.",
                next=(
                    f"Write partition_by: [{', '.join(map(str, wanted))}] there (partitions.keys of"
                    f" a source), release it if it is released, then: lakebed table migrate {table}"
                ),
            )


def _require_batch_keys(
    table: TableName,
    wanted: Sequence[PartitionField],
    declared: Sequence[DeclaredPartitions],
    batches: BatchStates,
) -> None:
    """A batch replaces whole files: its keys stay partition fields."""
    known = {key for one in declared for key in one.batch_keys}
    for label in batches.batches:
        known |= {part.partition("=")[0] for part in label.split("/") if "=" in part}
    plain = {field.column.lower() for field in wanted if field.transform == "identity"}
    if missing := sorted(key for key in known if key.lower() not in plain):
        raise UsageError(
            f"{table} is written in batches by {', '.join(missing)}, so it stays partitioned by"
            " that.",
            next=f"Add it: --partition-by '{', '.join([*map(str, wanted), *missing])}'.",
        )


def is_same(one: Iterable[PartitionField], other: Iterable[PartitionField]) -> bool:
    """Whether two partitionings have the same fields; their order means nothing."""
    return not plan_arrangement(Arrangement(tuple(one)), Arrangement(tuple(other)))


def partition_change(
    metadata: TableMetadata, wanted: Sequence[PartitionField]
) -> ArrangementChange:
    """The partition fields to drop and to add; the sort order stays."""
    present = arrangement_of(metadata.partition_by, ())
    return plan_arrangement(present, Arrangement(tuple(wanted)))


def settled_specs(metadata: TableMetadata, wanted: Sequence[PartitionField]) -> frozenset[int]:
    """The partition specs of the table whose files are as wanted: they stay where they are."""
    return frozenset(id for id, fields in metadata.specs.items() if _has_fields(fields, wanted))


def _has_fields(fields: Sequence[str], wanted: Sequence[PartitionField]) -> bool:
    return sorted(map(str.casefold, fields)) == sorted(str(field).casefold() for field in wanted)


def _listed(fields: Iterable[object]) -> str:
    return ", ".join(map(str, fields)) or "nothing"
