"""The executors of a lake's Spark, which starts when they have something to do."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.kartothek.reading import spark_frame
from lakebed.engines.spark.kartothek.writing import write_files, write_frame
from lakebed.kartothek import PartitionSpec, ReadPlan, WrittenRows
from lakebed.kartothek.exchange.source import TableSource
from lakebed.ports.files.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkExecutors:
    """`lakebed.kartothek`'s `Executors`."""

    def __init__(self, session: "Callable[[], SparkSession]") -> None:
        self._session = session

    def has(self, rows: Any) -> bool:
        return type(rows).__module__.startswith("pyspark.") and hasattr(rows, "mapInArrow")

    def write_frame(
        self,
        frame: "DataFrame",
        open_location: Callable[[], Files],
        spec: PartitionSpec,
        *,
        table: str,
        fields: Mapping[str, Any] | None,
    ) -> WrittenRows:
        return write_frame(frame, open_location, spec, table=table, fields=fields)

    def write_files(
        self,
        open_source: Callable[[], TableSource],
        files: Mapping[str, Any],
        open_location: Callable[[], Files],
        spec: PartitionSpec,
    ) -> Mapping[str, WrittenRows]:
        return write_files(self._session(), open_source, files, open_location, spec)

    def read(self, open_location: Callable[[], Files], plan: ReadPlan) -> "DataFrame":
        return spark_frame(self._session(), open_location, plan)
