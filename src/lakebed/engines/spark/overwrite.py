"""Replacing the rows that match a condition, in one commit."""

from typing import TYPE_CHECKING

from lakebed.engines.spark.types import fields_of
from lakebed.tables import OverwriteMerge, overwrite_merge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DIVIDED = "some, but not all, rows match filter"


def overwrite_where(frame: "DataFrame", target: str, where: str) -> None:
    """Carry out an `OverwriteMerge`.

    Not as text: a MERGE cannot read a temporary view over an Iceberg frame.
    """
    from pyspark.sql.functions import expr

    table = fields_of(frame.sparkSession.table(target))
    merge = overwrite_merge(fields_of(frame), table, where=where)
    writer = _source(frame, merge).mergeInto(target, expr(merge.condition))
    values = {name: expr(value) for name, value in merge.values.items()}
    writer.whenMatched().delete().whenNotMatched(expr(merge.is_arriving)).insert(values).merge()


def replace_files(frame: "DataFrame", target: str, where: str) -> None:
    """Iceberg's own overwrite by a filter, which drops whole files; it refuses to divide one, and
    commits nothing then.
    """
    from pyspark.sql.functions import expr

    try:
        frame.writeTo(target).overwrite(expr(where))
    except Exception as error:
        if _DIVIDED not in str(error):
            raise
        overwrite_where(frame, target, where)


def _source(frame: "DataFrame", merge: OverwriteMerge) -> "DataFrame":
    arriving = frame.selectExpr(f"struct(*) AS {merge.row}", f"{merge.arriving} AS {merge.mark}")
    marks = frame.sparkSession.range(merge.spread)
    return arriving.union(
        marks.selectExpr(f"NULL AS {merge.row}", f"CAST(id AS INT) AS {merge.mark}")
    )
