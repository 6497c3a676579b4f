"""How a table's files are partitioned and sorted, and how that follows a pipeline's config; only
new files do. Pure.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from lakebed.errors import near, suggestion
from lakebed.names import TableName, spark_identifier
from lakebed.tables.columns.renames import Renames, apply_renames
from lakebed.tables.statements import string_literal

_TRANSFORMS = {
    "identity",
    "year",
    "month",
    "day",
    "hour",
    "years",
    "months",
    "days",
    "hours",
    "bucket",
    "truncate",
}
_CALL = re.compile(r"(\w+)\(\s*(?:(\d+)\s*,\s*)?([^,()]+?)\s*(?:,\s*(\d+)\s*)?\)")
_SORTED = re.compile(
    r"(?P<by>.+?)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?", re.IGNORECASE
)
_DISTRIBUTION, _ROW_GROUP = "write.distribution-mode", "write.parquet.row-group-size-bytes"


class PartitionField(BaseModel):
    """One field of a table's partitioning: a column, or a transform of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: str
    transform: str = "identity"
    width: int | None = None

    @model_validator(mode="after")
    def _known(self) -> "PartitionField":
        if self.transform not in _TRANSFORMS:
            raise ValueError(
                f"there is no transform {self.transform!r}."
                f" {suggestion(near(self.transform, _TRANSFORMS))}"
            )
        if (self.transform in {"bucket", "truncate"}) != (self.width is not None):
            raise ValueError(
                f"{self.transform}: a width goes with bucket and truncate only, as in bucket(8, id)"
            )
        return self

    @property
    def spark(self) -> str:
        """As Spark's PARTITIONED BY writes it."""
        column = spark_identifier(self.column)
        if self.transform == "identity":
            return column
        if self.width is not None:
            return f"{self.transform}({self.width}, {column})"
        return f"{self.transform.rstrip('s')}s({column})"

    def __str__(self) -> str:
        """As a table's metadata writes it."""
        if self.transform == "identity":
            return self.column
        if self.width is not None:
            return f"{self.transform}({self.width}, {self.column})"
        return f"{self.transform.rstrip('s')}({self.column})"


def parse_partition_field(given: Any) -> Any:
    """`day(at)`, `bucket(8, id)`, `country`, or a mapping."""
    if not isinstance(given, str):
        return given
    call = _CALL.fullmatch(given.strip())
    if not call:
        return {"column": given.strip().strip("`")}
    width = call[2] or call[4]
    return {
        "transform": call[1].casefold(),
        "column": call[3].strip("`"),
        "width": int(width) if width else None,
    }


@dataclass(frozen=True)
class SortField:
    """One term of a sort order."""

    by: PartitionField
    descending: bool = False
    nulls_first: bool = True

    @property
    def spark(self) -> str:
        return (
            f"{self.by.spark} {'DESC' if self.descending else 'ASC'} NULLS"
            f" {'FIRST' if self.nulls_first else 'LAST'}"
        )

    def __str__(self) -> str:
        unusual = (
            f" nulls {'first' if self.nulls_first else 'last'}"
            if self.nulls_first == self.descending
            else ""
        )
        return f"{self.by} {'desc' if self.descending else 'asc'}{unusual}"


def parse_sort_field(given: str) -> SortField:
    """`id`, `at desc`, `bucket(8, id) desc nulls first`.

    NULLs sort first, or last if descending, unless given.
    """
    found = _SORTED.fullmatch(given.strip())
    if not found:
        raise ValueError("a column is needed to sort by")
    down = (found["way"] or "").casefold() == "desc"
    nulls_first = found["nulls"].casefold() == "first" if found["nulls"] else not down
    return SortField(
        PartitionField.model_validate(parse_partition_field(found["by"])), down, nulls_first
    )


@dataclass(frozen=True)
class Arrangement:
    """A table's partitioning and sort order; None in a pipeline's config: the table keeps
    its own.
    """

    partition_by: tuple[PartitionField, ...] | None = None
    sort_by: tuple[SortField, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(
            field.column
            for field in (*(self.partition_by or ()), *(term.by for term in self.sort_by or ()))
        )

    def with_renames(self, renames: Renames) -> "Arrangement":
        """The same after columns were renamed."""

        def moved(field: PartitionField) -> PartitionField:
            return field.model_copy(update={"column": apply_renames((field.column,), renames)[0]})

        partition = None if self.partition_by is None else tuple(map(moved, self.partition_by))
        terms = self.sort_by
        return Arrangement(
            partition,
            (
                None
                if terms is None
                else tuple(SortField(moved(t.by), t.descending, t.nulls_first) for t in terms)
            ),
        )


@dataclass(frozen=True)
class ArrangementChange:
    """Partition fields to drop and add, and a new sort order; None: unchanged, empty: unsorted from
    now on.
    """

    drop: tuple[PartitionField, ...] = ()
    add: tuple[PartitionField, ...] = ()
    sort: tuple[SortField, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.drop or self.add or self.sort is not None)


def arrangement_of(partition_by: Sequence[str], sort_by: Sequence[str]) -> Arrangement:
    """A table's arrangement, from the texts of its metadata."""
    fields = (PartitionField.model_validate(parse_partition_field(field)) for field in partition_by)
    return Arrangement(tuple(fields), tuple(map(parse_sort_field, sort_by)))


def plan_arrangement(present: Arrangement, wanted: Arrangement) -> ArrangementChange:
    """The change from the present arrangement to the wanted one.

    Another order of the same partition fields is no change: it would prune nothing more.
    """
    there, asked = _by_text(present.partition_by), _by_text(wanted.partition_by)
    stays = wanted.partition_by is None
    drop = () if stays else tuple(field for said, field in there.items() if said not in asked)
    add = () if stays else tuple(field for said, field in asked.items() if said not in there)
    sorted_so = [str(term).casefold() for term in present.sort_by or ()]
    same = wanted.sort_by is None or [str(term).casefold() for term in wanted.sort_by] == sorted_so
    return ArrangementChange(drop, add, None if same else wanted.sort_by)


def _by_text(fields: Collection[PartitionField] | None) -> dict[str, PartitionField]:
    return {str(field).casefold(): field for field in fields or ()}


def arrangement_statements(
    table: TableName, change: ArrangementChange, *, properties: Mapping[str, str]
) -> tuple[str, ...]:
    """The statements of a change; `properties` are the write properties of the new sort order."""
    alter = f"ALTER TABLE {table.spark}"
    partition = (
        *(f"{alter} DROP PARTITION FIELD {field.spark}" for field in change.drop),
        *(f"{alter} ADD PARTITION FIELD {field.spark}" for field in change.add),
    )
    if change.sort is None:
        return partition
    # Spark sets the distribution together with the order; without an order the partitioning decides
    # again.
    unordered = (
        f"{alter} WRITE UNORDERED",
        f"{alter} UNSET TBLPROPERTIES IF EXISTS ({string_literal(_DISTRIBUTION)})",
    )
    order = (order_statement(table, change.sort),) if change.sort else unordered
    return (
        *partition,
        *order,
        (
            f"{alter} SET TBLPROPERTIES ({string_literal(_ROW_GROUP)} ="
            f" {string_literal(properties[_ROW_GROUP])})"
        ),
    )


def order_statement(table: TableName, terms: Sequence[SortField]) -> str:
    """The statement that makes Spark sort new files."""
    return f"ALTER TABLE {table.spark} WRITE ORDERED BY {', '.join(term.spark for term in terms)}"
