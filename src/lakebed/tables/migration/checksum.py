"""A checksum of rows that does not depend on their order, as Spark SQL. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.merging.row_equality import comparable
from lakebed.types import Array, Map, Struct, parse_type

_JSON = (
    "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS',"
    " 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


@dataclass(frozen=True)
class RowSum:
    """How many rows there are, and the sum of their hashes: equal for the same rows in any order.

    A sum, since XOR would not see that a row is there twice.
    """

    rows: int = 0
    checksum: int = 0

    def __add__(self, other: "RowSum") -> "RowSum":
        return RowSum(self.rows + other.rows, self.checksum + other.checksum)


NO_ROWS = RowSum()


def row_sum_query(relation: str, columns: Sequence[Field], *, by: Sequence[str] = ()) -> str:
    """A query of one row: `rows` and `checksum` of a relation for FROM with these columns; of one
    row for each value of `by`, which are SQL, and come first, as `by_0` and so on.
    """
    hashes = (f"xxhash64({place}, {_hashable(column)})" for place, column in enumerate(columns))
    of_row = f"xxhash64({', '.join(hashes)})"
    groups = "".join(f"{one} AS by_{place}, " for place, one in enumerate(by))
    places = ", ".join(str(place) for place in range(1, len(by) + 1))
    return (
        f"SELECT {groups}count(*) AS rows,"
        f" coalesce(sum(CAST({of_row} AS DECIMAL(20, 0))), 0) AS checksum"
        f" FROM {relation}{f' GROUP BY {places}' if by else ''}"
    )


def _hashable(column: Field) -> str:
    """Spark's hash leaves NULLs out, so `[NULL, 1]` and `[1]` would be the same: what may hold
    NULLs inside is hashed as text. A column that is NULL is told by its place.
    """
    name = comparable(spark_identifier(column.name), column.type)
    if isinstance(parse_type(column.type, strict=False), Array | Map | Struct):
        return f"to_json(struct({name} AS v), {_JSON})"
    return name


def read_row_sum(row: Mapping[str, Any]) -> RowSum:
    """The result of `row_sum_query`."""
    return RowSum(int(row["rows"]), int(row["checksum"]))
