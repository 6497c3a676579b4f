"""Ids of commits: they begin with the time, so that they are in its order."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_commit_id() -> str:
    return f"{_time_text(datetime.now(UTC))}-{uuid4().hex[:16]}"


def foreign_id(modified: datetime) -> str:
    """Stands for the commit of another writer, by the time of the metadata file."""
    return f"{_time_text(modified)}-other"


def commit_time(id: str) -> datetime | None:
    """When a commit was made; None for an id that does not say."""
    text, dash, _ = id.partition("-")
    return _EPOCH + timedelta(microseconds=int(text, 16)) if dash else None


def _time_text(at: datetime) -> str:
    return f"{(at - _EPOCH) // timedelta(microseconds=1):015x}"
