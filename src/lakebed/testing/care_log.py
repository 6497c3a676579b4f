"""A care log in memory."""

from datetime import datetime

from lakebed.ports import CareEntry


class MemoryCareLog:
    """Entries in a list, oldest first."""

    def __init__(self) -> None:
        self._entries: list[CareEntry] = []

    def write(self, entry: CareEntry) -> None:
        self._entries.append(entry)

    def entries(
        self, *, subject: str | None = None, action: str | None = None, limit: int = 50
    ) -> tuple[CareEntry, ...]:
        found = [
            entry
            for entry in reversed(self._entries)
            if subject in (None, entry.subject) and action in (None, entry.action)
        ]
        return tuple(found[:limit])

    def delete(self, *, before: datetime) -> int:
        kept = [entry for entry in self._entries if entry.at >= before]
        deleted = len(self._entries) - len(kept)
        self._entries = kept
        return deleted
