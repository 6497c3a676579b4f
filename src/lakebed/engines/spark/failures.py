"""Spark's errors in Lakebed's words: what went wrong in a line or two, and where in the statement."""

import re

from lakebed.errors import LakebedError, RunFailed

_LINE = re.compile(r"\bline (\d+),? pos(?:ition)? (\d+)")
_PLAN = re.compile(
    r"\n\s*(?:'?[A-Z]\w+ ?[\[\(\w*!+:]|[+*:!]-|== )|;\s*\n|\n\s*\n|\n\s*at \w|JVM stacktrace|\nCaused by|\nDriver stacktrace"
)
_PREFACE = re.compile(r"^(?:An error occurred while calling [^:]+:\s*|\(?(?:org|java)\.[\w.$]+\)?:?\s*)+")
_LONGEST = 600


def as_failure(error: Exception) -> LakebedError:
    """A `RunFailed`; errors that are Lakebed's own already pass as they are."""
    if isinstance(error, LakebedError):
        return error
    if isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError":
        return RunFailed("Spark died.", next="Its log, in .data/logs/spark, says why; more memory is given by spark.memory.")
    text = str(error)
    found = _LINE.search(text)
    return RunFailed(short(text) or type(error).__name__, line=int(found[1]) if found else None)


def short(text: str) -> str:
    """Its first sentences, without Java's names, query plans and stack traces."""
    plain = _PREFACE.sub("", text.strip())
    cut = _PLAN.search(plain)
    said = " ".join(plain[: cut.start()].split()) if cut else " ".join(plain.split())
    said = said if len(said) <= _LONGEST else said[:_LONGEST] + "…"
    return said if not said or said.endswith((".", "…")) else said + "."
