"""Texts and the values they spell: one rule for CSV files, whichever engine reads them. Pure.

A text is *plain* if it can only mean one value of a type: types are inferred from plain texts. A
column whose type is known also takes *other spellings* of a value, as long as no digit is lost.
The regular expressions are read alike by Python and Java.
"""

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from lakebed.types.column_type import INTEGER_BITS, STRING, ColumnType, Primitive

WIDEST_DECIMAL = 38
EASY_DIGITS = 15  # every number of so many digits is the shortest spelling of its double
EASY_FLOAT_DIGITS = 6
SMALLEST_DOUBLE = 2.2250738585072014e-308  # closer to 0, doubles have fewer digits

INTEGER = r"(?:0|-?[1-9][0-9]{0,37})"
_POINTED = r"(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)"
FRACTION = rf"-?{_POINTED}(?:[eE][+-]?[0-9]{{1,4}})?"
NOT_FINITE = r"(?:NaN|-?Inf|-?Infinity)"
BOOLEAN = r"(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])"
DATE = r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6}0*)?)?"
LOCAL_TIME = rf"{DATE}(?:[T ]{_CLOCK})?"
TIME = rf"{DATE}(?:[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?"
# Those of at most `EASY_DIGITS` characters are easy to keep.
EASY_NUMBER = rf"(?:{INTEGER}|-?{_POINTED})"

# Other spellings, for columns whose type is known.
ANY_INTEGER = r"[+-]?[0-9]+"
ANY_NUMBER = r" *[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})? *"
ANY_NOT_FINITE = r" *(?:[nN][aA][nN]|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?) *"
ANY_TIME = r"[0-9]{4}(?:-[0-9]{1,2}(?:-[0-9]{1,2}(?:[T ].*)?)?)?"
FINER_THAN_MICROSECONDS = r"\.[0-9]{6}[0-9]*[1-9]"

# What a text can be read as. An *easy* fraction is surely the shortest spelling of its double.
TEXT = "text"
NUMBERS = ("int", "bigint", "wide", "easy", "fraction", "not finite")
KINDS = (*NUMBERS, "boolean", "date", "time", TEXT)
_LARGEST_OFFSET = 18 * 60  # minutes


@dataclass(frozen=True)
class Digits:
    """The digits that numbers need: before the point, and after it; `inexact` if some of them are
    not the shortest spelling of a double.
    """

    whole: int = 0
    scale: int = 0
    inexact: bool = False

    def __or__(self, other: "Digits") -> "Digits":
        return Digits(
            max(self.whole, other.whole),
            max(self.scale, other.scale),
            self.inexact or other.inexact,
        )


def type_of_kinds(kinds: Iterable[str], *, dates_are_times: bool = True) -> ColumnType | None:
    """The type of a column with texts of these `KINDS`; None if the digits of its numbers decide.

    Dates in a spelling of the zone's own cannot be read as times.
    """
    there = set(kinds)
    if not there or TEXT in there:
        return STRING
    if there <= {"int", "bigint"}:
        return Primitive("bigint" if "bigint" in there else "int")
    if there <= {"int", "easy", "not finite"}:
        return Primitive("double")
    if there <= {*NUMBERS}:
        return None
    if there in ({"boolean"}, {"date"}):
        return Primitive(there.pop())
    is_time = there == {"time"} or (dates_are_times and there == {"date", "time"})
    return Primitive("timestamp") if is_time else STRING


def type_of_digits(kinds: Iterable[str], digits: Digits) -> ColumnType:
    """The type of a column of numbers: a double if it keeps all digits, else a decimal, else
    text.
    """
    there = set(kinds)
    if there & {"easy", "fraction", "not finite"} and not digits.inexact:
        return Primitive("double")
    precision = digits.whole + digits.scale
    if "not finite" in there or precision > WIDEST_DECIMAL:
        return STRING
    return Primitive("decimal", (max(precision, 1), digits.scale))


def infer_type(texts: Iterable[str]) -> ColumnType:
    """The type of a column with these texts."""
    there = list(texts)
    kinds = {kind_of(text) for text in there}
    found = type_of_kinds(kinds)
    if found is not None:
        return found
    digits = Digits()
    for text in there:
        if kind_of(text) != "not finite":
            digits |= digits_of(text)
    return type_of_digits(kinds, digits)


