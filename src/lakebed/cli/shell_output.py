"""How the shell shows answers."""

import sys
from typing import TYPE_CHECKING, Any

from lakebed.cli.screen import Screen

if TYPE_CHECKING:
    from lakebed.query.result import Result

SHOWN = 200  # rows of a table for the eye
_WIDEST = 60


def show(screen: Screen, answer: "Result", mode: str) -> str:
    """Print an answer; returns how much that was, in words, where it was for the eye."""
    from lakebed.query.export import write

    if mode == "table":
        return _table(screen, answer)
    write(answer, "csv" if mode == "csv" else "json", sys.stdout.buffer)
    return ""


def _table(screen: Screen, answer: "Result") -> str:
    rows: list[list[str]] = []
    more = False
    for row in answer.rows():
        if len(rows) == SHOWN:
            more = True
            break
        rows.append([cell(value) for value in row])
    screen.table(_told_apart(answer.columns), rows)
    if more:
        return f"the first {SHOWN} rows (.mode csv shows all)"
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}"


def _told_apart(names: tuple[str, ...]) -> list[str]:
    """Headings; a name that comes twice is numbered."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return told


def cell(value: Any) -> str:
    """A value for the eye: one line, not too wide, nothing that a terminal would obey."""
    from lakebed.query.export import cell as spelled

    shown = "NULL" if value is None else spelled(value).replace("\n", "⏎")
    shown = "".join(character if character.isprintable() else "\ufffd" for character in shown)
    return shown if len(shown) <= _WIDEST else shown[: _WIDEST - 1] + "…"
