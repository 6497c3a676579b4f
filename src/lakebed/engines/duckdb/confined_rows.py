"""A planned query of a stranger, run in its own process, as rows like any other."""

from collections.abc import Sequence
from typing import Any

from lakebed.engines.duckdb.children import Children
from lakebed.engines.duckdb.confined import ConfinedQuery, Ground, Limits
from lakebed.engines.duckdb.extensions import loading
from lakebed.engines.duckdb.queries import needed_by
from lakebed.engines.duckdb.types import text
from lakebed.engines.duckdb.views import files_of, needs_iceberg, parts
from lakebed.query.plan import Pinned, Plan
from lakebed.query.run import Operator
from lakebed.query.stopping import Stop
from lakebed.settings import one_spelling


def confined(
    plan: Plan,
    *,
    timezone: str,
    reaching: Sequence[str] = (),
    limits: Limits | None = None,
    stop: Stop | None = None,
    children: Children | None = None,
) -> "ConfinedRows":
    """Begin it: the child sees the views of the plan and can open their files."""
    iceberg = needs_iceberg(plan.views)
    setup = (
        f"SET GLOBAL TimeZone = {text(timezone)}",
        *needed_by(plan),
        *([loading("httpfs")] if reaching else []),
        *reaching,
        *(part.statement for part in parts(plan.views)),
    )
    ground = Ground(setup, tuple(view.name for view in plan.views), files_of(plan.views), _folders(plan) if iceberg else ())
    query = ConfinedQuery(plan.text, ground, limits, children=children)
    if stop:
        stop.by(query.cancel)
    return ConfinedRows(query)


def _folders(plan: Plan) -> tuple[str, ...]:
    """Where manifests lie, which DuckDB's own reader of Iceberg opens itself."""
    tables = [view.target.what for view in plan.views if isinstance(view.target.what, Pinned)]
    return tuple(dict.fromkeys(one_spelling(pinned.metadata.location) + "/" for pinned in tables))


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
            self._pending = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        found, self._pending = self._pending[:count], self._pending[count:]
        return found

    def reader(self, rows: int) -> Any:
        return self._reader

    def operators(self) -> tuple[Operator, ...]:
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
