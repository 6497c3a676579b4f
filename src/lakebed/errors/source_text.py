"""Text that a user wrote, and errors that show one of its lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from lakebed.errors.usage import BadPipeline

LONGEST_EXCERPT = 120
_LONGEST_LINE = 200
_NEWLINE = re.compile(r"\r\n|\r|\n")


def same_line(line: int) -> int:
    """The line itself: for text that no template produced."""
    return line


@dataclass(frozen=True)
class SourceText:
    """A template, or the SQL it produced; `line_of` gives the line of the file for a line of the
    text.
    """

    text: str
    where: str
    line_of: Callable[[int], int] = same_line

    def error(self, what: str, *, line: int | None = None, next: str = "") -> BadPipeline:
        """An error about one line, or about the whole text."""
        return BadPipeline(what, where=self.where, line=line, excerpt=self._line(line), next=next)

    def error_at(self, what: str, *, at: int = 0, next: str = "") -> BadPipeline:
        """An error about what is at this offset of the text."""
        line = self.text.count("\n", 0, at) + 1
        excerpt, column = self._line_around(at)
        return BadPipeline(
            what,
            where=self.where,
            line=self.line_of(line),
            excerpt=excerpt,
            column=column,
            next=next,
        )

    def _line(self, line: int | None) -> str:
        lines = _NEWLINE.split(self.text)
        return lines[line - 1].rstrip()[:_LONGEST_LINE] if line and line <= len(lines) else ""

    def _line_around(self, at: int) -> tuple[str, int]:
        """The line around an offset, or part of a long one, and the offset in it, counted
        from 0.
        """
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
