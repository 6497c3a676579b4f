"""One run's Spark session behind the port `Compute`. Only what Spark Connect offers is used."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.failures import as_failure
from lakebed.engines.spark.frames import Staging, as_frame
from lakebed.engines.spark.types import column_type
from lakebed.ports import RUN_ID, Field, FileGroup, FileRows, UnreadableFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STAMP = "spark.sql.iceberg.snapshot-property"


class SparkCompute:
    """A session whose snapshots carry a run's id."""

    def __init__(
        self, session: "SparkSession", staging: Staging, *, run_id: str, close: Callable[[], None] = lambda: None
    ) -> None:
        self.session: Any = session
        self._spark, self._staging, self._close = session, staging, close
        self.set_snapshot_property(RUN_ID, run_id)
        # With pruning on, Spark counts rows of a CSV file without noticing the broken ones.
        session.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise as_failure(error) from error

    def set_snapshot_property(self, key: str, value: str) -> None:
        self._spark.conf.set(f"{_STAMP}.{key}", value)

    def query(self, text: str) -> "DataFrame":
        with self._answering():
            return self._spark.sql(text)

    def frame(self, result: Any, *, known: Callable[[], Sequence[Field]] = tuple) -> "DataFrame":
        with self._answering():
            return as_frame(self._spark, result, self._staging, known)

    def fields(self, frame: "DataFrame") -> tuple[Field, ...]:
        with self._answering():
            return tuple(Field(field.name, column_type(field.dataType).spark) for field in frame.schema.fields)

    def create_view(self, frame: "DataFrame", view: str) -> None:
        with self._answering():
            frame.createOrReplaceTempView(view)

    def execute(self, statement: str) -> None:
        with self._answering():
            self._spark.sql(statement).collect()

    def rows(self, query: "str | DataFrame", *, limit: int) -> list[dict[str, Any]]:
        with self._answering():
            frame = self._spark.sql(query) if isinstance(query, str) else query
            return [dict(zip(frame.columns, row, strict=True)) for row in frame.limit(limit).collect()]

    def create_table(self, frame: "DataFrame", table: str, *, location: str | None, properties: Mapping[str, str]) -> None:
        writer = frame.writeTo(table).using("iceberg").tableProperty("format-version", "2")
        for key, value in properties.items():
            writer = writer.tableProperty(key, value)
        if location:
            writer = writer.tableProperty("location", location)
        with self._answering():
            writer.create()

    def conform(self, frame: "DataFrame", fields: Sequence[Field]) -> "DataFrame":
        from pyspark.sql import functions as f

        there = {column.casefold(): column for column in frame.columns}

        def column(field: Field) -> Any:
            known = there.get(field.name.casefold())
            found = frame[_quoted(known)] if known else f.lit(None)
            return found.cast(field.type).alias(field.name)

        with self._answering():
            return frame.select(*(column(field) for field in fields))

    def select(self, frame: "DataFrame", expressions: Sequence[str]) -> "DataFrame":
        with self._answering():
            return frame.selectExpr(*expressions)

    def materialize(self, frame: "DataFrame") -> tuple[str, ...]:
        with self._answering():
            return self._staging.save(frame)

    def append(self, frame: "DataFrame", target: str) -> None:
        with self._answering():
            frame.writeTo(target).append()

    def overwrite(self, frame: "DataFrame", target: str) -> None:
        from pyspark.sql.functions import lit

        with self._answering():
            frame.writeTo(target).overwrite(lit(True))

    def infer_files(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        from lakebed.engines.spark.landing.check import infer_files

        with self._answering():
            return infer_files(self._spark, group)

    def check_files(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        from lakebed.engines.spark.landing.check import check_files

        with self._answering():
            return check_files(self._spark, groups)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        from lakebed.engines.spark.landing.check import corrupt_records

        with self._answering():
            return corrupt_records(self._spark, groups)

    def read_files(self, group: FileGroup) -> "DataFrame":
        from lakebed.engines.spark.landing.reader import read_group

        with self._answering():
            return read_group(self._spark, group)

    def union(self, frames: "Sequence[DataFrame]") -> "DataFrame":
        from lakebed.engines.spark.landing.reader import union

        with self._answering():
            return union(frames)

    def close(self) -> None:
        try:
            self._staging.clear()
        finally:
            self._close()


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"
