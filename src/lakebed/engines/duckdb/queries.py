"""DuckDB sessions for queries: no table is kept in one, files are read where they lie.

A session serves one query at a time. It is kept for the next one, because it remembers footers of files, which never change,
and because loading an extension takes longer than most queries. Views are kept too: a query sees those it was planned with
under their names, and no other name reaches it.
"""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import duckdb

from lakebed.engines.duckdb.extensions import load
from lakebed.engines.duckdb.rows import DuckRows, failing
from lakebed.engines.duckdb.types import text
from lakebed.engines.duckdb.views import INSPECTED, Made, needs_iceberg, statements
from lakebed.errors import BadQuery
from lakebed.query.plan import Pinned, Plan, View
from lakebed.query.tree import Json

_KEPT = 2
_MADE = 500  # databases, schemas and views, after which a session has seen enough
_ONE = "Write one SELECT."
OPENING: dict[str, Any] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
Inspect = Callable[[Pinned, str], Any]  # a metadata table as Arrow


class DuckSessions:
    """The sessions of one lake. `reaching` are statements that let a session reach the lake's files."""

    def __init__(self, *, timezone: str, inspect: Inspect, reaching: Sequence[str] = ()) -> None:
        self._timezone, self._inspect, self._reaching = timezone, inspect, tuple(reaching)
        self._idle: list[Opened] = []
        self._lock = Lock()

    def take(self) -> "DuckSession":
        """A session for one query."""
        with self._lock:
            opened = self._idle.pop() if self._idle else None
        return DuckSession(opened or Opened(self._connected()), self._inspect, self._give)

    def _connected(self) -> Any:
        connection = duckdb.connect(":memory:", config=OPENING)
        connection.execute(f"SET GLOBAL TimeZone = {text(self._timezone)}")
        connection.execute("SET GLOBAL errors_as_json = true")
        connection.execute("SET enable_progress_bar = false")  # it is printed among the answers where Python has no file
        connection.execute("SET GLOBAL parquet_metadata_cache = true")
        connection.execute("SET GLOBAL validate_external_file_cache = 'NO_VALIDATION'")  # files of tables never change
        connection.execute(f"SET GLOBAL temp_directory = {text(str(Path(tempfile.gettempdir()) / 'lakebed-query'))}")
        if self._reaching:
            load(connection, "httpfs")
        for statement in self._reaching:
            connection.execute(statement)
        return connection

    def _give(self, opened: "Opened") -> None:
        with self._lock:
            if len(self._idle) < _KEPT and len(opened.made) < _MADE:
                self._idle.append(opened)
                return
        opened.connection.close()

    def close(self) -> None:
        """Close what is not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()


@dataclass
class Opened:
    """A connection, and what was made in it for queries."""

    connection: Any
    made: Made = field(default_factory=dict)


class DuckSession:
    """One query's connection."""

    def __init__(self, opened: Opened, inspect: Inspect, give: Callable[[Opened], None]) -> None:
        self._opened, self._inspect, self._give = opened, inspect, give
        self._connection: Any = opened.connection
        self._lasting = False  # something was made that cannot be told from what a query needs: not used again
        self._rows: DuckRows | None = None

    @property
    def connection(self) -> Any:
        """DuckDB's own, for whoever goes on with it; then it is not used again."""
        self._lasting = True
        return self._connection

    def parse(self, sql: str) -> Json | None:
        """The statement's tree as DuckDB reads it; None for PIVOT and EXPLAIN, of which it gives none."""
        with failing(sql):
            kinds = [statement.type for statement in self._connection.extract_statements(sql)]
        select, create = duckdb.StatementType.SELECT, duckdb.StatementType.CREATE
        pivot = kinds[-1:] == [select] and set(kinds[:-1]) == {create} and "pivot" in sql.lower()  # it makes types first
        self._lasting |= pivot
        if not pivot and len(kinds) != 1:
            raise BadQuery(f"there are {len(kinds)} statements." if kinds else "there is no statement.", next=_ONE)
        if not pivot and kinds[0] not in (select, duckdb.StatementType.EXPLAIN):
            raise BadQuery(
                f"{kinds[0].name} is no query: a query only reads.",
                next="Tables are written by pipelines (lakebed run) and by hand (lakebed table write).",
            )
        return self._tree(sql)

    def _tree(self, sql: str) -> Json | None:
        with failing(sql):
            # The text is no parameter: binding one loads pandas, which takes longer than all else.
            found = self._connection.execute(f"SELECT json_serialize_sql({text(sql)})").fetchone()
        tree = json.loads(found[0])
        if not tree["error"]:
            statement: Json = tree["statements"][0]
            return statement
        return None

    def show(self, view: View) -> None:
        """One table more that the query sees."""
        self._show([view])

    def _show(self, views: Sequence[View]) -> None:
        if needs_iceberg(views):
            load(self._connection, "avro", "iceberg")
        for statement in statements(views, made=self._opened.made):
            self._connection.execute(statement)
        for view in views:
            if view.target.about in INSPECTED and isinstance(view.target.what, Pinned):
                self._connection.register("lakebed_inspected", self._inspect(view.target.what, view.target.about))
                self._connection.execute(f"CREATE OR REPLACE TABLE {view.quoted} AS SELECT * FROM lakebed_inspected")
                self._connection.unregister("lakebed_inspected")

    def run(self, plan: Plan, parameters: Sequence[Any] | Mapping[str, Any] | None = None, *, profile: bool = False) -> DuckRows:
        self._lasting |= profile
        try:
            with failing(plan.sql, plan):
                self._show(plan.views)
                if profile:
                    self._connection.execute("SET enable_profiling = 'no_output'")
                self._connection.execute(plan.text, parameters)
        except BaseException:
            self._lasting = True  # a view may be half made
            raise
        self._rows = DuckRows(self._connection, plan, self.close)
        return self._rows

    def cancel(self) -> None:
        """End what runs; from any thread. DuckDB forgets what it is told between two statements, so it is told again."""
        Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self) -> None:
        while (connection := self._connection) is not None:
            connection.interrupt()
            time.sleep(0.05)

    def close(self) -> None:
        """Give it back; what is not read to its end is ended."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._rows is not None and not self._rows.complete and not self._lasting:
            with suppress(duckdb.Error):
                connection.execute("SELECT 1").fetchall()
        if self._lasting:
            connection.close()
        else:
            self._give(self._opened)
