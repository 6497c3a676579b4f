"""What every error says, and how near names are suggested."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar

NOTHING_CHANGED = "Nothing was changed."


class LakebedError(Exception):
    """Something Lakebed refused or could not do."""

    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str = "", safe: str = NOTHING_CHANGED, next: str = "") -> None:
        self.what, self.where, self.safe, self.next = what, where, safe, next
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join(part for part in (head, self.safe, self.next) if part)


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The up to three known names most like `name`, compared without regard to case."""
    by_folded = {word.casefold(): word for word in known}
    return tuple(by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6))


def suggestion(names: tuple[str, ...]) -> str:
    """'Did you mean a, b or c?' or nothing."""
    if not names:
        return ""
    *rest, last = names
    return f"Did you mean {', '.join(rest)} or {last}?" if rest else f"Did you mean {last}?"
