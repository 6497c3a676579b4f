"""Texts as CSV files have them, and what must be true of the values they are stored as: an oracle
that knows nothing of how types are found.
"""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

PAGE = Path(__file__).parent.parent.parent / "docs" / "pipelines.md"
_ODD = ["0", "7", "-3", "+4", "007", "-0", "-0.0", "00.5", "1.", ".5", ".", "-.", "1e3", "1E400", "1.5e400", "4.9E-324", "NaN", "nan", "Infinity", "inf", "-Inf", "1d", "1f", "12D", "12F", "0x1", "1_000", "true", "TRUE", "tRue", "false", "t", "yes", "2024", "1999", "20240131", "2024-01", "2024-01-31", "2024-1-3", "0000-01-01", "0001-01-01", "9999-12-31", "12024-01-01", "2024-02-30", "2024-01-31T10:00", "2024-01-31T10:00:00Z", "2024-01-31T10:00:00.1234560+02:00", "2024-01-31T10:00:00.1234567", "2024-01-31T24:00:00", "10:00", "T10:00", "now", "x", "-", "0.30000000000000004", "0.10000000000000001", "9007199254740993", "9007199254740993.0", "8.41E21", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "١"]  # fmt: skip


def documented() -> list[tuple[str, str]]:
    """The texts in the table of docs/pipelines.md, and the type that each is read as."""
    section = PAGE.read_text().partition("### What a text is read as")[2].partition("\n#")[0]
    rows = re.findall(r"^\| `([^`]+)` \| ([a-z]+(?:\(\d+,\d+\))?)", section, re.MULTILINE)
    return [(text, "string" if type_ == "text" else type_) for text, type_ in rows]


def random_text(draw: Random) -> str:
    """A text that is, or nearly is, a number or a time."""
    kind = draw.random()
    if kind < 0.3:
        return draw.choice(_ODD)
    if kind < 0.5:
        return repr(draw.uniform(-1, 1) * 10.0 ** draw.randint(-25, 25))
    if kind < 0.6:
        moment = datetime(1, 1, 2, tzinfo=UTC) + timedelta(
            days=draw.randrange(3_600_000), microseconds=draw.randrange(10**11)
        )
        return draw.choice([moment.isoformat(), moment.isoformat(" "), moment.date().isoformat()])
    whole, fraction = (
        "".join(draw.choice("0123456789") for _ in range(draw.choice([0, 1, 2, 9, 15, 17, 18, 38])))
        for _ in range(2)
    )
    sign, point = draw.choice(["", "", "-", "+"]), draw.choice(["", ".", "."])
    return sign + whole + point + fraction + draw.choice(["", "", "", "e5", "E-3", "D", " "]) or "0"


def random_cell(draw: Random) -> str:
    """The same, or nothing."""
    return "" if draw.random() < 0.1 else random_text(draw)


def is_kept(text: str, value: Any) -> bool:
    """Whether what is stored is written back as the same number or text."""
    if text == "":
        return value is None
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int | Decimal):
        return Fraction(value) == Fraction(text)
    if isinstance(value, float):
        written = repr(value)
        if written in {"nan", "inf", "-inf"}:
            return text in {"NaN", "Inf", "-Inf", "Infinity", "-Infinity"}
        return Fraction(written) == Fraction(text)
    if isinstance(value, datetime):
        spelt = datetime.fromisoformat(re.sub(r"(\.\d{6})0+", r"\1", text))
        return _in_utc(value) == _in_utc(spelt)
    return (value.isoformat() if isinstance(value, date) else value) == text


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
