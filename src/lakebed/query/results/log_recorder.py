"""From a running query to its line in the query log."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal

from lakebed.errors import BadQuery, LakebedError, QueryEnded
from lakebed.names import new_run_id
from lakebed.query.planning.explain import explain_plan
from lakebed.query.planning.plan import PlannedTable, QueryPlan, all_tables
from lakebed.query.request import QueryOptions
from lakebed.query.results.log import QueryLog, QueryLogEntry, sql_hash
from lakebed.query.results.log_conditions import read_conditions

_NO_PLAN = QueryPlan("", "", ())


class LogRecorder:
    """Measures one query and writes it to the log when it ends."""

    def __init__(self, log: QueryLog, options: QueryOptions) -> None:
        self._log, self._options = log, options
        self._at, self._began = datetime.now(UTC), time.perf_counter()
        self._finished = False

    @contextmanager
    def failures(self, plan: QueryPlan = _NO_PLAN) -> Iterator[None]:
        """Log the query as failed if the block fails."""
        try:
            yield
        except LakebedError as error:
            self.finish(plan, 0, error)
            raise

    def finish(self, plan: QueryPlan, rows: int, error: LakebedError | None) -> None:
        """Write the query to the log, the first time this is called."""
        if self._finished:
            return
        self._finished = True
        tables = explain_plan(
            replace(plan, tree=None)
        )  # the log does not say which columns were read
        self._log.write(
            replace(
                self._entry(rows, error),
                tables=tuple(one.table for one in tables),
                snapshot_ids=tuple(one.snapshot for one in tables),
                conditions=tuple(
                    read_conditions(table.predicate) for table in all_tables(plan.tables)
                ),
                layouts=tuple(map(_layout_of, all_tables(plan.tables))),
                bytes=sum(one.bytes for one in tables),
                files_scanned=sum(one.files for one in tables),
                files_pruned=sum(max(one.total_files - one.files, 0) for one in tables),
            )
        )

    def _entry(self, rows: int, error: LakebedError | None) -> QueryLogEntry:
        options, request = self._options, self._options.request
        return QueryLogEntry(
            ts=self._at,
            id=new_run_id(),
            sql=request.sql,
            sql_hash=sql_hash(request.sql),
            status=_status(error, untrusted=options.untrusted),
            error=str(error.what) if error else "",
            principal=options.principal,
            route=options.route,
            engine=request.engine,
            untrusted=options.untrusted,
            params_redacted=_parameter_types(request.parameters),
            rows=rows,
            ms=round((time.perf_counter() - self._began) * 1000, 3),
        )


def _layout_of(table: PlannedTable) -> str:
    """The name of the layout that was read in place of the table; empty for the table itself."""
    return table.layout.name if table.layout else ""


def _status(
    error: LakebedError | None, *, untrusted: bool
) -> Literal["ok", "error", "refused", "ended"]:
    if error is None:
        return "ok"
    if isinstance(error, QueryEnded):
        return "ended"
    return "refused" if untrusted and isinstance(error, BadQuery) else "error"


def _parameter_types(parameters: Sequence[Any] | Mapping[str, Any] | None) -> tuple[str, ...]:
    """The types of parameters; their values are never logged."""
    if isinstance(parameters, Mapping):
        return tuple(f"{name}: {type(value).__name__}" for name, value in parameters.items())
    return tuple(type(value).__name__ for value in parameters or ())
