"""Styled text: data is printed literally, our own words may have a colour."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TextColumn
    from rich.text import Text

# Control characters except tab and newline, and characters that change the reading direction.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Styled:
    """Part of a line, with a style as Rich names it, such as `bold red`."""

    text: str
    style: str


def bold(text: object) -> Styled:
    """The subject of a line, in bold."""
    return Styled(str(text), "bold")


def plain(part: str | Styled) -> str:
    """A part without colour, and without characters that control a terminal."""
    return _OBEYED.sub("\ufffd", part.text if isinstance(part, Styled) else part)


def one_line(part: str | Styled) -> str | Styled:
    """A part with visible line breaks and tabs, for a table's cell."""
    if isinstance(part, Styled):
        return part
    return part.replace("\r\n", "\n").replace("\n", "⏎").replace("\t", "⇥")


def styled_text(*parts: str | Styled) -> "Text":
    """Parts for a terminal, with markup and emoji names taken literally."""
    from rich.text import Text

    styled = ((plain(part), part.style if isinstance(part, Styled) else "") for part in parts)
    return Text.assemble(*styled)


def description() -> "TextColumn":
    """The bar's description, taken literally."""
    from rich.progress import TextColumn

    return TextColumn("{task.description}", markup=False)
