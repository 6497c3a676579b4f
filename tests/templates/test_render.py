"""From a template and plain values to text."""

import datetime
import json
import re
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import BadPipeline
from lakebed.templates import read_declarations, render
from lakebed.templates.child import respond
from tests.templates.examples import FIRST_RUN, QUESTIONS, SEED, WHERE, values


def text(source: str, **changes: Any) -> str:
    return render(source, values(**changes), where=WHERE).text


def refusal(source: str, **changes: Any) -> BadPipeline:
    with pytest.raises(BadPipeline) as caught:
        render(source, values(**changes), where=WHERE)
    return caught.value


def test_the_seeds_example_renders_as_it_stands() -> None:
    assert text(SEED) == SEED.replace(
        "{{ ref('bronze.raw_orders') }}", "lake.shop.bronze.raw_orders"
    ).replace("{{ watermark_value }}", "2026-01-01 00:00:00").replace(
        "{% if is_incremental() %}", ""
    ).replace("{% endif %}", "")


def test_the_seeds_example_loads_everything_at_first() -> None:
    assert "WHERE" not in render(SEED, FIRST_RUN, where=WHERE).text


def test_a_watermark_cannot_leave_its_quotes() -> None:
    assert (
        text("'{{ watermark_value }}'", watermark_value="a' OR 1=1 --\\\n")
        == r"'a\' OR 1=1 --\\\n'"
    )
    assert text("{{ watermark_value|literal }}", watermark_value="it's") == r"'it\'s'"
    assert (
        text("{% for x in [1] %}{{ watermark_value|literal }}{% endfor %}", watermark_value="it's")
        == r"'it\'s'"
    )


CUTS = [
    "{0}[:3]",
    "{0}[2:]",
    "{0}|reverse",
    "{0}|truncate(3, true, '')",
    "{0}|first",
    "{0}.split('s')[0]",
    "({0} ~ {0})[3:6]",
]


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("whole", ["it's", "\\" * 4, "'" * 4, '"' * 4, "\n\r\0\x1a"])
def test_a_watermark_cannot_leave_its_quotes_however_it_is_cut(
    whole: str, cut: str, quote: str
) -> None:
    given = json.loads(values(watermark_value=whole).as_json())
    captured = "{% set x %}{{ watermark_value }}{% endset %}"
    for source in (
        "%s{{ " + cut.format("watermark_value") + " }}%s",
        captured + "%s{{ " + cut.format("x") + " }}%s",
    ):
        sql = respond({"source": source.replace("%s", quote), "values": given})["text"]
        assert re.fullmatch(rf"{quote}([^\\{quote}\n\r\0\x1a]|\\.)*{quote}", sql)


def test_a_watermark_may_be_cut_and_then_written_as_a_literal() -> None:
    assert text("{{ watermark_value[:3]|literal }}", watermark_value="it's") == r"'it\''"
    assert text("{{ watermark_value|length }}", watermark_value="it's") == "4"


@pytest.mark.parametrize("word", ["watermark", "watermark_value"])
def test_a_watermark_with_a_sign_that_no_text_has_is_refused_where_it_is_used(word: str) -> None:
    assert "U+FDD1" in refusal(f"'{{{{ {word} }}}}'", **{word: "a\ufdd1"}).what


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ this }}", "lake.shop.silver.clean_orders"),
        ("a > {{ watermark }}", "a > TIMESTAMP '2026-01-01 00:00:00'"),
        ("{{ run_started_at }}", "2026-11-15T12:00:00Z"),
        (
            "{{ landing_zone('orders') }} {{ landing_zone('orders', pattern='*.csv') }}",
            "zone_orders zone_orders_csv",
        ),
        (
            (
                "{{ var('country') }} {{ var('limit') }} {{ var('gone', 7) }} {{ var('gone',"
                " default='x') }}"
            ),
            "DE 5 7 x",
        ),
        (
            (
                "{{ var('country')|literal }} {{ var('nothing')|literal }} {{"
                " var('columns')|literal }}"
            ),
            "'DE' NULL 'a', 'b'",
        ),
        (
            "{{ config['description'] }} {{ config.description }} {{ config.get('gone', 'none') }}",
            "orders orders none",
        ),
        ("{% if config.gone is defined %}a{% else %}b{% endif %}", "b"),
        (
            "{% if is_scd2() %}a{% elif var('country') in ['DE', 'AT'] %}b{% else %}c{% endif %}",
            "b",
        ),
        ("{% if 1 < var('limit') <= 5 and not is_full_refresh() %}a{% endif %}", "a"),
        ("{{ 'a' if is_incremental() else 'b' }}{{ is_soft_delete() or 'c' }}", "ac"),
        ("kept\n", "kept\n"),
        ("", ""),
        ("{% raw %}{{ this }}{% endraw %}{# gone #}", "{{ this }}"),
        (
            "{% for c in var('columns') %}{{ c }}{{ ', ' if not loop.last else '' }}{% endfor %}\n",
            "a, b\n",
        ),
        ("{% set x = 'a' ~ 1 %}{{ x|upper }}", "A1"),
        (
            "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(ref('silver.customers')) }}",
            "<lake.shop.silver.customers>",
        ),
        ("{{ var('columns')|map('literal')|join(' + ') }}", "'a' + 'b'"),
        (
            (
                "{% set ns = namespace(n=0) %}{% for c in 'abc' %}{% set ns.n = ns.n + 1 %}{%"
                " endfor %}{{ ns.n }}"
            ),
            "3",
        ),
        ("{{ watermark_value|default('x') }}", "2026-01-01 00:00:00"),
    ],
)
def test_words_give_their_values(source: str, expected: str) -> None:
    assert text(source) == expected


