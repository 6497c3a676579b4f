"""One table with a column of every type that Spark, DuckDB and PyIceberg share, its edge values,
and predicates over them.
"""
# ruff: noqa: DTZ001 - Iceberg's timestamp has no zone

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from lakebed.names import duckdb_identifier, spark_identifier

NAN, INF = float("nan"), float("inf")
FAR, LATE = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)
# name → (Iceberg's type, values that stand at an edge; NULL is added to all)
TYPES: dict[str, tuple[str, list[Any]]] = {
    "b": ("boolean", [True, False]),
    "i": ("int", [0, 1, -1, 2**31 - 1, -(2**31)]),
    "l": ("long", [0, 1, -1, 2**63 - 1, -(2**63)]),
    "f": (
        "float",
        [0.0, -0.0, NAN, 1.5, -1.5, INF, -INF, 3.4028234663852886e38, 1.401298464324817e-45],
    ),
    "d": ("double", [0.0, -0.0, NAN, 1.5, -1.5, INF, -INF, 1.7976931348623157e308, 5e-324]),
    "dec9": (
        "decimal(9, 2)",
        [
            Decimal("0.00"),
            Decimal("0.01"),
            Decimal("-0.01"),
            Decimal("9999999.99"),
            Decimal("-9999999.99"),
        ],
    ),
    "dec18": (
        "decimal(18, 4)",
        [Decimal("0.0000"), Decimal("99999999999999.9999"), Decimal("-99999999999999.9999")],
    ),
    "dec38": (
        "decimal(38, 10)",
        [
            Decimal("0E-10"),
            Decimal("9" * 28 + "." + "9" * 10),
            Decimal("-" + "9" * 28 + "." + "9" * 10),
        ],
    ),
    "dt": (
        "date",
        [
            date(1970, 1, 1),
            date(1969, 12, 31),
            date(1, 1, 1),
            date(9999, 12, 31),
            date(1582, 10, 10),
        ],
    ),
    "ts": (
        "timestamp",
        [
            datetime(1970, 1, 1),
            datetime(1969, 12, 31, 23, 59, 59, 999999),
            FAR,
            LATE,
            datetime(2026, 3, 29, 2, 30),
        ],
    ),
    "tz": (
        "timestamptz",
        [datetime(1970, 1, 1, tzinfo=UTC), FAR.replace(tzinfo=UTC), LATE.replace(tzinfo=UTC)],
    ),
    "s": (
        "string",
        [
            "",
            "a",
            "A",
            "ab",
            "b",
            " ",
            "it's",
            'q"q',
            "ä",
            "日本",
            "\U0001f600",
            "a%b_c",
            "x" * 300,
            "nul\0nul",
            "back\\s",
        ],
    ),
    "u": (
        "uuid",
        [
            UUID(int=0),
            UUID(int=2**128 - 1),
            UUID("123e4567-e89b-12d3-a456-426614174000"),
            UUID(int=2**127),
        ],
    ),
    "fx": ("fixed[4]", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"abcd", b"\x80\0\0\0"]),
    "bin": ("binary", [b"", b"\0", b"\xff", b"abc", b"\x80\x81"]),
    "li": ("list<int>", [[], [1], [1, None, 3], [None]]),
    "ls": ("list<struct<a: int, b: string>>", [[], [{"a": 1, "b": "x"}, {"a": None, "b": None}]]),
    "m": ("map<string, int>", [[], [("k", 1), ("ä", None)]]),
    "ms": ("map<string, struct<x: int>>", [[("k", {"x": 1}), ("n", {"x": None})]]),
    "st": (
        "struct<a: int, b: string, c: struct<d: double>>",
        [
            {"a": 1, "b": "x", "c": {"d": 1.5}},
            {"a": None, "b": None, "c": {"d": None}},
            {"a": -1, "b": "", "c": {"d": NAN}},
        ],
    ),
}
# Names that Avro would not take, which Iceberg's writers store in other letters; and such names
# inside of others.
ODD: dict[str, tuple[str, list[Any]]] = {
    "my col": TYPES["l"],
    "a-b": TYPES["s"],
    "a.b": TYPES["dec9"],
    "1st": TYPES["dt"],
    "x$y": TYPES["d"],
    "count(*)": TYPES["ts"],
    "€": TYPES["i"],
    "it's": TYPES["b"],
    "a/b": TYPES["bin"],
    "b`t": TYPES["tz"],
    "größe": TYPES["f"],
    "odd st": (
        "struct<a: int, `in-ner`: struct<`d.d`: double>>",
        [{"a": 1, "in-ner": {"d.d": 1.5}}, {"a": None, "in-ner": None}],
    ),
    "ol": (
        "list<struct<`1a`: int, `b b`: string>>",
        [[], [{"1a": 1, "b b": "x"}, {"1a": None, "b b": None}]],
    ),
    "om": (
        "map<string, struct<`x$`: list<struct<`y€`: int>>>>",
        [[("k", {"x$": [{"y€": 1}, {"y€": None}]})]],
    ),
}
COMPARED = (
    "b",
    "i",
    "l",
    "f",
    "d",
    "dec9",
    "dec18",
    "dec38",
    "dt",
    "ts",
    "tz",
    "s",
    "u",
    "fx",
    "bin",
)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def rows(count: int, types: dict[str, tuple[str, list[Any]]] = TYPES) -> list[dict[str, Any]]:
    """Row k has of each type its k-th edge value; one round later comes NULL."""
    made = []
    for number in range(count):
        row: dict[str, Any] = {"id": number}
        for name, (_, values) in types.items():
            every = [*values, None]
            row[name] = every[number % len(every)]
        made.append(row)
    return made


