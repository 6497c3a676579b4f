"""What a Python pipeline may return and a hand may write, as a Spark frame."""

from typing import TYPE_CHECKING, Any

from lakebed.errors import RunFailed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def as_frame(session: "SparkSession", result: Any) -> "DataFrame":
    """Spark, Arrow, pandas, Polars and DuckDB results; anything else is refused."""
    from pyspark.sql import DataFrame

    if isinstance(result, DataFrame):
        return result
    module = type(result).__module__.split(".")[0].lstrip("_")
    if module == "pandas" and hasattr(result, "columns"):
        return session.createDataFrame(result)
    arrow = _as_arrow(module, result)
    if arrow is None:
        raise RunFailed(
            f"rows cannot be read from a {type(result).__name__}.",
            next="Give a Spark, Arrow, pandas or Polars DataFrame, or a DuckDB relation.",
        )
    return session.createDataFrame(_without_views(arrow))


def _as_arrow(module: str, result: Any) -> Any:
    import pyarrow as pa

    match module, type(result).__name__:
        case "pyarrow", "Table":
            return result
        case "pyarrow", "RecordBatch":
            return pa.Table.from_batches([result])
        case "pyarrow", "RecordBatchReader":
            return result.read_all()
        case "polars", "LazyFrame":
            return result.collect().to_arrow()
        case "polars", "DataFrame":
            return result.to_arrow()
        case "duckdb", "DuckDBPyRelation":
            found = result.arrow()
            return found.read_all() if hasattr(found, "read_all") else found
    return None


def _without_views(table: Any) -> Any:
    """Spark does not know Arrow's views and large types of nested values in every place: spell them plainly."""
    import pyarrow as pa

    def plain(type_: Any) -> Any:
        if pa.types.is_string_view(type_):
            return pa.large_string()
        return pa.large_binary() if pa.types.is_binary_view(type_) else type_

    return table.cast(pa.schema([field.with_type(plain(field.type)) for field in table.schema]))
