"""What a template reads and uses, known before anything runs."""

import subprocess
import sys

import pytest

from lakebed.errors import BadPipeline
from lakebed.templates import TemplateRead, read_declarations
from tests.templates.examples import QUESTIONS, SEED, WHERE


def test_the_seeds_example_declares_its_table_and_words() -> None:
    found = read_declarations(SEED, where=WHERE, questions=QUESTIONS)
    assert found.refs == (TemplateRead("bronze.raw_orders", 6),)
    assert found.zones == ()
    assert found.names == {"ref", "is_incremental", "watermark_value"}
    assert found.simple


def test_tables_and_zones_are_found_in_every_corner_and_named_once() -> None:
    source = """\
{% macro source(x) %}{{ ref('a.macro') }} {{ x }}{% endmacro %}
{% if false %}{{ ref('a.untaken') }}{% elif ref('a.test') %}{% else %}{{ ref('a.otherwise') }}{% endif %}
{% for table in [ref('a.list'), ref('b.a.list')] if ref('a.filter') %}{{ ref("a.untaken") }}{% endfor %}
{% set kept %}{{ landing_zone('orders') }}{% endset %}
{{ source(landing_zone('orders', pattern='*.csv')) | replace(ref('a.argument'), 'x') }}
{# ref('a.comment') #}{% raw %}{{ ref('a.raw') }}{% endraw %} ref('a.text') {{ landing_zone('orders') }}
"""
    found = read_declarations(source, where=WHERE, questions=QUESTIONS)
    assert {call.name: call.line for call in found.refs} == {
        "a.macro": 1,
        "a.untaken": 2,
        "a.test": 2,
        "a.otherwise": 2,
        "a.list": 3,
        "b.a.list": 3,
        "a.filter": 3,
        "a.argument": 5,
    }
    assert found.zones == (TemplateRead("orders", 4), TemplateRead("orders", 5, "*.csv"))
    assert found.names == {"ref", "landing_zone"}


@pytest.mark.parametrize(
    "source",
    [
        "{% set t = 'a' %}\n{{ ref(t) }}",
        "\n{{ ref('a.' ~ 'b') }}",
        "\n{{ ref('{{ x }}') }}",
        "\n{{ ref('{% if x %}') }}",
        "\n{{ ref(*['a.b']) }}",
        "\n{{ ref(1) }}",
        "\n{{ landing_zone('z', pattern=var('p')) }}",
        "\n{{ landing_zone(var('z')) }}",
    ],
)
def test_a_computed_name_is_refused_at_its_line(source: str) -> None:
    with pytest.raises(BadPipeline, match="computed") as caught:
        read_declarations(source, where=WHERE, questions=QUESTIONS)
    assert caught.value.line == 2
    assert (
        "rite the name as a plain string, so that the graph is known before anything runs"
        in caught.value.next
    )


