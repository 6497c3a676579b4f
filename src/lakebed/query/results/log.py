"""The query log: one line of JSON for each query, one file for each day (UTC).

A line is one write to a file opened for appending, so lines of several processes never mix. Any
program can read the files, even while everything else is down.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from lakebed.query.results.log_conditions import ReadCondition

FOLDER = "query_log"  # below the folder of logs
LONGEST_LINE = 8192  # bytes; what the tests prove to be written as a whole
_LONGEST_ERROR = 1000
_CUT = "…"


@dataclass(frozen=True)
class QueryLogEntry:
    """One query: who ran it and how, which snapshots and how much it read, and how it ended."""

    ts: datetime
    id: str
    sql: str  # cut to fit into a line
    sql_hash: str  # of the whole text
    status: Literal["ok", "error", "refused", "ended"] = "ok"
    error: str = ""
    principal: str = ""
    route: str = "api"
    engine: str = "duckdb"
    untrusted: bool = False
    tables: tuple[str, ...] = ()
    snapshot_ids: tuple[int | None, ...] = ()  # of each table
    conditions: tuple[tuple[ReadCondition, ...], ...] = ()  # by which each table was read
    layouts: tuple[str, ...] = ()  # the layout in place of each table; empty for the table itself
    params_redacted: tuple[str, ...] = ()
    rows: int = 0
    bytes: int = 0
    files_scanned: int = 0
    files_pruned: int = 0
    ms: float = 0.0


# DuckDB's types of the fields, for `system.query_log`.
TYPES = {
    "ts": "TIMESTAMPTZ",
    "id": "VARCHAR",
    "sql": "VARCHAR",
    "sql_hash": "VARCHAR",
    "status": "VARCHAR",
    "error": "VARCHAR",
    "principal": "VARCHAR",
    "route": "VARCHAR",
    "engine": "VARCHAR",
    "untrusted": "BOOLEAN",
    "tables": "VARCHAR[]",
    "snapshot_ids": "BIGINT[]",
    "conditions": 'STRUCT("column" VARCHAR, op VARCHAR)[][]',
    "layouts": "VARCHAR[]",
    "params_redacted": "VARCHAR[]",
    "rows": "BIGINT",
    "bytes": "BIGINT",
    "files_scanned": "BIGINT",
    "files_pruned": "BIGINT",
    "ms": "DOUBLE",
}


def sql_hash(sql: str) -> str:
    """A hash of the text, to group runs of the same query."""
    return sha256(sql.encode(errors="surrogatepass")).hexdigest()[:32]


def line_of(entry: QueryLogEntry) -> bytes:
    """The entry as a line of at most `LONGEST_LINE` bytes: the SQL is cut first, the names of
    tables last.
    """
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    values |= {
        "ts": entry.ts.astimezone(UTC).isoformat(),
        "error": _cut(entry.error, _LONGEST_ERROR),
        "conditions": [[asdict(one) for one in each] for each in entry.conditions],
    }
    for field, least in (
        ("sql", 0),
        ("error", 0),
        ("params_redacted", 0),
        ("conditions", 0),
        ("layouts", 0),
        ("snapshot_ids", 0),
        ("tables", 0),
    ):
        over = len(_encoded(values)) - LONGEST_LINE
        if over <= 0:
            break
        values[field] = _shorten(values, field, least)
    return _encoded(values)


def _shorten(values: dict[str, Any], field: str, least: int) -> Any:
    """As much of a field as the line has room for, by bisection, because escapes make lengths hard
    to predict.
    """
    value, low, high = values[field], least, len(values[field])
    while low < high:
        middle = (low + high + 1) // 2
        if len(_encoded(values | {field: _cut(value, middle)})) <= LONGEST_LINE:
            low = middle
        else:
            high = middle - 1
    return _cut(value, low)


def _cut(value: Any, length: int) -> Any:
    if len(value) <= length:
        return value
    return value[: max(length - 1, 0)] + _CUT if isinstance(value, str) else value[:length]


def _encoded(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def parse_line(line: str) -> QueryLogEntry | None:
    """The entry in a line; None for a broken one, such as a full disk leaves.

    Unknown fields are ignored.
    """
    try:
        values = json.loads(line)
        known = {
            field.name: values[field.name]
            for field in fields(QueryLogEntry)
            if field.name in values
        }
        known |= {
            name: tuple(known.get(name) or ())
            for name in ("tables", "snapshot_ids", "layouts", "params_redacted")
        }
        known["conditions"] = tuple(
            tuple(ReadCondition(one["column"], one["op"]) for one in each)
            for each in known.get("conditions") or ()
        )
        return QueryLogEntry(**known | {"ts": datetime.fromisoformat(known["ts"])})
    except (ValueError, KeyError, TypeError):
        return None


class QueryLog:
    """The query log in a folder of logs."""

    def __init__(self, logs: Path) -> None:
        self.folder = logs / FOLDER

    def write(self, entry: QueryLogEntry) -> bool:
        """Add a line; False if it could not be written, which fails no query."""
        line = line_of(entry)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(
                self._file(entry.ts.astimezone(UTC).date()),
                os.O_WRONLY | os.O_APPEND | os.O_CREAT,
                0o640,
            )
            try:
                return _written(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError:
            return False

    def _file(self, day: date) -> Path:
        return self.folder / f"{day.isoformat()}.jsonl"

    def files(self) -> tuple[Path, ...]:
        """The files, one for each day, oldest first."""
        return tuple(sorted(self.folder.glob("????-??-??.jsonl")))

    def entries(self, *, newest_first: bool = False) -> Iterator[QueryLogEntry]:
        """The entries, in the order of the lines."""
        for file in reversed(self.files()) if newest_first else self.files():
            lines: Iterable[str] = file.read_text(errors="replace").splitlines()
            for line in reversed(list(lines)) if newest_first else lines:
                if entry := parse_line(line):
                    yield entry

    def select(self) -> str:
        """The SELECT in DuckDB's SQL behind `system.query_log`."""
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES.items())
        found = ", ".join("'" + str(file).replace("'", "''") + "'" for file in self.files())
        if not found:
            return (
                "SELECT "
                + ", ".join(f'CAST(NULL AS {kind}) AS "{name}"' for name, kind in TYPES.items())
                + " WHERE false"
            )
        options = "format = 'newline_delimited', ignore_errors = true, maximum_object_size = 16384"
        return (
            f"SELECT * FROM read_json([{found}], {options}, columns = {{{columns}}}) WHERE id IS"
            " NOT NULL"
        )


def _written(descriptor: int, line: bytes) -> bool:
    """Write a line at once.

    If a full disk cuts it off, a line break keeps it from spoiling the next one.
    """
    done = os.write(descriptor, line)
    if done < len(line):
        os.write(descriptor, b"\n")
    return done == len(line)
