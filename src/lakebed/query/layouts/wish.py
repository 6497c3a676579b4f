"""What a query says about layouts: whether they may be used, and which."""

from collections.abc import Callable
from dataclasses import dataclass

from lakebed.query.layouts.verdict import LayoutReason
from lakebed.requests import Engine


@dataclass(frozen=True)
class LayoutWish:
    """Why no layout may be used, or the one that is to be."""

    refused: LayoutReason | None = None
    forced: tuple[str, ...] = ()
    engine: Engine = "duckdb"


# Decided only for queries of tables that have layouts. It is told the names of their columns.
Wish = Callable[[frozenset[str]], LayoutWish]