@pytest.mark.parametrize("word", ["this", "watermark", "watermark_value"])
@pytest.mark.parametrize(
    "around", ["{{ %s }}", "{{ %s|literal }}", "{{ %s|upper }}", "{%% if %s < 'b' %%}{%% endif %%}"]
)
def test_a_word_without_a_value_says_how_to_guard_it(word: str, around: str) -> None:
    with pytest.raises(BadPipeline, match=r"Guard it with \{% if is_incremental") as caught:
        render("SELECT 1\n" + around % word, FIRST_RUN, where=WHERE)
    assert (caught.value.line, caught.value.excerpt) == (2, around % word)


@pytest.mark.parametrize("loop", ["", "{% for x in [] %}{% endfor %}"], ids=["simple", "confined"])
@pytest.mark.parametrize(
    "guard",
    [
        "{0}",
        "{0} is defined",
        "{0} is not none",
        "{0} != none",
        "not {0} is none",
        "{0} and {0} > '1'",
    ],
)
def test_a_word_without_a_value_may_be_asked_about(guard: str, loop: str) -> None:
    source = loop + "{% if " + guard.format("watermark_value") + " %}yes{% else %}no{% endif %}"
    assert render(source, FIRST_RUN, where=WHERE).text == "no"
    assert text(source) == "yes"


@pytest.mark.parametrize(
    "loop",
    ["{% if true %}{0}{% endif %}", "{% for x in [1] %}{0}{% endfor %}"],
    ids=["simple", "confined"],
)
@pytest.mark.parametrize(
    ("source", "what", "next"),
    [
        (
            "{{ ref('silver.customer') }}",
            "no table 'silver.customer'",
            "Did you mean silver.customers?",
        ),
        ("{{ landing_zone('order') }}", "no landing zone 'order'", "Did you mean orders?"),
        ("{{ landing_zone('orders', pattern='*.json') }}", "no landing zone 'orders'", ""),
        ("{{ var('contry') }}", "no variable 'contry'", "Did you mean country?"),
        ("{{ var('x') }}", "no variable 'x'", "--vars"),
        ("{{ config.descripton }}", "no key 'descripton'", ""),
        ("{{ config['descripton'] }}", "Did you mean description?", ""),
        ("{{ var('nothing') }}", "has no value", "|literal"),
        ("{{ config.get }}", "is a function", "()"),
        ("{{ config.unique_key < 1 }}", "not supported", ""),
        ("{{ config|literal }}", "no SQL literal", ""),
    ],
)
def test_what_is_missing_is_shown_with_its_line(
    source: str, what: str, next: str, loop: str
) -> None:
    error = refusal("SELECT 1\n\n" + loop.replace("{0}", "\n" + source))
    assert what in error.what
    assert next in error.next
    assert (error.line, error.where) == (4, f"{WHERE}:4")
    assert source in error.excerpt


def test_an_undefined_attribute_is_an_error_and_not_nothing() -> None:
    error = refusal("\n{% for x in var('columns') %}\n{{ x.name }}\n{% endfor %}")
    assert "has no attribute 'name'" in error.what
    assert error.line == 3


def test_values_that_json_does_not_know_become_their_text() -> None:
    day = datetime.date(2026, 11, 15)
    assert (
        text("{{ var('day') }} {{ var('day')|literal }}", vars={"day": day})
        == "2026-11-15 '2026-11-15'"
    )
    settings = MappingProxyType(
        {"columns": MappingProxyType({"id": "BIGINT"}), "tags": frozenset({"b", "a"})}
    )
    assert (
        text("{% set c = config.columns %}{{ c.id }} {{ config.tags|join }}", config=settings)
        == "BIGINT ab"
    )


def test_any_text_passes_through_both_ways_unchanged() -> None:
    odd = "ü ☂ \x00 \\ ' \" \u2028 { "
    assert text(odd + "{{ var('x') }}", vars={"x": odd}) == odd * 2
    assert text("{% set y = var('x') %}" + odd + "{{ y }}", vars={"x": odd}) == odd * 2


def test_too_much_text_is_refused() -> None:
    assert (
        "more than 1,048,576 characters"
        in refusal("{{ var('x') }}" * 3, vars={"x": "a" * 500_000}).what
    )
    assert (
        "more than 1,048,576 characters"
        in refusal(
            "{% for i in range(3) %}{{ var('x') }}{% endfor %}", vars={"x": "a" * 500_000}
        ).what
    )
    assert "longer than 1,048,576 characters" in refusal("a" * 1_048_577).what


PIECES = [
    "a\n",
    " b ",
    "\n\n",
    "{# note #}",
    "{{ this }}",
    "{{ watermark_value }}",
    "{{ var('country')|literal }}",
    "{{ var('lines') }}",
    "{% if is_incremental() %}",
    "{% if var('limit') > 5 -%}",
    "{%- elif config.description == 'orders' %}",
    "{% else %}",
    "{% endif %}\n",
    "{{ 'x' if watermark is defined else 'y' }}",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_simple_templates_give_what_jinja_gives_line_by_line(source: str) -> None:
    given_values = values(vars={"country": "DE", "limit": 5, "lines": "c\nd"})
    try:
        assert read_declarations(source, where=WHERE, questions=QUESTIONS).simple
    except BadPipeline:
        return
    ours = render(source, given_values, where=WHERE)
    jinjas = respond({"source": source, "values": json.loads(given_values.as_json())})
    assert {"text": ours.text, "lines": ours.lines} == jinjas
