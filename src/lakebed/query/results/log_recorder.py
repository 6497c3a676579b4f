"""Who asks, and how a query gets into the log."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from lakebed.errors import BadQuery, LakebedError, QueryEnded
from lakebed.names import new_run_id
from lakebed.query.planning.explain import explain_plan
from lakebed.query.planning.plan import QueryPlan
from lakebed.query.request import QueryRequest
from lakebed.query.results.log import QueryLog, QueryLogEntry, sql_hash


@dataclass(frozen=True)
class Caller:
    """Who asks, and by which way."""

    principal: str = ""
    route: str = "api"


class LogRecorder:
    """A query on its way into the log."""

    def __init__(self, log: QueryLog, ask: QueryRequest, asker: Caller, untrusted: bool) -> None:
        self._log, self._ask, self._asker, self._untrusted = log, ask, asker, untrusted
        self._at, self._began = datetime.now(UTC), time.perf_counter()
        self._done = False

    def finish(self, plan: QueryPlan, rows: int, error: LakebedError | None) -> None:
        """Write it down, once."""
        if self._done:
            return
        self._done = True
        tables = explain_plan(replace(plan, tree=None))  # which columns, the log does not tell
        entry = QueryLogEntry(
            ts=self._at,
            id=new_run_id(),
            sql=self._ask.sql,
            sql_hash=sql_hash(self._ask.sql),
            status=_status(error, untrusted=self._untrusted),
            error=str(error.what) if error else "",
            principal=self._asker.principal,
            route=self._asker.route,
            engine=self._ask.engine,
            untrusted=self._untrusted,
            params_redacted=_redacted(self._ask.parameters),
            rows=rows,
            ms=round((time.perf_counter() - self._began) * 1000, 3),
        )
        self._log.write(
            replace(
                entry,
                tables=tuple(one.table for one in tables),
                snapshot_ids=tuple(one.snapshot for one in tables),
                bytes=sum(one.bytes for one in tables),
                files_scanned=sum(one.files for one in tables),
                files_pruned=sum(one.total_files - one.files for one in tables),
            )
        )


def _status(error: LakebedError | None, *, untrusted: bool) -> Literal["ok", "error", "refused", "ended"]:
    if error is None:
        return "ok"
    if isinstance(error, QueryEnded):
        return "ended"
    return "refused" if untrusted and isinstance(error, BadQuery) else "error"


def _redacted(parameters: Sequence[Any] | Mapping[str, Any] | None) -> tuple[str, ...]:
    """Types of parameters, never their values."""
    if isinstance(parameters, Mapping):
        return tuple(f"{name}: {type(value).__name__}" for name, value in parameters.items())
    return tuple(type(value).__name__ for value in parameters or ())