@dataclass(frozen=True)
class Predicate:
    """A condition in the words of each engine; `column op values` for PyIceberg, where it can say
    it.
    """

    column: str
    op: str
    values: tuple[Any, ...]
    spark: str
    duckdb: str


def predicates(columns: dict[str, str], most: int = 5) -> Iterator[Predicate]:
    """Every operator over these columns; `columns` is what each is called by now → whose values it
    has, the first `most`.

    A name that is not plain is that of a column; a plain one may be the path to a nested field.
    """
    for column, kind in columns.items():
        values = TYPES[kind][1]
        for value in values[: 3 * most if kind == "s" else most]:
            for op in OPERATORS:
                yield _made(column, kind, op, (value,), f"{{}} {op} {{}}")
        several = tuple(values[1:3])
        marks = ", ".join("{}" for _ in several)
        yield _made(column, kind, "in", several, f"{{}} IN ({marks})")
        yield _made(column, kind, "not in", several, f"{{}} NOT IN ({marks})")
        yield _made(column, kind, "between", (values[0], values[1]), "{} BETWEEN {} AND {}")
        yield _made(column, kind, "is null", (), "{} IS NULL")
        yield _made(column, kind, "not null", (), "{} IS NOT NULL")
        if kind == "s":
            for pattern in ("a%", "%", "ä%", "zz%"):
                yield _made(column, kind, "like", (pattern,), "{} LIKE {}")


def _made(column: str, kind: str, op: str, values: tuple[Any, ...], text: str) -> Predicate:
    by_spark, by_duckdb = (
        [literal(kind, value) for value in values] for literal in (spark_literal, duckdb_literal)
    )
    for_spark, for_duckdb = (
        quote(column) if column in ODD else column
        for quote in (spark_identifier, duckdb_identifier)
    )
    return Predicate(
        column, op, values, text.format(for_spark, *by_spark), text.format(for_duckdb, *by_duckdb)
    )


def spark_literal(kind: str, value: Any) -> str:
    match value:
        case datetime():
            zone = " UTC" if value.tzinfo else ""
            return f"{'TIMESTAMP' if zone else 'TIMESTAMP_NTZ'} '{_clock(value)}{zone}'"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0") + "'"
        case bytes():
            return f"X'{value.hex()}'"
        case UUID():
            return f"'{value}'"
    return _literal(kind, value)


def duckdb_literal(kind: str, value: Any) -> str:
    match value:
        case datetime():
            zone = "+00" if value.tzinfo else ""
            return f"{'TIMESTAMPTZ' if zone else 'TIMESTAMP'} '{_clock(value)}{zone}'"
        case str():
            quoted = "'" + value.replace("'", "''") + "'"
            return "(" + quoted.replace("\0", "' || chr(0) || '") + ")" if "\0" in value else quoted
        case bytes():
            return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
        case UUID():
            return f"UUID '{value}'"
    return _literal(kind, value)


def _literal(kind: str, value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"CAST('{_number(value)}' AS {TYPES[kind][0].upper()})"
        case Decimal():
            return f"CAST('{value:f}' AS {TYPES[kind][0].upper()})"
        case date():
            return f"DATE '{value.isoformat()}'"
    return str(value)


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else str(value).replace("inf", "Infinity")


def _clock(value: datetime) -> str:
    return f"{value.year:04}-{value:%m-%d %H:%M:%S.%f}"


def canonical(value: Any) -> Any:
    """A value that compares equal exactly where the stored values are the same, whichever engine
    handed it over.
    """
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return "NaN" if math.isnan(value) else repr(value)
        case datetime():
            return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        case bytes() | bytearray():
            return bytes(value).hex()
        case Decimal():
            return f"{value:f}"
        case dict():
            return {name: canonical(inner) for name, inner in value.items()}
        case list():
            pairs = bool(value) and all(isinstance(one, tuple) for one in value)
            made = [canonical(list(one) if isinstance(one, tuple) else one) for one in value]
            return sorted(made, key=repr) if pairs else made
    return str(value)
