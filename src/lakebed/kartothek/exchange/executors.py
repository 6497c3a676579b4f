"""What Spark's executors do for datasets: they read and write the files themselves."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.reading.read import ReadPlan
from lakebed.kartothek.writing.partition_files import PartitionSpec
from lakebed.kartothek.writing.rows import WrittenRows
from lakebed.ports.files.files import Files

OpenLocation = Callable[[], Files]  # is sent to executors, and called there


class Executors(Protocol):
    """Rows never pass through the process that asks; it gets what a commit needs."""

    def has(self, rows: Any) -> bool:
        """Whether the rows are a frame of Spark."""
        ...

    def write_frame(
        self,
        frame: Any,
        open_location: OpenLocation,
        spec: PartitionSpec,
        *,
        table: str,
        fields: Mapping[str, Any] | None,
    ) -> WrittenRows:
        """Write a frame of Spark as data files, as `write_rows` does with others."""
        ...

    def write_files(
        self,
        open_source: Callable[[], TableSource],
        files: Mapping[str, Any],
        open_location: OpenLocation,
        spec: PartitionSpec,
    ) -> Mapping[str, WrittenRows]:
        """Write the rows of each of a table's files as data files of a dataset."""
        ...

    def read(self, open_location: OpenLocation, plan: ReadPlan) -> Any:
        """The rows of a plan as a frame of Spark."""
        ...
