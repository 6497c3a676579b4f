"""What every error says, and suggestions for misspelled names."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, ClassVar

NOTHING_CHANGED = "Nothing was changed."
_ALIKE = 0.6


class LakebedError(Exception):
    """Something Lakebed will not or cannot do."""

    retryable: ClassVar[bool] = False  # the same call may succeed later
    overtaken: ClassVar[bool] = (
        False  # what was read is out of date: starting over may succeed at once
    )
    exit_code: ClassVar[int] = 2

    def __init__(
        self, what: str, *, where: str = "", safe: str = NOTHING_CHANGED, next: str = ""
    ) -> None:
        self.what, self.where, self.safe, self.next = what, where, safe, next
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join(part for part in (head, self.safe, self.next) if part)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors go from one process to another as they are, whatever their constructors take."""
        return _rebuilt, (type(self), self.args, self.__dict__)

    def as_dict(self) -> dict[str, str]:
        """The parts of the message by name, as run records and JSON have them."""
        return {
            "kind": type(self).__name__,
            "what": self.what,
            "where": self.where,
            "safe": self.safe,
            "next": self.next,
        }


def _rebuilt(kind: type[LakebedError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Up to three known names most similar to `name`, ignoring case.

    The last parts must be similar too: two tables are not similar because they share a namespace.
    """
    folded, by_folded = name.casefold(), {word.casefold(): word for word in known}
    alike = [
        word
        for word in by_folded
        if get_close_matches(_last_part(folded), [_last_part(word)], cutoff=_ALIKE)
    ]
    # letters in another order count as less alike than they are to people
    swapped = [word for word in by_folded if sorted(word) == sorted(folded)]
    close = (*swapped, *get_close_matches(folded, alike, n=3, cutoff=_ALIKE))
    return tuple(by_folded[match] for match in dict.fromkeys(close))[:3]


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def sentence(text: str) -> str:
    """A text with a full stop at the end, unless it ends a sentence already."""
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def suggestion(names: tuple[str, ...]) -> str:
    """'Did you mean a, b or c?', or nothing."""
    if not names:
        return ""
    *rest, last = names
    return f"Did you mean {', '.join(rest)} or {last}?" if rest else f"Did you mean {last}?"