@pytest.mark.parametrize(
    ("source", "what", "next"),
    [
        ("{{ watermak }}", "no word 'watermak'", "Did you mean watermark or watermark_value?"),
        ("{{ reff('a.b') }}", "no word 'reff'", "Did you mean ref?"),
        ("{% if is_increment() %}{% endif %}", "no word 'is_increment'", "is_incremental"),
        ("{{ lipsum(3) }}", "no word 'lipsum'", ""),
        ("{{ self.x() }}", "no word 'self'", ""),
        ("{{ 'a' | uper }}", "no filter 'uper'", "upper"),
        ("{{ [1] | random }}", "no filter 'random'", ""),
        ("{{ 1 is evn }}", "no test 'evn'", "even"),
        ("{% if is_incremental %}{% endif %}", "is_incremental is a function", "is_incremental("),
        ("{% set r = ref %}", "ref is a function", "ref("),
        ("{{ ['a.b'] | map(ref) }}", "ref is a function", ""),
        ("{{ this() }}", "this is a value", "without"),
        ("{% set this = 1 %}", "'this' is a name of Lakebed", "another name"),
        ("{% macro ref(x) %}{% endmacro %}", "'ref' is a name of Lakebed", ""),
        ("{% for var in [1] %}{% endfor %}", "'var' is a name of Lakebed", ""),
        ("{{ config(materialized='table') }}", "config holds the settings", "config.yaml"),
        ("{{ ref('a', 'b') }}", "ref takes one name", "ref('layer.table')"),
        ("{{ ref() }}", "ref takes one name", ""),
        ("{{ ref('a.b', pattern='c') }}", "ref takes one name", ""),
        ("{{ landing_zone('a', '*.csv') }}", "landing_zone takes one name", "pattern='*.csv'"),
        ("{{ is_incremental(1) }}", "is_incremental takes nothing", "is_incremental()"),
        ("{{ var(*['a']) }}", "var takes a name", ""),
        ("{{ var() }}", "var takes a name", "var('name')"),
        ("{{ var('a', 1, 2) }}", "var takes a name", ""),
        ("{{ var('a', otherwise=1) }}", "var takes a name", ""),
        ("{% include 'x.sql' %}", "one file", "ref("),
        ("{% import 'x.sql' as x %}", "one file", ""),
        ("{% from 'x.sql' import y %}", "one file", ""),
        ("{% extends 'x.sql' %}", "one file", ""),
        ("{% if this %}", "Unexpected end of template", ""),
        ("{{ this", "unexpected", ""),
        ("{% frobnicate %}", "unknown tag 'frobnicate'", ""),
        ("{{ 'a' 1 }}", "expected token", ""),
        ("{# never closed", "Missing end of comment tag", ""),
    ],
)
def test_what_is_wrong_is_shown_with_its_line(source: str, what: str, next: str) -> None:
    with pytest.raises(BadPipeline) as caught:
        read_declarations(f"SELECT 1\n{source}", where=WHERE, questions=QUESTIONS)
    error = caught.value
    assert what in error.what
    assert next in error.next
    assert (error.where, error.line, error.excerpt) == (f"{WHERE}:2", 2, source)


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        ("plain text", True),
        ("{{ this }} {{ watermark }} {{ run_started_at }}", True),
        (
            (
                "{% if is_scd2() or not is_snapshot() and var('x', 1) == 2 %}a{% elif 1 in [1, 2]"
                " %}b{% else %}c{% endif %}"
            ),
            True,
        ),
        ("{{ var('x') | literal }}", True),
        ("{{ config['x'] }} {{ config.x }} {{ config.get('x', 1) }}", True),
        ("{{ 'a' if this is defined else 'b' }}", True),
        ("{{ 'a' if this }}", False),
        ("{% for x in [1] %}{% endfor %}", False),
        ("{% set x = 1 %}", False),
        ("{{ 1 + 1 }}", False),
        ("{{ 'a' ~ 'b' }}", False),
        ("{{ 'a' * 9 }}", False),
        ("{{ this.upper() }}", False),
        ("{{ this | upper }}", False),
        ("{{ config.items() }}", False),
        ("{{ config.get }}", True),
        ("{{ this.get('x') }}", False),
        ("{{ var('x').y }}", False),
        ("{{ var(this) }}", False),
        ("{{ [this] }}", False),
        ("{{ {'a': 1} }}", False),
        ("{{ 'a'[0] }}", False),
        ("{{ range(3) }}", False),
        ("{% filter upper %}a{% endfilter %}", False),
        ("{% filter literal %}a{% endfilter %}", False),
    ],
)
def test_only_text_our_words_and_conditions_are_simple(source: str, simple: bool) -> None:
    assert read_declarations(source, where=WHERE, questions=QUESTIONS).simple is simple


def test_reading_annotations_and_importing_the_room_does_not_load_jinja() -> None:
    script = "import sys, lakebed.templates; print('jinja2' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
