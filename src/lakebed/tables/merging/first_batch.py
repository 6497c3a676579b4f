"""The rows of a table after its first batch, as a query. Pure."""

from collections.abc import Sequence

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables.merging.merge import newest_rows
from lakebed.tables.merging.strategies import Strategy


def first_batch_rows(
    strategy: Strategy, *, staged: str, columns: Sequence[Field], now: str, repeats: bool = True
) -> str:
    """The rows that a strategy makes of a staged batch in an empty table: for first runs and full
    refreshes.
    """
    rows = newest_rows(strategy, staged=staged, columns=columns, repeats=repeats)
    own = (
        f"{now if name == strategy.valid_from else 'NULL'} AS {spark_identifier(name)}"
        for name, _ in strategy.own_columns
    )
    return f"SELECT {', '.join(['*', *own])} FROM ({rows})"
