"""Inferring the columns of landing files from their values."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed.engines.spark.landing.nulls import with_nulls
from lakebed.engines.spark.landing.reader import CORRUPT, columns_text, load, reader_of
from lakebed.engines.spark.types import column_type
from lakebed.names import spark_identifier
from lakebed.ports import Field, FileGroup
from lakebed.types import STRING, ColumnType, Primitive, Struct, parse_type, with_parts

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
    if group.nulls:
        return _by_query(session, group)
    if group.options.get("multiLine") == "true" and any(
        _PATTERN.search(path.partition("://")[2]) for path in group.paths
    ):
        return _by_query(session, group)
    reader = reader_of(session, group).option("inferSchema", "true")
    with _set(session, _AS_IT_IS):
        fields = load(reader, group).schema.fields
    return tuple(
        Field(field.name, column_type(field.dataType).spark)
        for field in fields
        if field.name != CORRUPT
    )


def _by_query(session: "SparkSession", group: FileGroup) -> tuple[Field, ...]:
    """Infer by queries: Spark's inference knows only one text for NULL, and reads names of
    multiline files as patterns.
    """
    if group.format == "json":
        return _of_values(session, group)
    texts = load(reader_of(session, group).schema(columns_text(group.columns)), group)
    return _of_texts(
        with_nulls(texts, group, group.columns) if group.nulls else texts, group.options
    )


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


def _of_texts(frame: "DataFrame", options: Mapping[str, str]) -> tuple[Field, ...]:
    """For each column the narrowest type that every text can be read as."""
    plain = {name: f"try_cast({{0}} AS {name})" for name in ("int", "bigint", "double", "boolean")}
    times = {
        "date": _time(options["dateFormat"]),
        "timestamp": _time(options.get("timestampFormat")),
    }
    attempts = plain | times
    # a number has no blanks around it
    counted = ["{0}", "nullif({0} = trim({0}), false)", *attempts.values()]
    names = [spark_identifier(name) for name in frame.columns]
    row = frame.selectExpr(
        *(
            f"array({', '.join(f'count({text.format(name)})' for text in counted)}) AS c{place}"
            for place, name in enumerate(names)
        )
    ).collect()[0]
    return tuple(
        Field(name, _first(attempts, *counts))
        for name, counts in zip(frame.columns, row, strict=True)
    )


def _first(types: Iterable[str], filled: int, trimmed: int, *fitting: int) -> str:
    fits = (
        type_ for type_, count in zip(types, fitting, strict=True) if 0 < filled == trimmed == count
    )
    return next(fits, "string")


def _time(pattern: str | None) -> str:
    if pattern is None:
        return "try_cast({0} AS timestamp)"
    quoted = pattern.replace("\\", "\\\\").replace("'", "\\'").replace("{", "{{").replace("}", "}}")
    return f"try_to_timestamp({{0}}, '{quoted}')"


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
