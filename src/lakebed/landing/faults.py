"""What is wrong with a file, in words, from what the engine counted in it."""

import csv
import json
from collections.abc import Sequence

from lakebed.landing.alike import Alike
from lakebed.landing.csvtext import Signs
from lakebed.ports import Field, FileRows

_LONGEST = 120


def fault_of(member: Alike, columns: Sequence[Field], found: FileRows, record: str) -> str:
    """Why a file is bad; empty if it is not. One row that cannot be kept makes the whole file bad."""
    if found.corrupt:
        why = _csv_fault(member, columns, record) if member.format == "csv" else _json_fault(record)
        return f"{_some(found.corrupt, found.rows)} not fit: {_cut(record)!r} {why}"
    if found.stray:
        lines = "it holds" if member.multiline else "a line holds" if found.stray == 1 else f"{found.stray} lines hold"
        return f"{lines} more than one JSON value, or something after it: only the first would be read"
    if found.rounded:
        decimals = ", ".join(f"{column.name} {column.type}" for column in columns if column.type.startswith("decimal"))
        return f"{_some(found.rounded, found.rows)} not fit: a number has more digits than {decimals} can keep"
    return ""


def _some(bad: int, rows: int) -> str:
    return f"{bad} of {rows} rows {'does' if bad == 1 else 'do'}"


def _csv_fault(member: Alike, columns: Sequence[Field], record: str) -> str:
    options = dict(member.options)
    signs = Signs(options["sep"], options["quote"], options["escape"])
    broken = record.count(signs.quote) % 2 == 1 and not member.multiline
    advice = "; if fields hold line breaks, set multiline: true in zone.yaml" if broken else ""
    try:
        count = len(next(iter(signs.records([record])), []))
    except csv.Error:
        return f"has quotes that do not end{advice}"
    if count != len(columns):
        return f"has {count} field{'s' if count != 1 else ''}, the file {len(columns)} columns{advice}"
    return f"has a value that is not of its column's type ({', '.join(f'{column.name} {column.type}' for column in columns)})"


def _json_fault(record: str) -> str:
    try:
        value = json.loads(record)
    except (ValueError, RecursionError) as error:
        return f"is not JSON ({error})"
    if not isinstance(value, dict | list):
        return "is not an object"
    return "has a value that is not of its column's type"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
