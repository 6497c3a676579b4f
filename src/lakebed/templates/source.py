"""The text of one file that somebody wrote, and where it lies: what an error about it needs."""

import re
from dataclasses import dataclass

from lakebed.errors import BadPipeline

_NEWLINE = re.compile(r"\r\n|\r|\n")
_WIDEST = 200


@dataclass(frozen=True)
class TemplateSource:
    """A file's text under the name by which its author knows it."""

    text: str
    where: str

    def wrong(self, what: str, *, line: int | None = None, next: str = "") -> BadPipeline:
        """The error to raise about one line of it."""
        return BadPipeline(what, where=self.where, line=line, excerpt=self._excerpt(line), next=next)

    def _excerpt(self, line: int | None) -> str:
        lines = _NEWLINE.split(self.text)
        return lines[line - 1].rstrip()[:_WIDEST] if line and line <= len(lines) else ""
