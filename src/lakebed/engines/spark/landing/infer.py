"""Inferring the columns of landing files from their values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed.engines.spark.landing.json_texts import exact_types
from lakebed.engines.spark.landing.reader import CORRUPT, load, load_texts, reader_of
from lakebed.engines.spark.landing.text_values import (
    keeps_digits,
    kind_of,
    matches,
    scale_of,
    text_column,
    whole_digits,
)
from lakebed.engines.spark.types import column_type
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup
from lakebed.types import STRING, ColumnType, Primitive, Struct, parse_type, with_parts
from lakebed.types.spelling import KINDS, NOT_FINITE, Digits, type_of_digits, type_of_kinds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PATTERN = re.compile(r"[*?\[\]{}\\^:]")
_AS_IT_IS = {"spark.sql.caseSensitive": "true", "spark.sql.legacy.parquet.nanosAsLong": "true"}
_RECORDS = (
    "explode(if(startswith(value, '['), try_cast(try_parse_json(value) AS array<variant>),"
    " array(try_parse_json(value))))"
)


def infer_columns(session: "SparkSession", group: FileGroup) -> tuple[Field, ...]:
    """The columns of the files, spelt as there: `id` and `ID` are two columns, and nanoseconds are
    numbers.
    """
    if group.format == "csv":
        return _of_texts(session, group)
    if group.options.get("multiLine") == "true" and any(
        _PATTERN.search(path.partition("://")[2]) for path in group.paths
    ):
        return exact_types(session, group, _of_values(session, group))
    reader = reader_of(session, group).option("inferSchema", "true")
    with _set(session, _AS_IT_IS):
        fields = load(reader, group).schema.fields
        columns = tuple(
            Field(field.name, column_type(field.dataType).spark)
            for field in fields
            if field.name != CORRUPT
        )
        return exact_types(session, group, columns) if group.format == "json" else columns


def _of_values(session: "SparkSession", group: FileGroup) -> tuple[Field, ...]:
    whole = FileGroup("text", group.paths, {"wholetext": "true"})
    texts = load(reader_of(session, whole), whole).selectExpr(
        "ltrim('\ufeff \n\r\t', value) AS value"
    )
    (row,) = (
        texts.selectExpr(f"{_RECORDS} AS record")
        .selectExpr("schema_of_variant_agg(record) AS shape")
        .collect()
    )
    found = parse_type(row.shape)
    return (
        tuple(Field(name, str(_plain(part))) for name, part in found.fields)
        if isinstance(found, Struct)
        else ()
    )


def _plain(type_: ColumnType) -> ColumnType:
    """The type that Spark's JSON reader would infer for a variant."""
    match type_:
        case Primitive("void" | "variant") | Struct(()):
            return STRING
        case Primitive("decimal", (_, scale)) if scale:
            return Primitive("double")
    return with_parts(type_, tuple((name, _plain(part)) for name, part in type_.parts))


def _of_texts(session: "SparkSession", group: FileGroup) -> tuple[Field, ...]:
    """The types of CSV columns by the kinds of their texts and, where these leave it open, by the
    digits of their numbers.
    """
    texts = load_texts(reader_of(session, group), group)
    names = [column.name for column in group.columns]
    kinds = _kinds(texts, names, group.options)
    usual = text_column(Field("", "date"), group.options).pattern is None
    usual = usual and "timestampFormat" not in group.options
    types = {name: type_of_kinds(kinds[name], dates_are_times=usual) for name in names}
    numbers = [name for name, type_ in types.items() if type_ is None]
    digits = _digits(texts, numbers) if numbers else {}
    return tuple(
        Field(name, str(type_ or type_of_digits(kinds[name], digits[name])))
        for name, type_ in types.items()
    )


def _kinds(
    texts: "DataFrame", names: Sequence[str], options: Mapping[str, str]
) -> dict[str, set[str]]:
    kinds = texts.selectExpr(
        *(f"{kind_of(name, options)} AS k{place}" for place, name in enumerate(names))
    )
    (row,) = kinds.selectExpr(*(f"bit_or(k{place})" for place in range(len(names)))).collect()
    return {
        name: {kind for place, kind in enumerate(KINDS) if (bits or 0) >> place & 1}
        for name, bits in zip(names, row, strict=True)
    }


def _digits(texts: "DataFrame", names: Sequence[str]) -> dict[str, Digits]:
    """The digits of columns that hold nothing but numbers."""
    found = []
    for name in names:
        text = spark_identifier(name)
        finite = f"if({matches(text, NOT_FINITE)}, NULL, {text})"
        kept = keeps_digits(finite, f"try_cast({finite} AS double)", "double")
        inexact = f"{finite} IS NOT NULL AND NOT {kept}"  # NULL has no digits to lose
        found += [f"max({whole_digits(finite)})", f"max({scale_of(finite)})", f"bool_or({inexact})"]
    (row,) = texts.selectExpr(*found).collect()
    return {
        name: Digits(row[3 * place] or 0, row[3 * place + 1] or 0, bool(row[3 * place + 2]))
        for place, name in enumerate(names)
    }


@contextmanager
def _set(session: "SparkSession", conf: dict[str, str]) -> Iterator[None]:
    """Apply settings, and restore the former ones afterwards."""
    former = {key: session.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, before in former.items():
            if before is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, before)
