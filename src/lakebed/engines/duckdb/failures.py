"""What DuckDB says when something is wrong, in Lakebed's errors: what, where in the text that was asked, what next."""

import json
import re
from collections.abc import Sequence
from typing import Any

from lakebed.errors import BadQuery, FileMissing, FilesUnreachable, LakebedError, QueryEnded, near, suggestion
from lakebed.query.parsing.parse_nodes import folded
from lakebed.query.parsing.query_text import Piece, characters, line_at, position_before, replaced

_MEMORY = "Ask for less: fewer columns, a narrower WHERE, no ORDER BY of everything."
_GONE = re.compile(r"No files found|No such file|HTTP 404|404 \(Not Found\)|NoSuchKey", re.IGNORECASE)
_NEXT = {"Parser": "Check it against DuckDB's grammar.", "Conversion": "TRY_CAST gives NULL for what does not fit."}


def as_failure(error: Exception, sql: str, pieces: Sequence[Piece] = ()) -> LakebedError:
    """The error that a user sees. `sql` is what was asked, `pieces` what was replaced in it."""
    facts = error_facts(error)
    kind, what = str(facts.get("exception_type", "")), str(facts.get("exception_message", error))
    if kind in ("Out of Memory",) or "OutOfMemory" in type(error).__name__:
        return QueryEnded("the query took more memory than there is.", next=_MEMORY)
    if kind == "Interrupt" or type(error).__name__ == "InterruptException":
        return QueryEnded("the query was ended: it was cancelled.")
    if kind in ("IO", "HTTP"):
        return _unreadable(what.split("\n")[0])
    said, advice = _advice(kind, what, facts)
    return BadQuery(said + _shown(facts, sql, pieces), next=advice)


def _unreadable(what: str) -> LakebedError:
    if not _GONE.search(what):
        return FilesUnreachable("a file of the lake", what)
    named = re.search(r'"([^"]+)"', what)
    missing = FileMissing(named[1] if named else "a file of the lake")
    missing.next = "If it belongs to a table, see what else is lost: lakebed fsck"
    return missing


def error_facts(error: Exception) -> dict[str, Any]:
    """DuckDB's own account: `Binder Error: {…}`."""
    said = str(error)
    try:
        found = json.loads(said[said.index("{") :])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _advice(kind: str, what: str, facts: dict[str, Any]) -> tuple[str, str]:
    name = str(facts.get("name", ""))
    words = [word.strip() for word in str(facts.get("candidates", "")).split(",")]
    candidates = [word.rsplit(".", 1)[-1].strip('"') for word in words if word]
    if kind == "Binder" and (folded(name) == "rowid" or '"rowid"' in folded(what)):
        return "tables of the lake have no rowid: their rows have no number.", "Count them: row_number() OVER (ORDER BY …)."
    if facts.get("error_subtype") == "COLUMN_NOT_FOUND":
        others = f"There are {', '.join(candidates[:10])}." if candidates else ""
        return f"there is no column {name!r}.", suggestion(near(name, candidates)) or others
    if facts.get("error_subtype") == "MISSING_ENTRY":
        thing = str(facts.get("type", "thing")).lower().replace("scalar function", "function")
        return f"there is no {thing} {name!r}.", suggestion(near(name, candidates))
    first = re.sub(r"\s*\n\s*", " ", what).strip()
    return first if first.endswith((".", "!", "?")) else f"{first}.", _NEXT.get(kind, "")


def _shown(facts: dict[str, Any], sql: str, pieces: Sequence[Piece]) -> str:
    """The line of the text that was asked, with its number."""
    if not str(facts.get("position", "")).isdigit():
        return ""
    at = position_before(sql, pieces, characters(replaced(sql, pieces), int(facts["position"])))
    number, line = line_at(sql, at)
    return f"\n  {number} | {line.rstrip()}\n"
