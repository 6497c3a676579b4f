"""Whether Spark failed because of a landing file, and which one."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import unquote

from lakebed.engines.spark.failures import short
from lakebed.engines.spark.landing.reader import unaddressable
from lakebed.errors import BadFiles
from lakebed.ports import FileGroup, UnreadableFiles

T = TypeVar("T")

_UNKNOWN_TYPES = (
    "PARQUET_TYPE",
    "UNSUPPORTED_TIME_TYPE",
    "COLUMN_ALREADY_EXISTS",
    "UNABLE_TO_INFER_SCHEMA",
)
_GONE = re.compile(r"PATH_NOT_FOUND|FILE_NOT_EXIST|FileNotFoundException")
_STORE = re.compile(
    r"Caused by:"
    r" [\w.$]*(?:AccessDenied|AWS|S3Exception|Sdk\w*Exception|Connect\w*Exception"
    r"|Socket\w*Exception|UnknownHost|SSL"
    r"|AccessControl|OutOfMemory|No space left)"
)


def or_unreadable(
    groups: Sequence[FileGroup], ask: Callable[[], T], *, for_columns: bool = False
) -> T | UnreadableFiles:
    """The answer, or the file that made it fail. Failures with another cause are raised.

    With `for_columns`, types that Spark does not know count as a fault of the file.
    """
    if lost := next(
        (path for group in groups for path in group.paths if unaddressable(path)), None
    ):
        return UnreadableFiles(
            "Spark cannot address it: a name cannot contain both a colon and characters such as"
            " * [ {",
            lost,
        )
    try:
        return ask()
    except Exception as error:
        text = str(error)
        if _GONE.search(text):
            raise BadFiles(
                f"a file disappeared while it was being read: {short(text)}",
                safe="Nothing was published.",
                next="Run it again.",
            ) from error
        condition = getattr(error, "getCondition", lambda: None)() or ""
        unfit = for_columns and condition.startswith(_UNKNOWN_TYPES)
        if not unfit and ("FAILED_READ_FILE" not in text or _STORE.search(text)):
            raise
        return UnreadableFiles(_reason(text), _named(text, groups))


def _reason(text: str) -> str:
    causes = re.findall(r"Caused by: [\w.$]+: (.+)", text)
    return f"Spark cannot read it: {causes[-1].strip() if causes else short(text)}"


def _named(text: str, groups: Sequence[FileGroup]) -> str | None:
    """The file that the message names; of several candidates, the longest path."""
    told = text + unquote(text)
    named = [path for group in groups for path in group.paths if _without_scheme(path) in told]
    return max(named, key=len, default=None)


def _without_scheme(path: str) -> str:
    return path.partition("://")[2] or path
