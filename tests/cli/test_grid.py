"""Tables for people: nothing is cut on its way into a pipe, and on a terminal the long texts give
way.
"""

import io

import pytest
from rich.console import Console

from lakebed.cli.output import grid
from lakebed.cli.output.grid import fitted, lines, natural_widths

LONG = "the value 'twelve' of column amount is no number " * 6
ROW = ["orders/2026-10-01.csv", "quarantined", "12", "2026-10-01 09:30:12", LONG.strip()]
HEADINGS = ["file", "state", "size", "modified (UTC)", ""]


def printed(rows: list[list[str]], headings: list[str] = HEADINGS, *, width: int | None) -> str:
    """What a terminal of this width shows, or a pipe gets."""
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=width is not None,
        width=width,
        no_color=True,
        highlight=False,
        emoji=False,
    )
    grid.show(console, headings, rows, right=frozenset({2}))
    return out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_a_pipe_gets_every_cell_whole_and_a_row_a_line() -> None:
    wide = [[*ROW, *(str(number) * 40 for number in range(9))]]
    out = printed(
        wide, [*HEADINGS, *(f"column {number}" for number in range(9))], width=None
    ).splitlines()
    assert len(out) == 3
    for cell in wide[0]:
        assert cell in out[2]


@pytest.mark.parametrize("width", [80, 100, 132, 200])
def test_on_a_terminal_a_long_text_is_wrapped_before_a_state_or_a_time_is_cut(width: int) -> None:
    out = printed([ROW], width=width)
    assert all(len(line.rstrip()) <= width for line in out.splitlines())
    assert "quarantined" in out
    assert "2026-10-01 09:30:12" in out
    assert "…" not in out
    assert out.split()[-1] == "number"


def test_a_terminal_too_narrow_for_the_columns_shows_a_value_a_line() -> None:
    names = [f"column_{number}" for number in range(30)]
    out = printed([[f"value {number}" for number in range(30)]], names, width=80)
    assert "column_7   value 7\n" in out
    assert "column_29  value 29\n" in out
    assert printed([], names, width=80).startswith("column_0, column_1")


@pytest.mark.parametrize(
    ("widths", "room", "given"),
    [
        ([5, 5], 80, [5, 5]),
        ([5, 200], 80, [5, 72]),
        ([19, 11, 70, 200], 120, [19, 11, 40, 40]),
        ([20] * 3, 66, [20] * 3),
        ([20] * 4, 66, None),
        ([300], 80, [80]),
        ([21, 11, 4, 19, 300], 80, [17, 11, 4, 19, 17]),
        ([300, 19, 19, 19], 66, None),
    ],
)
def test_the_longest_columns_give_way_as_little_as_will_do(
    widths: list[int], room: int, given: list[int] | None
) -> None:
    assert fitted(widths, room) == given


def test_letters_of_double_width_count_twice() -> None:
    rows = [["名", "n"], ["東京都", "1"], ["a", "10"]]
    assert natural_widths(rows) == [6, 2]
    assert lines(rows, [6, 2], right=frozenset({1})) == [
        "名        n",
        "─" * 11,
        "東京都    1",
        "a        10",
    ]
