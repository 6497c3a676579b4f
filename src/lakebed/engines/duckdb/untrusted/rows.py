"""The rows of an untrusted query, like those of any other."""

from typing import Any

from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery
from lakebed.ports import OperatorProfile


class ConfinedRows:
    """The rows as they come out of the child."""

    def __init__(self, query: ConfinedQuery) -> None:
        self._query = query
        try:
            self._reader = query.reader()
        except BaseException:
            query.close()
            raise
        self._pending: list[tuple[Any, ...]] = []
        self.columns = tuple((field.name, str(field.type)) for field in self._reader.schema)

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        while not self._pending:
            batch = next(self._reader, None)
            if batch is None:
                return []
            self._pending = list(
                zip(*(column.to_pylist() for column in batch.columns), strict=True)
            )
        found, self._pending = self._pending[:count], self._pending[count:]
        return found

    def reader(self, rows: int) -> Any:
        return self._reader

    def operators(self) -> tuple[OperatorProfile, ...]:
        return ()

    @property
    def truncated(self) -> bool:
        """Whether rows were left out, because the answer reached its bound; known at its end."""
        return self._query.truncated

    def cancel(self) -> None:
        """End it now, from any thread."""
        self._query.cancel()

    def close(self) -> None:
        self._query.close()
