"""Replacing the rows that match a condition, in one commit."""

from typing import TYPE_CHECKING

from lakebed.engines.spark.types import fields_of
from lakebed.errors import RowsChanged
from lakebed.tables import OverwriteMerge, overwrite_merge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriterV2

_DIVIDED = "some, but not all, rows match filter"
_OVERTAKEN = (
    "Found conflicting files that can contain records matching",
    "Found conflicting deleted files that can contain records matching",
    "Found new conflicting delete files that can apply to records matching",
    "Cannot determine history between starting snapshot",  # it is no ancestor any more
)


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


def replace_files(frame: "DataFrame", target: str, where: str, *, since: int | None = None) -> None:
    """Iceberg's own overwrite by a filter, which drops whole files; it refuses to divide one, and
    commits nothing then.

    A MERGE is compared only with commits since it has begun to read, so it does not divide files
    where commits since an earlier snapshot matter.
    """
    from pyspark.sql.functions import expr

    try:
        _checked_since(frame.writeTo(target), since).overwrite(expr(where))
    except Exception as error:
        said = str(error)
        if since is not None and any(sign in said for sign in _OVERTAKEN):
            raise RowsChanged(target, where) from error
        if since is not None or _DIVIDED not in said:
            raise
        overwrite_where(frame, target, where)


def _checked_since(writer: "DataFrameWriterV2", since: int | None) -> "DataFrameWriterV2":
    if since is None:
        return writer
    checked = writer.option("isolation-level", "serializable")
    return checked.option("validate-from-snapshot-id", str(since))


def _source(frame: "DataFrame", merge: OverwriteMerge) -> "DataFrame":
    arriving = frame.selectExpr(f"struct(*) AS {merge.row}", f"{merge.arriving} AS {merge.mark}")
    marks = frame.sparkSession.range(merge.spread)
    return arriving.union(
        marks.selectExpr(f"NULL AS {merge.row}", f"CAST(id AS INT) AS {merge.mark}")
    )
