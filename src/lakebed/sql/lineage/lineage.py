"""From which columns of which tables each column of a query comes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ColumnSource:
    """A column of a table that is read."""

    table: str
    column: str


Sources = tuple[ColumnSource, ...] | None
Schemas = Mapping[str, Mapping[str, str]]  # table → column → type


def column_lineage(text: str, schemas: Schemas, *, logical: Callable[[str], str] = str) -> dict[str, Sources]:
    """For each column a query returns, in their order, the columns its values come from.

    `()`: from none, such as a constant or `count(*)`. `None`: it cannot be known. A star that cannot be written out is one
    entry `*`; a column without a name is `_col_0` by its position; what cannot be analysed at all gives no entries.
    Conditions (WHERE, ON, GROUP BY) do not count; the order and partitions of a window do, and so does what PIVOT is FOR.

    `schemas` are the columns of the tables by their logical names. `logical` turns a table as it stands in the text, without
    quotes and version (`lake.shop.silver.orders.branch_run_1`), into such a name.
    """
    from lakebed.sql.lineage.origins import origins

    try:
        return origins(text, schemas, logical)
    except Exception:  # the analysis is not ours, and a lineage is not worth a failed run
        return {}
