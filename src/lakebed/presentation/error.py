"""Errors as JSON-ready values."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakebed.errors import LakebedError


def error_json(error: "LakebedError") -> dict[str, Any]:
    """An error, with what a caller needs to decide whether to try again."""
    return {"error": error.as_dict() | {"retryable": error.retryable}}
