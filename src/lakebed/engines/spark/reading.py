"""A pinned table as a Spark DataFrame."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakebed.names import spark_identifier
from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, StartsWith
from lakebed.query.layouts.spark_text import layout_rows
from lakebed.query.lazy.selection import TableSelection
from lakebed.query.planning.plan import ChosenLayout
from lakebed.tables import as_of_schema, at_snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {"timestamp": "timestamp_ntz", "timestamptz": "timestamp"}


def pinned_frame(
    session: "SparkSession",
    chosen: TableSelection,
    predicate: Predicate | None,
    layout: ChosenLayout | None = None,
) -> "DataFrame":
    """The chosen columns and rows, read through a layout if there is one."""
    now = chosen.pinned.columns
    rows = layout_rows(chosen.pinned, layout) if layout else _rows(chosen)
    frame = session.sql(rows)
    if predicate is not None:
        frame = frame.filter(_condition(predicate, {one.name: one.type for one in now}))
    return frame.select(*(spark_identifier(name) for name in chosen.columns))


def _rows(chosen: TableSelection) -> str:
    pinned, snapshot = chosen.pinned, chosen.pinned.snapshot
    shown = as_of_schema(pinned.metadata, snapshot, pinned.schema) if snapshot else ()
    return f"SELECT {', '.join(shown) or '*'} FROM {at_snapshot(pinned.table, chosen.snapshot)}"


def _condition(predicate: Predicate, types: Mapping[str, str]) -> Any:
    from pyspark.sql import functions as f

    match predicate:
        case Comparison(name, op, value):
            return _compared(_column(name, types[name]), op, _literal(value, types[name]))
        case IsNull(name, negated):
            column = f.col(spark_identifier(name))
            return column.isNotNull() if negated else column.isNull()
        case In(name, values, negated):
            found = _column(name, types[name]).isin(
                *(_literal(value, types[name]) for value in values)
            )
            return ~found if negated else found
        case StartsWith(name, prefix, negated):
            found = f.col(spark_identifier(name)).startswith(f.lit(prefix))
            return ~found if negated else found
        case Not(part):
            return ~_condition(part, types)
        case Always(yes):
            return f.lit(yes)
        case And(parts) | Or(parts):
            return _joined(
                [_condition(part, types) for part in parts], both=isinstance(predicate, And)
            )


def _column(name: str, type_: str) -> Any:
    """A column to compare.

    Spark treats NaN as larger than any number, but Iceberg's bounds do not include it.
    """
    from pyspark.sql import functions as f

    column = f.col(spark_identifier(name))
    return column + f.lit(0.0) if type_ in ("float", "double") else column


def _joined(parts: Sequence[Any], *, both: bool) -> Any:
    from pyspark.sql import functions as f

    whole = f.lit(both)
    for part in parts:
        whole = whole & part if both else whole | part
    return whole


def _compared(column: Any, op: str, value: Any) -> Any:
    match op:
        case "=":
            return column == value
        case "!=":
            return column != value
        case "<":
            return column < value
        case "<=":
            return column <= value
        case ">":
            return column > value
        case _:
            return column >= value


def _literal(value: object, type_: str) -> Any:
    """A value as a literal; timestamps as text, since PySpark reads one without a zone in local
    time.
    """
    from pyspark.sql import functions as f

    if isinstance(value, datetime):
        return f.lit(value.isoformat(sep=" ")).cast(_TYPES[type_])
    return f.lit(value).cast(type_ if type_.startswith("decimal") else _LITERALS.get(type_, type_))


_LITERALS = {"long": "bigint"}
