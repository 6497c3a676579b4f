"""zone.yaml."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.landing import ZoneSpec, parse_zone_spec
from lakebed.quality import ColumnSpec


def test_a_zone_without_settings_has_the_defaults() -> None:
    assert (
        parse_zone_spec(None, where="zone.yaml")
        == parse_zone_spec("", where="zone.yaml")
        == ZoneSpec()
    )


def test_every_setting_can_be_given() -> None:
    text = """
        description: daily orders
        owner: shop
        pattern: "*.csv"
        format: csv
        mixed_formats: refuse
        expected_schema: {id: LONG, amount: "decimal(12, 2)", tags: "array<text>"}
        types: {}
        header: false
        delimiter: "\\t"
        quote: "'"
        escape: "\\\\"
        encoding: Latin-1
        nulls: [NA, N/A]
        date_format: dd.MM.yyyy
        timestamp_format: yyyy-MM-dd'T'HH:mm
        multiline: true
        infer_types: false
        on_bad_file: fail
        empty_file: bad
        settle_seconds: 5
        replaced: refuse
        auto_purge: true
        processed_max_age_days: 7
    """
    spec = parse_zone_spec(text, where="zone.yaml")
    assert spec.model_fields_set == set(ZoneSpec.model_fields)
    assert spec.expected_schema == {
        "id": "bigint",
        "amount": "decimal(12,2)",
        "tags": "array<string>",
    }
    assert (spec.encoding, spec.delimiter, spec.escape) == ("iso8859-1", "\t", "\\")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("owner: x\ndelimeter: ';'", 2, "Did you mean delimiter?"),
        ("expected_schema:\n  id: int\n  name: strng", 3, "did you mean string?"),
        ("expected_schema:\n  id: varchar(20)", 2, "did you mean string?"),
        ("expected_schema:\n  id: array<int", 2, "is not a type"),
        ("expected_schema: {id: int, ID: int}", 1, "twice"),
        ("expected_schema: {}", 1, "no column"),
        ("types:\n  id: int\n  name: strng", 3, "did you mean string?"),
        ("types: {id: int, ID: int}", 1, "twice"),
        (
            "expected_schema: {id: int}\ntypes: {id: int}",
            2,
            "expected_schema already gives the types",
        ),
        ("nulls: []", 1, "must not be empty"),
        ("nulls: [1.5]", 1, "must be a text"),
        ("format: xml", 1, "'csv', 'json' or 'parquet'"),
        ("on_bad_file: skip", 1, "'quarantine' or 'fail'"),
        ("encoding: klingon", 1, "known are utf-8"),
        ("encoding: koi8-r", 1, "known are utf-8"),
        ("delimiter: '::'", 1, "one ASCII character"),
        ("quote: ';'\ndelimiter: ';'", 2, "the quote or the escape"),
        ("settle_seconds: -1", 1, "must be at least 0"),
        ("processed_max_age_days: 0", 1, "must be at least 1"),
        ("format: [", 1, "not valid YAML"),
        ("- csv", 1, "mapping"),
    ],
)
def test_whatever_is_wrong_is_refused_at_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(BadPipeline) as refused:
        parse_zone_spec(text, where="shop/landing/orders/zone.yaml")
    assert refused.value.line == line
    assert refused.value.where == f"shop/landing/orders/zone.yaml:{line}"
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("%Y-%m-%d", "is Python's spelling"),
        ("YYYY-MM-DD", "the letter Y means nothing"),
        ("yyyy-mm-dd", "m are minutes, and months are M"),
        ("yyyy-MM-DD", "D is the day of a year"),
    ],
)
def test_a_pattern_that_spark_would_read_otherwise_is_refused(pattern: str, said: str) -> None:
    for setting in ("date_format", "timestamp_format"):
        with pytest.raises(BadPipeline, match=said):
            parse_zone_spec(f"{setting}: '{pattern}'\n", where="zone.yaml")
    spec = parse_zone_spec("timestamp_format: \"dd.MM.yyyy 'um' HH:mm\"\n", where="zone.yaml")
    assert spec.timestamp_format == "dd.MM.yyyy 'um' HH:mm"


def test_a_test_of_a_column_with_nothing_below_it_is_a_test() -> None:
    tests = ColumnSpec.model_validate({"tests": {"not_null": None, "unique": True}}).tests
    assert tests.not_null is not None
    assert tests.unique is not None
