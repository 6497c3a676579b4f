"""The rows of a query that runs in DuckDB."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from lakebed.engines.duckdb.failures import as_failure
from lakebed.ports import OperatorProfile
from lakebed.query.planning.plan import QueryPlan

_TELLING = ("Filters", "Function", "Join Type", "Conditions", "Groups", "Aggregates", "Order By")


class DuckRows:
    """Rows that are computed as they are read."""

    truncated = False

    def __init__(self, connection: Any, plan: QueryPlan, close: Callable[[], None]) -> None:
        self._connection, self._plan, self._close = connection, plan, close
        self.columns = tuple(
            (str(column[0]), str(column[1])) for column in connection.description or ()
        )

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        with translated_errors(self._plan.sql, self._plan):
            rows: list[tuple[Any, ...]] = self._connection.fetchmany(count)
        return rows

    def reader(self, rows: int) -> Any:
        import pyarrow as pa

        with translated_errors(self._plan.sql, self._plan):
            reader = self._connection.to_arrow_reader(rows)
        return pa.RecordBatchReader.from_batches(reader.schema, self._checked(reader))

    def _checked(self, reader: Any) -> Iterator[Any]:
        with translated_errors(self._plan.sql, self._plan):
            yield from reader

    def operators(self) -> tuple[OperatorProfile, ...]:
        found = json.loads(self._connection.get_profiling_information(format="json"))
        return tuple(sorted(_operators(found), key=lambda one: one.ms, reverse=True))

    def close(self) -> None:
        self._close()


def _operators(tree: Mapping[str, Any]) -> Iterator[OperatorProfile]:
    for child in tree.get("children") or ():
        detail = ", ".join(
            f"{key}: {value}"
            for key, value in (child.get("extra_info") or {}).items()
            if key in _TELLING
        )
        yield OperatorProfile(
            child["operator_name"],
            detail,
            child["operator_timing"] * 1000,
            child["operator_cardinality"],
        )
        yield from _operators(child)


@contextmanager
def translated_errors(sql: str, plan: QueryPlan | None = None) -> Iterator[None]:
    """Errors of DuckDB about this text become Lakebed's."""
    try:
        yield
    except duckdb.Error as error:
        raise as_failure(error, plan.sql if plan else sql, plan.pieces if plan else ()) from None
    except OSError as error:  # how Arrow reports errors of DuckDB while it streams
        raise as_failure(error, plan.sql if plan else sql, plan.pieces if plan else ()) from None
