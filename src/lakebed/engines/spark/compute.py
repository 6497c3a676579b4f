"""One run's Spark session as the port `Compute`. Uses only what Spark Connect offers."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.failures import answering
from lakebed.engines.spark.frame_columns import conform, union
from lakebed.engines.spark.frames import Staging, as_frame
from lakebed.engines.spark.landing.landing_reader import SparkLandingReader
from lakebed.engines.spark.overwrite import overwrite_where, replace_files
from lakebed.engines.spark.types import fields_of
from lakebed.ports import RUN_ID, Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STAMP = "spark.sql.iceberg.snapshot-property"


class SparkCompute:
    """A session whose snapshots carry a run's id."""

    def __init__(
        self,
        session: "SparkSession",
        staging: Staging,
        *,
        run_id: str,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.session: Any = session
        self._spark, self._staging, self._close = session, staging, close
        self.set_snapshot_property(RUN_ID, run_id)
        self.landing = SparkLandingReader(session)

    def set_snapshot_property(self, key: str, value: str) -> None:
        self._spark.conf.set(f"{_STAMP}.{key}", value)

    def query(self, text: str) -> "DataFrame":
        with answering():
            return self._spark.sql(text)

    def frame(self, result: Any, *, known: Callable[[], Sequence[Field]] = tuple) -> "DataFrame":
        with answering():
            return as_frame(self._spark, result, self._staging, known)

    def fields(self, frame: "DataFrame") -> tuple[Field, ...]:
        with answering():
            return fields_of(frame)

    def create_view(self, frame: "DataFrame", view: str) -> None:
        with answering():
            frame.createOrReplaceTempView(view)

    def execute(self, statement: str) -> None:
        with answering():
            self._spark.sql(statement).collect()

    def rows(self, query: "str | DataFrame", *, limit: int) -> list[dict[str, Any]]:
        with answering():
            frame = self._spark.sql(query) if isinstance(query, str) else query
            return [
                dict(zip(frame.columns, row, strict=True)) for row in frame.limit(limit).collect()
            ]

    def create_table(
        self, frame: "DataFrame", table: str, *, location: str | None, properties: Mapping[str, str]
    ) -> None:
        writer = frame.writeTo(table).using("iceberg").tableProperty("format-version", "2")
        for key, value in properties.items():
            writer = writer.tableProperty(key, value)
        if location:
            writer = writer.tableProperty("location", location)
        with answering():
            writer.create()

    def conform(self, frame: "DataFrame", fields: Sequence[Field]) -> "DataFrame":
        with answering():
            return conform(frame, fields)

    def select(self, frame: "DataFrame", expressions: Sequence[str]) -> "DataFrame":
        with answering():
            return frame.selectExpr(*expressions)

    def materialize(self, frame: "DataFrame") -> tuple[str, ...]:
        with answering():
            return self._staging.save(frame)

    def arrow(self, frame: "DataFrame") -> Any:
        with answering():
            return frame.toArrow()

    def append(self, frame: "DataFrame", target: str) -> None:
        with answering():
            frame.writeTo(target).append()

    def overwrite(self, frame: "DataFrame", target: str, *, where: str | None = None) -> None:
        from pyspark.sql.functions import expr

        with answering():
            if where is None:
                frame.writeTo(target).overwrite(expr("true"))  # `lit` would import pandas
            else:
                overwrite_where(frame, target, where)

    def replace_files(
        self, frame: "DataFrame", target: str, *, where: str, since: int | None = None
    ) -> None:
        with answering():
            replace_files(frame, target, where, since=since)

    def union(self, frames: "Sequence[DataFrame]") -> "DataFrame":
        with answering():
            return union(frames)

    def close(self) -> None:
        try:
            self._staging.clear()
        finally:
            self._close()
