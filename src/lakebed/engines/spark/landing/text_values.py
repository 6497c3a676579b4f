"""Texts of CSV files and the values they spell, as Spark SQL: the rule of `lakebed.types.spelling`.

Spark's own reader takes `007` for 7 and `12D` for 12.0, and rounds what has too many digits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.names import spark_identifier
from lakebed.ports import Field
from lakebed.tables import string_literal
from lakebed.types import spelling

PLAIN, ODD, MISFIT = 0, 1, 2
_BOOLEANS = "'true', 'false', 'True', 'False', 'TRUE', 'FALSE'"
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_FLOATING = {"double", "float"}
_ALWAYS_FIT = {"string", "binary"}
_TIMES = {"timestamp", "timestamp_ntz"}
_USUAL_DAYS = "yyyy-MM-dd"
_LARGEST_INTEGER = 9.2e18  # nearly the largest bigint
_NUMBER = f"(?:{spelling.INTEGER}|{spelling.FRACTION})"


@dataclass(frozen=True)
class TextColumn:
    """A column of texts that are read as values of a type."""

    name: str
    type: str
    pattern: str | None = None  # how the zone spells dates or times, if not as usual
    parsed: str = ""  # a column that has the values, if there is one

    @property
    def text(self) -> str:
        return spark_identifier(self.name)

    @property
    def value(self) -> str:
        """The value that a text spells; NULL if Spark cannot read it."""
        if self.parsed:
            return self.parsed
        if self.type == "string":
            return self.text
        if self.pattern is not None:
            pattern = string_literal(self.pattern)
            return f"CAST(try_to_timestamp({self.text}, {pattern}) AS {self.type})"
        return f"try_cast({self.text} AS {self.type})"

    @property
    def value_or_error(self) -> str:
        """The same; a text that Spark cannot read fails the job."""
        if self.type in _ALWAYS_FIT:
            return self.value
        told = string_literal(f"a value of {self.name} is not {self.type}")
        failed = f"CAST(raise_error({told}) AS {self.type})"
        return f"coalesce({self.value}, if({self.text} IS NULL, NULL, {failed}))"

    @property
    def grade(self) -> str:
        """`PLAIN` for NULL and for a text from which the type would be inferred, `ODD` for another
        spelling of a value, `MISFIT` if it spells no value of the type or something would be lost.
        """
        if self.type in _ALWAYS_FIT:
            return str(PLAIN)
        return (
            f"CASE WHEN {self.text} IS NULL THEN {PLAIN} WHEN {self.value} IS NULL THEN {MISFIT}"
            f" WHEN {self._is_plain} THEN {PLAIN}"
            f" WHEN {_rarely(self.text, self._is_other_spelling)} THEN {ODD} ELSE {MISFIT} END"
        )

    @property
    def is_plain(self) -> str:
        """Whether the type would be inferred from a text."""
        return f"({self.value} IS NOT NULL AND {self._is_plain})"

    @property
    def _is_plain(self) -> str:
        text = self.text
        if self.pattern is not None:
            return f"NOT {is_finer(text)}"
        if self.type in _INTEGERS:
            return f"CAST({self.value} AS string) = {text}"
        if self.type == "date":
            return _is_a_day(text)
        if self._is_fractional:
            return f"({self._is_surely_plain} OR {_rarely(text, self._is_plain_number)})"
        if self.type == "boolean":
            return f"({text} IN ({_BOOLEANS}) OR {matches(text, spelling.BOOLEAN)})"
        if self.type == "timestamp_ntz":
            return matches(text, spelling.LOCAL_TIME)
        return f"({_is_a_usual_time(text)} OR {matches(text, spelling.TIME)})"

    @property
    def needs_a_closer_look(self) -> str:
        """Whether a text is neither NULL nor surely plain. Quick to tell, for every value."""
        if self.type in _ALWAYS_FIT:
            return "false"
        surely = self._is_surely_plain if self._is_fractional else self._is_plain
        plain = f"({self.value} IS NOT NULL AND {surely})"
        return f"NOT coalesce({self.text} IS NULL OR {plain}, false)"

    @property
    def _is_fractional(self) -> bool:
        return self.type in _FLOATING or self.type.startswith("decimal")

    @property
    def _is_surely_plain(self) -> str:
        """The same for numbers with a fraction, where it holds for most plain ones."""
        if found := _DECIMAL.fullmatch(self.type):
            return f"({_is_short_decimal(self.text, int(found[2]))} OR {self._is_easy})"
        short = f"{_is_short_double(self.text)} OR " if self.type == "double" else ""
        as_java_spells = f"CAST({self.value} AS string) = {self.text}"
        return f"({short}{self._is_easy} OR {as_java_spells})"

    @property
    def _is_easy(self) -> str:
        digits = spelling.EASY_FLOAT_DIGITS if self.type == "float" else spelling.EASY_DIGITS
        if found := _DECIMAL.fullmatch(self.type):
            digits = min(int(found[1]), int(found[2]) + 1)  # as many after the point, at most
        easy = matches(self.text, spelling.EASY_NUMBER)
        return f"(octet_length({self.text}) <= {digits} AND {easy})"

    def _is_plain_number(self, text: str) -> str:
        plain = f"({matches(text, _NUMBER)} AND {self._keeps_digits(text)})"
        if self.type in _FLOATING:
            return f"({plain} OR {matches(text, spelling.NOT_FINITE)})"
        return plain

    def _is_other_spelling(self, text: str) -> str:
        if self.pattern is not None:
            return "false"
        if self.type in _INTEGERS:
            return matches(text, spelling.ANY_INTEGER)
        if self.type == "timestamp":
            return f"({matches(text, spelling.ANY_TIME)} AND NOT {is_finer(text)})"
        number = f"({matches(text, spelling.ANY_NUMBER)} AND {self._keeps_digits(text)})"
        if self.type in _FLOATING:
            return f"({number} OR {matches(text, spelling.ANY_NOT_FINITE)})"
        return number if self.type.startswith("decimal") else "false"

    def _keeps_digits(self, text: str) -> str:
        if found := _DECIMAL.fullmatch(self.type):
            return f"{scale_of(text)} <= {found[2]}"
        return keeps_digits(text, f"try_cast({text} AS {self.type})", self.type)


def _rarely(text: str, condition: Callable[[str], str]) -> str:
    """A condition on a text that is seldom asked for. Spark does not compile what is in a lambda,
    which would take longer than to evaluate it for the few rows that need it.
    """
    return f"exists(array({text}), t -> {condition('t')})"


def is_finer(text: str) -> str:
    """Whether a time counts more than microseconds."""
    return f"{text} RLIKE {string_literal(spelling.FINER_THAN_MICROSECONDS)}"


# The following are asked of every value. They hold for texts that Spark can read as the type, and
# take a fraction of the time of a regular expression. They are short, too: the tests of all columns
# make one method, and a large one is not compiled as a whole (see `reader`).


def _is_short_double(text: str) -> str:
    """Whether a double is spelt with few digits, and at most a minus and a point: no exponent or
    suffix, no zero or blank before it.
    """
    return f"(octet_length({text}) <= {spelling.EASY_DIGITS} AND {_is_plain_fraction(text)})"


def _is_short_decimal(text: str, scale: int) -> str:
    """The same for a decimal that has no more digits after its point than its type."""
    point = f"locate('.', {text})"
    fits = f"({point} = 0 OR octet_length({text}) - {point} <= {scale})"
    return f"({fits} AND {_is_plain_fraction(text)})"


def _is_plain_fraction(text: str) -> str:
    exponent = f"contains({text}, 'E') OR contains({text}, 'e')"
    return f"({_begins_plainly(text)} AND {_ends_with_digit(text)} AND NOT ({exponent}))"


def _begins_plainly(text: str) -> str:
    """Whether a number begins with a digit that is not 0, or with a 0 before its point."""
    after_nine = chr(ord("9") + 1)
    signs = ("", "-")
    digit = [f"({text} >= '{sign}1' AND {text} < '{sign}{after_nine}')" for sign in signs]
    zero = [f"startswith({text}, '{sign}0.')" for sign in signs]
    return f"({' OR '.join([*digit, *zero])})"


def _is_a_usual_time(text: str) -> str:
    """Whether a time has all digits of date, hours, minutes and seconds, no or three digits after
    them, and no zone or Z. Where a part has one digit only, a text of this length has something
    else instead.
    """
    zulu = f"endswith({text}, 'Z')"
    millis = f"{_sign(text, 20)} = '.'"
    seconds = f"{_sign(text, 17)} = ':' AND {_ends_with_digit(text)}"
    no_offset = f"NOT contains({text}, '+') AND locate('-', {text}, 9) = 0"
    end = (
        f"CASE octet_length({text}) WHEN 24 THEN {millis} AND {zulu}"
        f" WHEN 20 THEN {zulu} AND NOT contains({text}, '.') WHEN 19 THEN {seconds}"
        f" WHEN 23 THEN {millis} AND {seconds} AND {no_offset} ELSE false END"
    )
    return f"({_has_year(text)} AND {end})"


def _is_a_day(text: str) -> str:
    """Whether a date has four, two and two digits: Spark also reads `2024-1-31` and, with blanks or
    a T in place of its last digits, others.
    """
    month = f"{_sign(text, 8)} = '-' AND {_ends_with_digit(text)}"
    return f"(octet_length({text}) = 10 AND {_has_year(text)} AND {month})"


def _has_year(text: str) -> str:
    """Whether a date begins with a year of four digits; Python has no year 0."""
    return f"({text} > '0001' AND {_sign(text, 5)} = '-')"


def _ends_with_digit(text: str) -> str:
    return f"locate({_sign(text, -1)}, '0123456789') > 0"


def _sign(text: str, place: int) -> str:
    return f"substring({text}, {place}, 1)"


def text_column(column: Field, options: Mapping[str, str]) -> TextColumn:
    """A column of files that are read with these options."""
    pattern = None
    if column.type == "date":
        pattern = options.get("dateFormat")
    if column.type in _TIMES:
        pattern = options.get("timestampFormat")
    return TextColumn(column.name, column.type, None if pattern == _USUAL_DAYS else pattern)


def numbered(columns: Sequence[TextColumn]) -> tuple[list[str], list[TextColumn]]:
    """Expressions for the texts of columns (`t0`, `t1` …) and their values (`v0` …), and the same
    columns by these names: Spark then computes each value once.
    """
    places = range(len(columns))
    texts = [f"{columns[place].text} AS t{place}" for place in places]
    values = [f"{columns[place].value} AS v{place}" for place in places]
    renamed = [replace(columns[place], name=f"t{place}", parsed=f"v{place}") for place in places]
    return [*texts, *values], renamed


def kind_of(name: str, options: Mapping[str, str]) -> str:
    """What a text can be read as: one bit for each of `spelling.KINDS`; NULL for NULL."""
    text = spark_identifier(name)
    day = text_column(Field(name, "date"), options)
    time = text_column(Field(name, "timestamp"), options)
    bits = {kind: str(1 << place) for place, kind in enumerate(spelling.KINDS)}
    integer = (
        f"CASE WHEN try_cast({text} AS int) IS NOT NULL THEN {bits['int']}"
        f" WHEN try_cast({text} AS bigint) IS NOT NULL THEN {bits['bigint']}"
        f" ELSE {bits['wide']} END"
    )
    short = f"octet_length({text}) <= {spelling.EASY_DIGITS}"
    easy = f"{short} AND {matches(text, spelling.EASY_NUMBER)}"
    cases = {
        f"{text} IS NULL": "NULL",
        matches(text, spelling.INTEGER): integer,
        matches(text, spelling.FRACTION): f"if({easy}, {bits['easy']}, {bits['fraction']})",
        matches(text, spelling.NOT_FINITE): bits["not finite"],
        matches(text, spelling.BOOLEAN): bits["boolean"],
        day.is_plain: bits["date"],
        time.is_plain: bits["time"],
    }
    told = " ".join(f"WHEN {case} THEN {kind}" for case, kind in cases.items())
    return f"CASE {told} ELSE {bits[spelling.TEXT]} END"


def keeps_digits(text: str, value: str, type_: str) -> str:
    """Whether the shortest spelling of a floating number is the number that a text spells."""
    digits = significant_digits(text)
    size = f"abs({value})"
    short = f"length({digits}) <= {_easy_digits(type_)}"
    usual = f"{size} BETWEEN {_smallest(type_)} AND {_largest(type_)}"
    written = significant_digits(f"CAST({value} AS string)")
    spelt = f"{written} = {digits}"
    if type_ == "double":
        is_large = f"{size} BETWEEN {2.0**53}D AND {_LARGEST_INTEGER}D"
        spelt = f"if({is_large}, {_is_shortest_integer(text, size)}, {spelt})"
    has_all_digits = f"({size} >= {_smallest(type_)} OR {size} = 0)"
    return f"coalesce(({short} AND {usual}) OR ({has_all_digits} AND {spelt}), false)"


def _is_shortest_integer(text: str, size: str) -> str:
    """The same for large doubles, which are integers: Java 17 spells them with too many digits.

    The spelling must be the nearest one with its number of digits, and that with one digit less
    another double.
    """
    unit = f"CAST(power(10, least(greatest({_last_power(text)}, 0), 4)) AS bigint)"
    number = f"CAST({size} AS bigint)"
    spelt = f"try_cast({significant_digits(text)} AS bigint)"
    nearest = f"abs(try_subtract(try_multiply({spelt}, {unit}), {number})) < {unit} / 2.0D"
    shorter = f"(({number} + 5 * {unit}) div (10 * {unit})) * 10 * {unit}"
    return f"({_last_power(text)} >= 0 AND {nearest} AND CAST({shorter} AS double) != {size})"


def significant_digits(text: str) -> str:
    """The digits of a number without zeros at its ends. Of two numbers that are the same double,
    these tell whether they are equal.
    """
    return f"trim(BOTH '0' FROM regexp_replace({_mantissa(text)}, '[^0-9]', ''))"


def scale_of(text: str) -> str:
    """How many digits a number has after its point."""
    return f"if({significant_digits(text)} = '', 0, greatest(0, -{_last_power(text)}))"


def whole_digits(text: str) -> str:
    """How many digits a number has before its point."""
    digits = significant_digits(text)
    return f"if({digits} = '', 0, greatest(0, length({digits}) + {_last_power(text)}))"


def matches(text: str, expression: str) -> str:
    """Whether all of a text matches; `$` would also match before a line break at its end."""
    whole = rf"^(?:{expression})\z"
    return f"{text} RLIKE {string_literal(whole)}"


def _last_power(text: str) -> str:
    """The power of ten that the last digit which is not 0 counts."""
    exponent = f"coalesce(try_cast(split_part(upper({text}), 'E', 2) AS int), 0)"
    digits = f"regexp_replace({_mantissa(text)}, '[^0-9]', '')"
    zeros = f"length({digits}) - length(rtrim('0', {digits}))"
    fraction = f"length(regexp_replace({_mantissa(text)}, '^[^.]*[.]?|[^0-9]', ''))"
    return f"({exponent} - {fraction} + {zeros})"


def _mantissa(text: str) -> str:
    return f"split_part(upper({text}), 'E', 1)"


def _easy_digits(type_: str) -> int:
    return spelling.EASY_FLOAT_DIGITS if type_ == "float" else spelling.EASY_DIGITS


def _smallest(type_: str) -> str:
    return "1e-30" if type_ == "float" else f"{spelling.SMALLEST_DOUBLE}D"


def _largest(type_: str) -> str:
    return "1e30" if type_ == "float" else "1e300D"
