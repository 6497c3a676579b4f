"""Column lineage: the table columns that each column of a query comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class ColumnSource:
    """A column of a table that is read."""

    table: str
    column: str


Sources = tuple[ColumnSource, ...] | None
Schemas = Mapping[str, Mapping[str, str]]  # table → column → type


def column_lineage(
    text: str, schemas: Schemas, *, logical: Callable[[str], str] = str
) -> dict[str, Sources]:
    """For each column that a query returns, in order, the columns its values come from.

    `()` means none, such as for a constant or `count(*)`; `None` means unknown. A star that cannot
    be expanded is one entry `*`; a column without a name is `_col_0` by position; a query that
    cannot be analysed has no entries. Conditions (WHERE, ON, GROUP BY) do not count; the order and
    partitions of a window do, and so does the FOR of PIVOT.

    `schemas` are the columns of tables by logical name. `logical` turns a table as written, without
    quotes and version (`lake.shop.silver.orders.branch_run_1`), into such a name.
    """
    from lakebed.sql.lineage.origins import origins

    try:
        return origins(text, schemas, logical)
    except Exception:  # sqlglot may fail in any way, and lineage is not worth a failed run
        return {}
