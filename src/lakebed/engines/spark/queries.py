"""A query answered by Spark."""

from collections.abc import Iterator
from typing import Any

from lakebed.engines.spark.failures import as_failure
from lakebed.errors import BadQuery, LakebedError
from lakebed.ports import Compute, OperatorProfile
from lakebed.query.planning.plan import QueryPlan


class SparkRows:
    """The rows of a query, in its own session, one partition after another."""

    truncated = False

    def __init__(self, compute: Compute, plan: QueryPlan) -> None:
        self._compute: Compute | None = compute
        try:
            self._frame = compute.query(plan.text)
            self.columns = tuple((field.name, field.type) for field in compute.fields(self._frame))
        except LakebedError as error:
            self.close()
            raise BadQuery(error.what, next=error.next) from error
        self._rows: Iterator[Any] | None = None

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        try:
            if self._rows is None:
                self._rows = iter(self._frame.toLocalIterator())
            for row in self._rows:
                found.append(tuple(row))
                if len(found) == count:
                    break
        except Exception as error:
            raise as_failure(error) from error
        return found

    def reader(self, rows: int) -> Any:
        try:
            return self._frame.toArrow().to_reader(rows)
        except Exception as error:
            raise as_failure(error) from error

    def operators(self) -> tuple[OperatorProfile, ...]:
        return ()

    def close(self) -> None:
        compute, self._compute = self._compute, None
        if compute is not None:
            compute.close()
