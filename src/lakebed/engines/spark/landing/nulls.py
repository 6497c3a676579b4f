"""CSV files with several texts for NULL.

Spark's reader knows one, so fields are read as text and then parsed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup
from lakebed.tables import string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PARSED, _FAULT = "_lakebed_parsed", "fault"
_AS_THEY_ARE = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
_TIMES = ("dateFormat", "timestampFormat", "enableDateTimeParsingFallback")


def as_texts(columns: Sequence[Field]) -> str:
    """A schema that reads all columns as text."""
    return ", ".join(f"{spark_identifier(column.name)} string" for column in columns)


def with_nulls(
    frame: "DataFrame", group: FileGroup, columns: Sequence[Field], *, corrupt: str = ""
) -> "DataFrame":
    """Texts parsed to the types of the columns, as Spark's own reader would.

    Bad records go to the column `corrupt`, if one is named; otherwise they fail the job.
    """
    from pyspark.sql.functions import expr

    typed = {
        column.name: f"t{place}" for place, column in enumerate(columns) if column.type != "string"
    }
    if typed:
        frame = frame.withColumn(
            _PARSED, expr(_parsing(group, columns, typed, tolerant=bool(corrupt)))
        )
    values = [
        f"{_parsed(typed[one.name]) if one.name in typed else _value(one, group)} AS {_name(one)}"
        for one in columns
    ]
    return frame.selectExpr(
        *values, *([_broken(group, columns, corrupt, typed=bool(typed))] if corrupt else [])
    )


def _parsing(
    group: FileGroup, columns: Sequence[Field], typed: dict[str, str], *, tolerant: bool
) -> str:
    """The typed fields as a separate record, parsed.

    An extra first field keeps it from being blank.
    """
    chosen = [column for column in columns if column.name in typed]
    fields = ", ".join(f"'{typed[column.name]}', {_value(column, group)}" for column in chosen)
    schema = ", ".join(("k string", *(f"{typed[column.name]} {column.type}" for column in chosen)))
    times = {key: group.options[key] for key in _TIMES if key in group.options}
    options = (
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _FAULT}
        if tolerant
        else {"mode": "FAILFAST"}
    )
    record = f"to_csv(named_struct('k', 'x', {fields}), {_map(_AS_THEY_ARE)})"
    return (
        f"from_csv({record}, '{schema}{f', {_FAULT} string' if tolerant else ''}',"
        f" {_map(options | times)})"
    )


def _broken(group: FileGroup, columns: Sequence[Field], corrupt: str, *, typed: bool) -> str:
    """A bad record, with the delimiters and quotes of its file."""
    if not typed:
        return spark_identifier(corrupt)
    signs = {key: group.options[key] for key in ("sep", "quote", "escape")}
    record = f"to_csv(struct({', '.join(map(_name, columns))}), {_map(signs | _AS_THEY_ARE)})"
    found = f"if({_parsed(_FAULT)} IS NULL, NULL, {record})"
    return f"coalesce({spark_identifier(corrupt)}, {found}) AS {spark_identifier(corrupt)}"


def _parsed(field: str) -> str:
    return f"{_PARSED}.{field}"


def _value(column: Field, group: FileGroup) -> str:
    name = _name(column)
    return (
        f"CASE WHEN {name} IN ({', '.join(map(string_literal, group.nulls))}) THEN NULL ELSE"
        f" {name} END"
    )


def _name(column: Field) -> str:
    return spark_identifier(column.name)


def _map(options: dict[str, str]) -> str:
    pairs = (f"{string_literal(key)}, {string_literal(value)}" for key, value in options.items())
    return f"map({', '.join(pairs)})"
