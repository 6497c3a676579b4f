"""Rows under headings: in columns if they fit, otherwise one value a line."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lakebed.cli.output.style import Styled, bold, one_line, plain, styled_text

GAP = 3
_KEPT = 20  # ids, numbers, states and times are no wider than this: such columns never shrink
_LEAST = 12  # other columns shrink to this at most

Cells = Sequence[str]


def show(
    console: Console,
    headings: Cells,
    rows: Sequence[Sequence[str | Styled]],
    *,
    right: frozenset[int],
) -> None:
    """Print rows: whole lines into a pipe; columns that fit on a terminal, or row by row."""
    cells = [[one_line(cell) for cell in row] for row in (headings, *rows)]
    texts = [[plain(cell) for cell in row] for row in cells]
    widths = natural_widths(texts)
    if not console.is_terminal:
        console.file.writelines(f"{line}\n" for line in lines(texts, widths, right=right))
    elif given := fitted(widths, console.width):
        console.print(_table(cells, given, right))
    else:
        for text in _one_by_one(cells):
            console.print(text, soft_wrap=True)


def _table(
    cells: Sequence[Sequence[str | Styled]], widths: Sequence[int], right: frozenset[int]
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for number, (heading, width) in enumerate(zip(cells[0], widths, strict=True)):
        table.add_column(
            styled_text(heading),
            justify="right" if number in right else "left",
            width=width,
            overflow="fold",
        )
    for row in cells[1:]:
        table.add_row(*map(styled_text, row))
    return table


def _one_by_one(cells: Sequence[Sequence[str | Styled]]) -> Iterator[Text]:
    """A line for each value, for a terminal that is too narrow for columns."""
    names = [plain(heading) for heading in cells[0]]
    longest = max(map(cell_len, names))
    if len(cells) == 1:
        yield styled_text(", ".join(names))
    for number, row in enumerate(cells[1:], start=1):
        yield styled_text(Styled(f"── row {number}", "dim"))
        for name, cell in zip(names, row, strict=True):
            yield styled_text(bold(name), " " * (longest - cell_len(name) + 2), cell)


def natural_widths(rows: Sequence[Cells]) -> list[int]:
    """The width each column needs to show all its cells."""
    return [max(map(cell_len, column)) for column in zip(*rows, strict=True)]


def fitted(widths: Sequence[int], room: int) -> list[int] | None:
    """Column widths that fit `room`: the widest shrink. None if it is too narrow."""
    room -= GAP * (len(widths) - 1)
    for longest in range(max(widths), _LEAST - 1, -1):
        given = [width if width <= _KEPT else min(width, longest) for width in widths]
        if sum(given) <= room:
            return given
    return list(widths) if sum(widths) <= room else None


def lines(
    rows: Sequence[Cells], widths: Sequence[int], *, right: frozenset[int] = frozenset()
) -> list[str]:
    """Headings, a rule and rows, each on one line however long; columns in `right` are
    right-aligned.
    """
    headings, *others = (_line(row, widths, right) for row in rows)
    return [headings, "─" * (sum(widths) + GAP * (len(widths) - 1)), *others]


def _line(cells: Cells, widths: Sequence[int], right: frozenset[int]) -> str:
    placed = []
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        blank = " " * (width - cell_len(cell))
        placed.append(blank + cell if number in right else cell + blank)
    return (" " * GAP).join(placed).rstrip()
