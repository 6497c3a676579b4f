"""Describing what is wrong with a file, from what the engine counted in it."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from lakebed.landing.checking.read_groups import ReadGroup
from lakebed.landing.checking.value_faults import advice, does_not_fit, loses_digits
from lakebed.landing.formats.csv_text import CsvDialect
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import LONGEST_RECORD, Field, FileRows

_LONGEST = 120
_ROUNDED = re.compile(r"\b(decimal|double|float|timestamp)")


def describe_fault(
    member: ReadGroup,
    columns: Sequence[Field],
    found: FileRows,
    record: str,
    *,
    spec: ZoneSpec,
    line: int | None = None,
) -> str:
    """Why a file is bad; empty if it is not. One bad row makes the whole file bad."""
    if found.corrupt:
        why = (
            _csv_fault(member, columns, record, spec)
            if member.format == "csv"
            else _json_fault(columns, record, spec)
        )
        place = f" (line {line})" if line else ""
        return f"{_some(found.corrupt, found.rows)} not fit: {_cut(record)!r}{place} {why}"
    if found.stray:
        lines = (
            "it holds"
            if member.multiline
            else "a line holds"
            if found.stray == 1
            else f"{found.stray} lines hold"
        )
        return (
            f"{lines} more than one JSON value, or something after it: only the first would be read"
        )
    if found.rounded:
        limited = ", ".join(
            f"{column.name} {column.type}" for column in columns if _ROUNDED.search(column.type)
        )
        return (
            f"{_some(found.rounded, found.rows)} not fit: a value has more digits than {limited}"
            " can keep"
        )
    return ""


def _some(bad: int, rows: int) -> str:
    return f"{bad} of {rows} rows {'does' if bad == 1 else 'do'}"


def _csv_fault(member: ReadGroup, columns: Sequence[Field], record: str, spec: ZoneSpec) -> str:
    options = dict(member.options)
    signs = CsvDialect(options["sep"], options["quote"], options["escape"])
    broken = record.count(signs.quote) % 2 == 1 and not member.multiline
    spanning = f"; if fields hold line breaks, {spec.how_to_set('multiline', 'true')}"
    hint = spanning if broken else ""
    try:
        fields = next(iter(signs.records([record])), [])
    except csv.Error:
        return f"has quotes that are not closed{hint}"
    if len(fields) != len(columns):
        return (
            f"has {len(fields)} field{'s' if len(fields) != 1 else ''}, the file {len(columns)}"
            f" columns{hint}"
        )
    pairs = zip(columns, fields, strict=True)
    return _value_fault(
        ((column, value) for column, value in pairs if does_not_fit(value, column.type, spec)),
        columns,
        spec,
    )


def _json_fault(columns: Sequence[Field], record: str, spec: ZoneSpec) -> str:
    try:
        value = json.loads(record, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        if len(record) >= LONGEST_RECORD and isinstance(error, ValueError):
            return "is too long to say which of its values does not fit"
        return f"is not JSON ({error})"
    if not isinstance(value, dict | list):
        return "is not an object"
    pairs = [(column, value.get(column.name)) for column in columns if isinstance(value, dict)]
    return _value_fault(
        ((column, one) for column, one in pairs if does_not_fit(one, column.type, spec, json=True)),
        columns,
        spec,
    )


def _value_fault(
    misfits: Iterator[tuple[Field, object]], columns: Sequence[Field], spec: ZoneSpec
) -> str:
    """The value that does not fit its column, if it can be found here, and the setting that would
    help.
    """
    column, value = next(misfits, (None, None))
    if column is None:
        return (
            "has a value that is not of its column's type"
            f" ({', '.join(f'{one.name} {one.type}' for one in columns)})"
        )
    said = f"has {_spelt(value)} in the column {column.name}, "
    if loses_digits(value, column.type):
        said += f"more digits than {column.name} {column.type} can keep"
    else:
        said += f"which is {column.type}"
    return f"{said}; {advice(column, value, spec)}"


def _spelt(value: object) -> str:
    return str(value) if isinstance(value, Decimal) else repr(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
