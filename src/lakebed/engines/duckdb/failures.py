"""DuckDB's errors as Lakebed's: what is wrong, where in the caller's text, and what to do next."""

import json
import re
from collections.abc import Sequence
from typing import Any

from lakebed.errors import (
    BadQuery,
    FileMissing,
    FilesUnreachable,
    LakebedError,
    QueryEnded,
    near,
    suggestion,
)
from lakebed.query.parsing.parse_nodes import folded
from lakebed.query.parsing.query_text import Piece, characters, line_at, position_before, replaced

_MEMORY = "Read less: fewer columns, a narrower WHERE, no ORDER BY of everything."
_GONE = re.compile(
    r"No files found|No such file|HTTP 404|404 \(Not Found\)|NoSuchKey", re.IGNORECASE
)
_NEXT = {
    "Parser": "Check it against DuckDB's syntax.",
    "Conversion": "TRY_CAST gives NULL for values that cannot be converted.",
}


def as_failure(error: Exception, sql: str, pieces: Sequence[Piece] = ()) -> LakebedError:
    """The error for the user. `sql` is the caller's text, `pieces` what was replaced in it."""
    facts = error_facts(error)
    kind, what = str(facts.get("exception_type", "")), str(facts.get("exception_message", error))
    if kind in ("Out of Memory",) or "OutOfMemory" in type(error).__name__:
        return QueryEnded("the query needed more memory than it may use.", next=_MEMORY)
    if kind == "Interrupt" or type(error).__name__ == "InterruptException":
        return QueryEnded("the query was cancelled.")
    if kind in ("IO", "HTTP"):
        return _unreadable(what.split("\n")[0])
    problem, advice = _advice(kind, what, facts)
    return BadQuery(problem + _shown(facts, sql, pieces), next=advice)


def _unreadable(what: str) -> LakebedError:
    if not _GONE.search(what):
        return FilesUnreachable("a file of the lake", what)
    named = re.search(r'"([^"]+)"', what)
    missing = FileMissing(named[1] if named else "a file of the lake")
    missing.next = "If it belongs to a table, check for more losses: lakebed fsck"
    return missing


def error_facts(error: Exception) -> dict[str, Any]:
    """The JSON in DuckDB's message, as in `Binder Error: {…}`."""
    message = str(error)
    try:
        found = json.loads(message[message.index("{") :])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _advice(kind: str, what: str, facts: dict[str, Any]) -> tuple[str, str]:
    name = str(facts.get("name", ""))
    words = [word.strip() for word in str(facts.get("candidates", "")).split(",")]
    candidates = [word.rsplit(".", 1)[-1].strip('"') for word in words if word]
    if kind == "Binder" and (folded(name) == "rowid" or '"rowid"' in folded(what)):
        return (
            "tables of the lake have no rowid.",
            "Number the rows: row_number() OVER (ORDER BY …).",
        )
    if facts.get("error_subtype") == "COLUMN_NOT_FOUND":
        others = f"There are {', '.join(candidates[:10])}." if candidates else ""
        return f"there is no column {name!r}.", suggestion(near(name, candidates)) or others
    if facts.get("error_subtype") == "MISSING_ENTRY":
        thing = str(facts.get("type", "thing")).lower().replace("scalar function", "function")
        return f"there is no {thing} {name!r}.", suggestion(near(name, candidates))
    first = re.sub(r"\s*\n\s*", " ", what).strip()
    return first if first.endswith((".", "!", "?")) else f"{first}.", _NEXT.get(kind, "")


def _shown(facts: dict[str, Any], sql: str, pieces: Sequence[Piece]) -> str:
    """The line of the caller's text, with its number."""
    if not str(facts.get("position", "")).isdigit():
        return ""
    at = position_before(sql, pieces, characters(replaced(sql, pieces), int(facts["position"])))
    number, line = line_at(sql, at)
    return f"\n  {number} | {line.rstrip()}\n"