def kind_of(text: str) -> str:
    """One of `KINDS`."""
    if re.fullmatch(INTEGER, text):
        return _integer_kind(int(text))
    if re.fullmatch(FRACTION, text):
        easy = len(text) <= EASY_DIGITS and re.fullmatch(EASY_NUMBER, text)
        return "easy" if easy else "fraction"
    for kind, expression in (("not finite", NOT_FINITE), ("boolean", BOOLEAN)):
        if re.fullmatch(expression, text):
            return kind
    if re.fullmatch(TIME, text) and _is_on_the_calendar(text):
        return "date" if re.fullmatch(DATE, text) else "time"
    return TEXT


def digits_of(text: str) -> Digits:
    """The digits of a number, in any spelling."""
    significant, exponent = _number(text)
    return Digits(
        whole=max(0, len(significant) + exponent) if significant else 0,
        scale=max(0, -exponent) if significant else 0,
        inexact=not _is_shortest(text, significant),
    )


def reads_as(text: str, type_: ColumnType) -> bool:
    """Whether a text spells a value of a type in any way, and the type keeps all of it. Dates and
    times that are not on the calendar are left to the engine.
    """
    name = type_.name
    if name in INTEGER_BITS:
        half = 1 << (INTEGER_BITS[name] - 1)
        return bool(re.fullmatch(ANY_INTEGER, text)) and -half <= int(text) < half
    if name in {"double", "float"} and re.fullmatch(ANY_NOT_FINITE, text):
        return True
    if name in {"double", "float", "decimal"}:
        return bool(re.fullmatch(ANY_NUMBER, text)) and _keeps(type_, text)
    if name == "boolean":
        return bool(re.fullmatch(BOOLEAN, text))
    if name == "date":
        return bool(re.fullmatch(DATE, text))
    if name in {"timestamp", "timestamp_ntz"}:
        return bool(re.fullmatch(ANY_TIME, text)) and not re.search(FINER_THAN_MICROSECONDS, text)
    return name in {"string", "binary"}


def is_number(text: str) -> bool:
    """Whether a text spells a number in any way; NaN and infinity are numbers, too."""
    return bool(re.fullmatch(ANY_NUMBER, text) or re.fullmatch(ANY_NOT_FINITE, text))


def _keeps(type_: ColumnType, text: str) -> bool:
    digits = digits_of(text)
    if isinstance(type_, Primitive) and type_.name == "decimal":
        precision, scale = type_.numbers
        return digits.scale <= scale and digits.whole <= precision - scale
    if type_.name == "float":
        return _is_shortest_float(text)
    return not digits.inexact


def _integer_kind(number: int) -> str:
    bits = number.bit_length() if number >= 0 else (-number - 1).bit_length()
    if bits < INTEGER_BITS["int"]:
        return "int"
    return "bigint" if bits < INTEGER_BITS["bigint"] else "wide"


def _number(text: str) -> tuple[str, int]:
    """The significant digits of a number, and the power of ten that the last of them counts."""
    mantissa, _, exponent = text.strip().upper().partition("E")
    whole, _, fraction = mantissa.lstrip("+-").partition(".")
    kept = (whole + fraction).rstrip("0")
    zeros = len(whole) + len(fraction) - len(kept)
    return kept.lstrip("0"), int(exponent or 0) - len(fraction) + zeros


def _is_shortest(text: str, significant: str) -> bool:
    """Whether the shortest spelling of the nearest double is the same number."""
    size = abs(float(text))
    usual = size == 0 or SMALLEST_DOUBLE <= size < float("inf")
    return usual and _number(repr(size))[0] == significant


def _is_shortest_float(text: str) -> bool:
    """The same for a number of four bytes, which nine digits tell from all others."""
    try:
        value = _as_float(float(text))
    except OverflowError:
        return False
    spellings = (f"{value:.{digits}e}" for digits in range(9))
    shortest = next(spelling for spelling in spellings if _as_float(float(spelling)) == value)
    return _number(shortest)[0] == _number(text)[0]


def _as_float(value: float) -> float:
    (found,) = struct.unpack("f", struct.pack("f", value))
    return float(found)


def _is_on_the_calendar(text: str) -> bool:
    """Whether there is such a day, such a time and such a zone."""
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    clock = re.match(r".{10}[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?", text)
    hour, minute, second = (int(part or 0) for part in clock.groups()) if clock else (0, 0, 0)
    offset = re.search(r"[+-]([0-9]{2}):([0-9]{2})$", text[10:])
    zone_hour, zone_minute = (int(part) for part in offset.groups()) if offset else (0, 0)
    in_a_day = hour < 24 and minute < 60 and second < 60
    return in_a_day and zone_minute < 60 and zone_hour * 60 + zone_minute <= _LARGEST_OFFSET
