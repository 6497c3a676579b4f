"""From a rendered line back to the line somebody wrote."""

import pytest

from lakebed.templates import render
from tests.templates.examples import FIRST_RUN, SEED, WHERE, values

CASES = {
    "plain": "a @1\nb @2\n\nc @4\n",
    "a block that is taken": "a @1\n{% if is_incremental() %}\nb @3\n{% endif %}\nc @5\n",
    "a block that is not taken": (
        "a @1\n{% if is_scd2() %}\nb @3\n\n{% else %}\nc @6\n{% endif %}\nd @8\n"
    ),
    "stripped blocks": "{% if is_incremental() -%}\n\n   b @3\n{%- endif %}\nc @5\n",
    "values of several lines": "a @1\n{{ var('two') }} @2\nb @3",
    "a comment of several lines": "{# one\ntwo\nthree #}a @3\nb @4",
    "raw": "{% raw %}\n{{ a }} @2\n{% endraw %}b @3",
    "a loop": (
        "a @1\n{% for x in [1, 2] %}\n  {{ x }} @3\n  {% if loop.first %}\n  b @5\n  {% endif"
        " %}\n{% endfor %}\nc @8\n"
    ),
    "a loop on one line": "a @1\n{% for x in [1, 2] %}{{ x }} @2\n{% endfor %}b @3\n",
    "an empty loop": "{% for x in [] %}\na\n{% else %}\nb @4\n{% endfor %}",
    "set and with": "{% set x = 1 %}\na @2\n{% with y = 2 %}\n{{ y }} @4\n{% endwith %}",
    "a macro": "{% macro m(x) %}{{ x }}{% endmacro %}\na @2\n{{ m(1) }} @3\nb @4",
    "captured text": "{% set x %}a\nb{% endset %}\n{{ x }} @3\nc @4",
    "windows line ends": "a @1\r\n{% if true %}\r\nb @3\r\n{% endif %}\r\nc @5\r\n",
}


@pytest.mark.parametrize("source", CASES.values(), ids=CASES.keys())
def test_every_line_knows_where_it_came_from(source: str) -> None:
    rendered = render(source, values(vars={"two": "first\nsecond"}), where=WHERE)
    lines = rendered.text.split("\n")
    assert len(lines) == len(rendered.lines)
    marked = {
        number: int(line.split("@")[1]) for number, line in enumerate(lines, start=1) if "@" in line
    }
    assert marked
    assert {number: rendered.source_line(number) for number in marked} == marked


def test_a_line_outside_the_text_is_taken_for_the_nearest() -> None:
    rendered = render(SEED, FIRST_RUN, where=WHERE)
    assert (rendered.source_line(0), rendered.source_line(999)) == (1, 10)
