"""The text that was written, and the way from a place in it to an error that shows the line."""

from collections.abc import Callable
from dataclasses import dataclass

from lakebed.errors import BadPipeline

LONGEST_EXCERPT = 120


def same_line(line: int) -> int:
    """The line itself: for text that no template produced."""
    return line


@dataclass(frozen=True)
class SqlSource:
    """Rendered SQL: where it comes from, and which line of the file a line of it was written on."""

    text: str
    where: str
    line_of: Callable[[int], int] = same_line

    def bad(self, what: str, *, at: int = 0, next: str = "") -> BadPipeline:
        """The error for what stands at this offset."""
        line = self.text.count("\n", 0, at) + 1
        excerpt, column = self._line_at(at)
        return BadPipeline(what, where=self.where, line=self.line_of(line), excerpt=excerpt, column=column, next=next)

    def _line_at(self, at: int) -> tuple[str, int]:
        """The line around an offset, or the part of a long one, and where in it the offset is, counted from 0."""
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        whole = self.text[start : end if end >= 0 else len(self.text)].expandtabs(1).rstrip()
        line = whole.lstrip()
        column = max(at - start - (len(whole) - len(line)), 0)
        if len(line) <= LONGEST_EXCERPT:
            return line, column
        first = max(min(column - LONGEST_EXCERPT // 2, len(line) - LONGEST_EXCERPT), 0)
        shown = line[first : first + LONGEST_EXCERPT]
        shown = f"…{shown[1:]}" if first else shown
        return (f"{shown[:-1]}…" if first + LONGEST_EXCERPT < len(line) else shown), column - first
