"""Results of Python pipelines and frames of manual writes, as Spark frames."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.landing.reader import read_group
from lakebed.errors import LakebedError, RunFailed
from lakebed.ports import Field, FileGroup, Files
from lakebed.settings import DATA, Root
from lakebed.types import read_table_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Timestamps that every Parquet reader understands, not the 96-bit ones that Spark writes by
# default.
_SAVING = {"outputTimestampType": "TIMESTAMP_MICROS", "datetimeRebaseModeInWrite": "CORRECTED"}
# Dates before 1582 are in the calendar that other Parquet readers use.
_OPTIONS = {"datetimeRebaseMode": "CORRECTED"}


class Staging:
    """Rows on their way into or out of Spark: Parquet files in the lake, which any Spark
    can reach.
    """

    def __init__(self, files: Files, root: Root, run_id: str) -> None:
        self._files, self._root, self._folder, self._count = (
            files,
            root,
            f"{DATA}/staging/{run_id}",
            0,
        )

    def write(self, parts: Iterator[bytes]) -> tuple[str, ...]:
        """Write the files and return their addresses; they stay until `clear`."""
        return tuple(map(self._write, parts))

    def _write(self, part: bytes) -> str:
        path = f"{self._folder}/frame-{self._count:06}.parquet"
        self._count += 1
        self._files.write(path, part)
        return self._root.at(path)

    def save(self, frame: "DataFrame") -> tuple[str, ...]:
        """Let Spark write the rows and return the addresses of the files."""
        folder = f"{self._folder}/saved-{self._count:06}"
        self._count += 1
        for key, value in _SAVING.items():
            frame.sparkSession.conf.set(f"spark.sql.parquet.{key}", value)
        frame.write.parquet(self._root.at(folder))
        return tuple(
            self._root.at(file.path)
            for file in self._files.list(folder)
            if file.path.endswith(".parquet")
        )

    def clear(self) -> None:
        if self._count:
            self._files.clear(self._folder)


def as_frame(
    session: "SparkSession", result: Any, staging: Staging, known: Callable[[], Sequence[Field]]
) -> "DataFrame":
    """A Spark frame as it is, one of another library through Arrow; anything else is refused.

    `known` gives the columns of the target table: a column without a value gets its type from
    there.
    """
    from pyspark.sql import DataFrame

    from lakebed.engines.arrow import frame_reader

    if isinstance(result, DataFrame):
        return result
    reader = frame_reader(result)
    if reader is None:
        raise RunFailed(
            f"rows cannot be read from a {type(result).__name__}.",
            next=(
                "Give a Spark, Arrow, pandas or Polars DataFrame, a DuckDB relation, or a table or"
                " query result of a lake."
            ),
        )
    return _staged(session, reader, staging, known)


def _staged(
    session: "SparkSession", reader: Any, staging: Staging, known: Callable[[], Sequence[Field]]
) -> "DataFrame":
    import pyarrow as pa

    from lakebed.engines.arrow import (
        as_storable,
        parquet_files,
        storable_schema,
        table_type,
        unreadable_frame,
    )

    valueless = any("null" in str(field.type) for field in reader.schema)
    types = (
        {field.name.casefold(): read_table_type(field.type) for field in known()}
        if valueless
        else {}
    )
    schema = storable_schema(reader.schema, types)
    columns = tuple(Field(field.name, table_type(field.type).spark) for field in schema)
    try:
        paths = staging.write(parquet_files(as_storable(reader, schema), schema))
    except LakebedError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise unreadable_frame(str(error)) from error
    return read_group(session, FileGroup("parquet", paths, _OPTIONS, columns))
