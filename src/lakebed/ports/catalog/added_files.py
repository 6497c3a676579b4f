"""Files of others that become part of a table as they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ColumnStatistics:
    """What a file's footer says of one top-level column; None where it does not say.

    Bounds are values as Iceberg stores them: days and microseconds since 1970 for times.
    """

    values: int
    nulls: int | None = None
    lower: object = None
    upper: object = None


@dataclass(frozen=True)
class AddedFile:
    """A Parquet file without field ids; `partition` has the values of the table's partition
    fields, all of which are identities.
    """

    location: str
    size: int
    rows: int
    partition: tuple[object, ...] = ()
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    offsets: tuple[int, ...] = ()  # where row groups begin
