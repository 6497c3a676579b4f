"""Query results on the screen."""

import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakebed.cli.output.formats import plural, shorten
from lakebed.cli.output.screen import Screen

if TYPE_CHECKING:
    from lakebed.query.results.result import QueryResult

SHOWN = 200  # rows that the shell shows
_WIDEST = 60  # characters of a value, on a terminal


def show_result(screen: Screen, answer: "QueryResult", mode: str) -> str:
    """Print a result; returns a line that says how many rows were shown, or nothing for CSV and
    JSON.
    """
    from lakebed.query.results.export import write

    if mode == "table":
        count, more = show_table(screen, answer, most=SHOWN, widest=screen.text_limit(_WIDEST))
        return (
            f"the first {plural(count, 'row')} (.mode csv shows all)"
            if more
            else plural(count, "row")
        )
    write(answer, "csv" if mode == "csv" else "json", sys.stdout.buffer)
    return ""


def show_table(
    screen: Screen, answer: "QueryResult", *, most: int, widest: int | None
) -> tuple[int, bool]:
    """Print rows under headings; returns how many were shown, and whether there are more."""
    from lakebed.query.results.export import numbered

    rows = iter(answer)
    shown = [[cell(value, widest) for value in row] for row in islice(rows, most)]
    more = next(rows, None) is not None
    headings = numbered(answer.columns)
    right = [
        heading for heading, type_ in zip(headings, answer.types, strict=True) if _is_number(type_)
    ]
    if not screen.quiet:
        screen.table(headings, shown, right=right)
    return len(shown), more


def _is_number(type_: str) -> bool:
    plain = type_.split("(")[0].upper()
    return plain in ("FLOAT", "DOUBLE", "DECIMAL") or plain.endswith(("INT", "INTEGER"))


def cell(value: Any, widest: int | None = None) -> str:
    """A value as people read it, cut to `widest` characters."""
    from lakebed.query.results.export import cell as spelled

    shown = "NULL" if value is None else spelled(value)
    return shorten(shown, widest)
