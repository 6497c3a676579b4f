"""Types inferred from texts: whatever is stored is written back as the same number or text."""

from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from lakebed.types import ColumnType, parse_type
from lakebed.types.spelling import infer_type, reads_as
from tests.support.scale import SCALE, fuzz_seed
from tests.support.spellings import documented, is_kept, random_text


def stored(text: str, type_: ColumnType) -> Any:
    """A text as a value of a type, as Python has it."""
    match type_.name:
        case "int" | "bigint":
            return int(text)
        case "decimal":
            return Decimal(text)
        case "double":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case "date":
            return date.fromisoformat(text)
        case "timestamp":
            return datetime.fromisoformat(text[:26] + text[26:].lstrip("0123456789"))
    return text


def test_the_documented_spellings_are_read_as_documented() -> None:
    rows = documented()
    assert len(rows) >= 60
    assert [(text, str(infer_type([text]))) for text, _ in rows] == rows


def test_what_is_stored_of_random_texts_is_written_back_as_the_same_number_or_text() -> None:
    draw = Random(fuzz_seed(26))
    for _ in range(3_000 * SCALE):
        texts = [random_text(draw) for _ in range(draw.choice([1, 1, 2, 3]))]
        type_ = infer_type(texts)
        for text in texts:
            assert is_kept(text, stored(text, type_)), (texts, type_)
            assert reads_as(text, type_), (texts, type_)


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        ("1 2.5", "double"),
        ("9007199254740993 0.5", "decimal(17,1)"),
        ("9007199254740992 0.5", "double"),
        ("12345678901234567890 .25", "decimal(22,2)"),
        ("1 NaN", "double"),
        ("9007199254740993 NaN", "string"),
        ("1.5e300 0.1234567890123456789", "string"),
        ("1 007", "string"),
        ("true 1", "string"),
        ("2026-01-31 2026-01-31T10:00", "timestamp"),
        ("2026-01-31 5", "string"),
        ("1 2147483648", "bigint"),
        ("1 -9223372036854775809", "decimal(19,0)"),
        ("", "string"),
    ],
)
def test_a_column_has_the_narrowest_type_that_keeps_all_of_its_values(
    texts: str, type_: str
) -> None:
    assert str(infer_type(texts.split())) == type_


@pytest.mark.parametrize(
    ("text", "type_", "kept"),
    [
        ("007", "bigint", True), ("+7", "int", True), ("300", "tinyint", False), ("7.0", "int", False),
        ("1E5", "double", True), ("12D", "double", False), ("0x1", "double", False), (" 1.5 ", "double", True),
        ("0.10000000000000001", "double", False), ("9007199254740993", "double", False), ("nan", "double", True),
        ("1.555", "decimal(6,2)", False), ("1.550", "decimal(6,2)", True), ("12345.6", "decimal(6,2)", False),
        ("1e3", "decimal(6,2)", True), ("0.1", "float", True), ("16777217", "float", False), ("1e39", "float", False),
        ("yes", "boolean", False), ("2026-1-3", "date", False), ("2026-01", "timestamp", True), ("10:00", "timestamp", False),
        ("2026-01-31T10:00:00.1234567", "timestamp", False), ("x", "string", True),
    ],
)  # fmt: skip
def test_a_known_type_takes_other_spellings_but_loses_no_digit(
    text: str, type_: str, kept: bool
) -> None:
    assert reads_as(text, parse_type(type_)) == kept
