"""The queries that Spark is asked, in order."""

from typing import Any

import pytest

from lakebed.engines.spark.compute import SparkCompute


def record_queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows by each query whose rows are asked for; Spark answers as ever."""
    asked: list[str] = []
    rows = SparkCompute.rows

    def recorded(self: SparkCompute, query: Any, *, limit: int) -> Any:
        asked.append(str(query))
        return rows(self, query, limit=limit)

    monkeypatch.setattr(SparkCompute, "rows", recorded)
    return asked
