"""Which batch the rows of a data file belong to, told by its partition values. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from lakebed.batches.keys import BatchKey, KeyValue, KeyValues, label, type_problem
from lakebed.ports import Column
from lakebed.types import read_iceberg_type

IDENTITY = "identity"
# the values of a file's partition fields, by the id of their column and their transform
PartitionValues: TypeAlias = Mapping[tuple[int, str], object]


def batch_keys(columns: Sequence[Column], names: Sequence[str]) -> tuple[BatchKey, ...]:
    """The batch columns with their types, under the names that the table has for them.

    `KeyError` if the table has no such column.
    """
    known = {column.name.casefold(): column for column in columns}
    chosen = [known[name.casefold()] for name in names]
    return tuple(BatchKey(one.name, read_iceberg_type(one.type)) for one in chosen)


class FileLabels:
    """Tells the batches of one table's files.

    Built from the columns of that table: a layout has other column ids than its source.
    """

    def __init__(self, columns: Sequence[Column], names: Sequence[str]) -> None:
        known = {column.name.casefold(): column.id for column in columns}
        self.keys = batch_keys(columns, names)
        self._ids = tuple(known[key.name.casefold()] for key in self.keys)

    @property
    def identity(self) -> tuple[object, ...]:
        """Two that are equal in this tell the same labels."""
        return (self.keys, self._ids)

    def values(self, partition: PartitionValues) -> KeyValues | None:
        """The batch that all rows of a file are in; None if that is not certain."""
        found: list[KeyValue] = []
        for id_ in self._ids:
            if (id_, IDENTITY) not in partition:
                return None
            value = partition[id_, IDENTITY]
            if value is not None and not isinstance(value, str | int | date | Decimal):
                return None
            found.append(value)
        return tuple(found)

    def label(self, partition: PartitionValues) -> str | None:
        """The label of that batch; None if it is not certain."""
        values = self.values(partition)
        return None if values is None else label(self.keys, values)


def batch_key_problem(column: Column) -> str:
    """Why a column cannot tell batches apart; empty if it can."""
    return type_problem(read_iceberg_type(column.type))
