"""What notebooks show: tables of HTML, in which data is text."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_LONGEST = 100  # characters of a cell


def html_table(
    title: str, heads: Iterable[tuple[str, str]], rows: Iterable[Sequence[Any]] = ()
) -> str:
    """Rows under heads, each of which has a name and a line in small letters."""
    top = "".join(f"<th>{escape(name)}{_small(below)}</th>" for name, below in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _small(text: str) -> str:
    return f"<br><small>{escape(text)}</small>" if text else ""


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"<td>{escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…')}</td>"
