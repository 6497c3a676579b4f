"""Text for people: what is data stays as it is, what is ours may have a colour."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TextColumn
    from rich.text import Text

# What a terminal obeys instead of showing it: control characters but tab and newline, and those that turn the reading direction.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Styled:
    """A part of a line with a style of Rich's, such as `bold red`."""

    text: str
    style: str


def bold(text: object) -> Styled:
    """What a line is about."""
    return Styled(str(text), "bold")


def plain(part: str | Styled) -> str:
    """A part as a file gets it: without colour, and without anything that a terminal would obey."""
    return _OBEYED.sub("\ufffd", part.text if isinstance(part, Styled) else part)


def one_line(part: str | Styled) -> str | Styled:
    """A part with its line breaks and tabs made visible, as a cell of a table needs it."""
    if isinstance(part, Styled):
        return part
    return part.replace("\r\n", "\n").replace("\n", "⏎").replace("\t", "⇥")


def styled_text(*parts: str | Styled) -> "Text":
    """Parts as a terminal gets them: nothing in them is taken for markup or the name of an emoji."""
    from rich.text import Text

    styled = ((plain(part), part.style if isinstance(part, Styled) else "") for part in parts)
    return Text.assemble(*styled)


def description() -> "TextColumn":
    """What a bar is about, letter for letter."""
    from rich.progress import TextColumn

    return TextColumn("{task.description}", markup=False)
