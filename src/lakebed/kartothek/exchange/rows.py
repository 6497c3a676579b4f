"""The rows of a dataset as a frame that can be read again, for writing them to a table."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from lakebed.kartothek.reading.read import ReadPlan, read_partitions
from lakebed.ports.files.files import Files


class DatasetRows:
    """Arrow's stream interface over a plan: each reading starts with the first partition."""

    def __init__(self, files: Files, plan: ReadPlan) -> None:
        self._files, self._plan = files, plan

    @property
    def schema(self) -> Any:
        plan = self._plan
        return pa.schema([pa.field(name, plan.schema.field(name).type) for name in plan.columns])

    def reader(self) -> Any:
        """The rows, one partition after the other."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Any]:
        for rows in read_partitions(self._files, self._plan):
            yield from rows.to_batches()
