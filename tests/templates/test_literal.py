"""Values as Spark SQL writes them."""

from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from lakebed.settings import Root, Settings
from lakebed.templates import escaped, literal
from tests.support.spark_sessions import OpenSpark

TEXTS = [
    "",
    "plain",
    "it's",
    '"quoted"',
    "back\\slash",
    "\\",
    "\\'",
    "'; DROP TABLE t --",
    "two\nlines\r\n",
    "nul\0",
    "\x1a",
    "ü☂\\n%_",
]
VALUES = [
    *TEXTS,
    0,
    5,
    -5,
    2**40,
    1.5,
    -1.5,
    1e300,
    1e-7,
    float("inf"),
    float("-inf"),
    True,
    False,
    None,
]


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (5, "5"),
        (-5, "(-5)"),
        (1.5, "1.5D"),
        (-1.5, "(-1.5D)"),
        (float("nan"), "CAST('nan' AS DOUBLE)"),
        ("2026-01-01", "'2026-01-01'"),
        ("it's", "'it\\'s'"),
        (["a", 1, None], "'a', 1, NULL"),
    ],
)
def test_a_value_becomes_its_literal(value: object, sql: str) -> None:
    assert literal(value) == sql


@pytest.mark.parametrize("value", [[], [["a"]], {"a": 1}, object(), b"x"])
def test_what_has_no_literal_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError), match="no SQL literal"):
        literal(value)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_can_end_its_literal_or_a_comment(text: str) -> None:
    (parsed,) = sqlglot.parse(f"SELECT {literal(text)} AS a -- {escaped(text)}", dialect="spark")
    assert parsed is not None
    column = parsed.find(exp.Alias)
    assert column is not None
    assert isinstance(column.this, exp.Literal)


@pytest.mark.spark
def test_spark_reads_every_literal_as_the_value_it_was(
    open_spark: OpenSpark, tmp_path: Path
) -> None:
    (tmp_path / ".data").mkdir()
    spark = open_spark(Settings(), Root.parse(tmp_path))

    def read(sql: str) -> Any:
        return spark.sql(f"SELECT {sql}").head()[0]  # type: ignore[index]

    for value in VALUES:
        found = read(literal(value))
        assert (found, type(found)) == (value, type(value))
    assert [read(f"'{escaped(text)}'") for text in TEXTS] == TEXTS
    assert [read(f'"{escaped(text)}"') for text in TEXTS] == TEXTS
