"""Spark's errors as Lakebed's: what went wrong in a line or two, and where in the statement."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from lakebed.engines.catalog_answers import as_catalog_error
from lakebed.errors import (
    CatalogUnreachable,
    LakebedError,
    RunFailed,
    WrittenAhead,
    worker_traceback,
)
from lakebed.names import CATALOG
from lakebed.settings import masked

_LINE = re.compile(r"\bline (\d+),? pos(?:ition)? (\d+)")
_PLAN = re.compile(
    r"\n\s*(?:'?[A-Z]\w+ ?[\[\(\w*!+:]|[+*:!]-|== )|;\s*\n|\n\s*\n|\n\s*at \w|JVM"
    r" stacktrace|\nCaused by|\nDriver stacktrace"
)
_PREFACE = re.compile(
    r"^(?:An error occurred while calling [^:]+:\s*|\(?(?:org|java)\.[\w.$]+\)?:?\s*)+"
)
_AWAITED = re.compile(
    r"^(?:An error occurred while calling [^:]+:\s*)?(?:[\w.$]+:\s*)?"
    r"Exception thrown in awaitResult.*?\nCaused by: ",
    re.DOTALL,
)
_LONGEST = 600
_KIND = re.compile(r"\[([A-Z][A-Z_]+)(?:\.[A-Z_.]+)?\]")
_CORRECT = "Correct the SQL; lakebed compile shows a pipeline's as Spark gets it."
_OTHER_COLUMN = (
    "Name a column that its inputs have: lakebed table describe TABLE lists those of a table."
)
_ODD_VALUES = (
    "Look for such values in the inputs; functions that begin with try_, such as try_cast and"
    " try_divide, give NULL instead."
)
_ADVICE = {
    "UNRESOLVED_COLUMN|UNRESOLVED_MAP_KEY|FIELD_NOT_FOUND|AMBIGUOUS_": _OTHER_COLUMN,
    "UNRESOLVED_ROUTINE": "Use a function of Spark SQL, spelt as Spark spells it.",
    "TABLE_OR_VIEW_NOT_FOUND": "Read tables through ref() and files through landing_zone().",
    "CAST_|CANNOT_PARSE|INVALID_|NUMERIC_|ARITHMETIC_|DIVIDE_BY_ZERO|DATETIME_": _ODD_VALUES,
    "PARSE_|UNSUPPORTED_|DATATYPE_|MISSING_|GROUP|NUM_COLUMNS_|WRONG_NUM_|UNCLOSED_": _CORRECT,
    "OUT_OF_MEMORY|UNABLE_TO_ACQUIRE_MEMORY": "Give Spark more memory: spark.memory.",
    "USER_RAISED_|ASSERT_": "The SQL itself raised this error: see what it says about the rows.",
}
_BY_WORD = {
    "OutOfMemoryError": "Give Spark more memory: spark.memory.",
    "No space left on device": "Free space on the disk that Spark uses, then run it again.",
}
_DATABASE = re.compile(
    r"(?:org\.postgresql\.util\.PSQLException|org\.sqlite\.SQLiteException): (.+)"
)
# Iceberg's words for a commit that seems to be earlier than the table's own times
_AHEAD = re.compile(r"Invalid update timestamp (\d+): before (?:last|the latest) [a-z ]+ (\d+)")
_ANY_OTHER = "Run it again; if it fails again, see Spark's log in .data/logs/spark."


@contextmanager
def answering() -> Iterator[None]:
    """Errors of Spark leave this block as Lakebed's own."""
    try:
        yield
    except Exception as error:
        raise as_failure(error) from error


def as_failure(error: Exception) -> LakebedError:
    """A `RunFailed`; Lakebed's own errors are returned as they are."""
    if isinstance(error, LakebedError):
        return error
    if isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError":
        return RunFailed(
            "Spark died.",
            next="See its log in .data/logs/spark; spark.memory gives it more memory.",
        )
    text = str(error)
    if ahead := _AHEAD.search(text):
        here, written = (datetime.fromtimestamp(int(time) / 1000, UTC) for time in ahead.groups())
        return WrittenAhead(written, here)
    if refused := _of_catalog(text):
        return refused
    if told := worker_traceback(text):
        return RunFailed(
            told.what, where=told.where, next="Correct the function, or the rows it is given."
        )
    found = _LINE.search(text)
    return RunFailed(
        short(text) or type(error).__name__, line=int(found[1]) if found else None, next=_next(text)
    )


def _of_catalog(text: str) -> LakebedError | None:
    """The catalog database's message, which Iceberg buries in the causes of an "Unknown
    failure".
    """
    found = _DATABASE.findall(text) if "org.apache.iceberg.jdbc" in text else []
    if not found:
        return None
    said = masked(found[-1].strip())
    error = as_catalog_error(CATALOG, said)
    if "denied" in said and isinstance(error, CatalogUnreachable):
        return RunFailed(f"the catalog's database refused: {said}")
    return error


def _next(text: str) -> str:
    """What to do, by Spark's error class, such as `[DIVIDE_BY_ZERO]`."""
    kind = _KIND.search(text)
    for kinds, advice in _ADVICE.items():
        if kind and re.match(kinds, kind[1]):
            return advice
    return next((advice for word, advice in _BY_WORD.items() if word in text), _ANY_OTHER)


def short(text: str) -> str:
    """The first sentences of a message, without Java class names, query plans and stack traces."""
    plain = _PREFACE.sub("", _AWAITED.sub("", text.strip()))
    cut = _PLAN.search(plain)
    said = " ".join(plain[: cut.start()].split()) if cut else " ".join(plain.split())
    said = said if len(said) <= _LONGEST else said[:_LONGEST] + "…"
    return said if not said or said.endswith((".", "…")) else said + "."
