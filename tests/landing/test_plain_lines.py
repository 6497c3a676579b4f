"""Lines of JSON that are known by their text: never one that a closer look finds odd."""

import json
from random import Random
from typing import Any

import pytest

from lakebed.engines.spark.landing.json_lines import _is_odd
from lakebed.engines.spark.landing.plain_lines import RECORD, is_plain
from lakebed.engines.spark.landing.reader import CORRUPT, columns_text
from lakebed.ports import Field
from tests.support.scale import SCALE, SEED

pytestmark = pytest.mark.spark

COLUMNS = (
    *(Field("id", "bigint"), Field("price", "double"), Field("paid", "boolean")),
    *(Field("word", "string"), Field("note", "string"), Field("day", "date")),
)
GOOD = {
    "id": ["1", "-7", "null"],
    "price": ["1.50", "2e3", "1", "null"],
    "paid": ["true", "false", "null"],
    "word": ['"x"', '""', '"a b"', '"7"', '"a, b: c"', '"\u00e9"', "null"],
    "note": ['"null"', '"id"', "null"],
    "day": ['"2024-01-31"', "null"],
}
ODD_KEYS = ["other", "ID", "wor\\u0064", "", "i d", "id", "word"]
ODD_VALUES = [
    *('":x"', '": "', '":"', '" :"', '"\\""', '"a\\tb"', '"{"', '"}"', '"[1]"', '"\'"', "'x'"),
    *("1.50", "7", "true", '["a"]', '[ "a" ]', '{"b": 1}', '"NaN"', "NaN", "1e999", '"1"', "[]"),
]
COLONS = [":", ":", ":", ": ", ": ", " :", "\t:", ":\t", ":  "]


def line(draw: Random) -> str:
    """Mostly a good record, in which one or two things may be odd."""
    pairs = [(name, draw.choice(values)) for name, values in GOOD.items()]
    draw.shuffle(pairs)
    pairs = pairs[: draw.choice([6, 6, 3, 0])]
    for _ in range(draw.choice([0, 0, 1, 2])):
        place = draw.randint(0, len(pairs))
        taken = pairs[place] if place < len(pairs) else ("other", "1")
        odd = draw.choice([(draw.choice(ODD_KEYS), taken[1]), (taken[0], draw.choice(ODD_VALUES))])
        pairs[place : place + draw.randint(0, 1)] = [odd]
    style = draw.choice(COLONS[:5])
    told = [
        f'"{key}"{draw.choice(COLONS) if draw.random() < 0.03 else style}{value}'
        for key, value in pairs
    ]
    text = "{" + draw.choice([",", ", "]).join(told) + "}"
    return text + draw.choice([" ", "}", "{}", " x"]) if draw.random() < 0.03 else text


def test_a_line_that_its_text_shows_to_be_plain_is_plain(spark: Any) -> None:
    from pyspark.sql import functions as f

    draw = Random(SEED)
    lines = [(line(draw),) for _ in range(4000 * SCALE)]
    schema = columns_text([*COLUMNS, Field(CORRUPT, "string")])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    record = f.from_json("value", schema, options).alias(RECORD)
    frame = spark.createDataFrame(lines, "value string").select("value", record)
    finite = f"NOT coalesce(isnan({RECORD}.price) OR abs({RECORD}.price) = 'Infinity', false)"
    told = frame.filter(f"{RECORD}.{CORRUPT} IS NULL AND {finite}").select(
        "value", is_plain(COLUMNS).alias("plain"), _is_odd(COLUMNS).alias("odd")
    )
    found = told.collect()
    plain = [row.value for row in found if row.plain]
    assert [row.value for row in found if row.plain and row.odd] == []
    assert len(plain) > len(lines) / 3
    for text in plain:
        pairs = json.loads(text, object_pairs_hook=list)
        assert len({name for name, _ in pairs}) == len(pairs)
        for name, value in pairs:
            assert name in GOOD
            assert value is None or name not in ("word", "note", "day") or isinstance(value, str)


def test_columns_that_may_be_spelt_in_several_ways_are_always_looked_at(spark: Any) -> None:
    from pyspark.sql import functions as f

    frame = spark.sql("""SELECT '{"price":1}' AS value, named_struct('price', 1) AS record""")
    for type_, expected in (("bigint", True), ("decimal(4,1)", False), ("array<int>", False)):
        (row,) = frame.select(is_plain([Field("price", type_)]).alias("plain")).collect()
        assert row.plain is expected
    assert not frame.select(f.coalesce(is_plain([]), f.lit(True)).alias("p")).collect()[0].p
