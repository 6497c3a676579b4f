"""Which key can be checked in bitmaps. Pure."""

from collections.abc import Sequence

from lakebed.ports import Field
from lakebed.tables.merging.row_equality import find_column
from lakebed.tables.merging.strategies import Strategy
from lakebed.types import INTEGER_BITS


def integer_key(strategy: Strategy, columns: Sequence[Field]) -> str | None:
    """The one column that is the key of a strategy with one row per key, if it holds integers."""
    found = find_column(strategy.keys[0], columns) if len(strategy.keys) == 1 else None
    fits = strategy.one_row_per_key and found and found.type in INTEGER_BITS
    return found.name if found and fits else None
