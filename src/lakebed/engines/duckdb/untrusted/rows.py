"""A planned untrusted query, run in its own process, as rows like any other."""

from collections.abc import Collection, Sequence
from typing import Any

from lakebed.engines.duckdb.extensions import load_statement
from lakebed.engines.duckdb.queries import settings_for
from lakebed.engines.duckdb.sql.types import text
from lakebed.engines.duckdb.sql.views import files_of, setup_parts
from lakebed.engines.duckdb.untrusted.child_pool import ChildPool
from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery, SandboxInputs, UntrustedLimits
from lakebed.query.cancellation import Cancellation
from lakebed.query.planning.plan import QueryPlan
from lakebed.query.planning.planner import OperatorProfile


def run_confined(
    plan: QueryPlan,
    *,
    timezone: str,
    folders: Collection[str] = (),
    reaching: Sequence[str] = (),
    limits: UntrustedLimits | None = None,
    stop: Cancellation | None = None,
    children: ChildPool | None = None,
) -> "ConfinedRows":
    """Begin it: the child sees the views of the plan and can open their files, and all that lie in `folders`."""
    setup = (
        f"SET GLOBAL TimeZone = {text(timezone)}",
        *settings_for(plan),
        *([load_statement("httpfs")] if reaching else []),
        *reaching,
        *(part.statement for part in setup_parts(plan.tables)),
    )
    ground = SandboxInputs(
        setup, tuple(view.name for view in plan.tables), files_of(plan.tables), tuple(f"{one}/" for one in folders)
    )
    query = ConfinedQuery(plan.text, ground, limits, children=children)
    if stop:
        stop.on_cancel(query.cancel)
    return ConfinedRows(query)


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
