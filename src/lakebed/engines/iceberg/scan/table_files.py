"""The files of a table at one snapshot, each with its rows as readers see them."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.table import DataScan, FileScanTask, StaticTable

from lakebed.engines.arrow import cast_batches
from lakebed.engines.iceberg.metadata.documents import static_table
from lakebed.errors import UsageError
from lakebed.names import TableName


class IcebergTableFiles:
    """A `TableSource`: deleted rows are left out, and columns have the present names and types.

    Columns of type uuid are text, and those of type fixed are binary.
    """

    def __init__(
        self, table: TableName, location: str, snapshot: int | None, properties: Mapping[str, str]
    ) -> None:
        self._table, self._location = table, location
        self.snapshot, self._properties = snapshot, properties

    @property
    def table(self) -> str:
        return str(self._table)

    @cached_property
    def uuid(self) -> str:
        return str(self._static.metadata.table_uuid)

    @cached_property
    def schema(self) -> Any:
        fields = [pa.field(one.name, _plain(one.type)) for one in self._stored_schema]
        return pa.schema(fields)

    @property
    def converted(self) -> Mapping[str, str]:
        fields = zip(self._static.schema().fields, self._stored_schema, strict=True)
        return {
            one.name: str(one.field_type) for one, own in fields if _plain(own.type) != own.type
        }

    @property
    def opener(self) -> "Callable[[], IcebergTableFiles]":
        return partial(
            IcebergTableFiles, self._table, self._location, self.snapshot, dict(self._properties)
        )

    def files(self) -> Mapping[str, FileScanTask]:
        if self.snapshot is None:
            return {}
        try:
            return {_key(task): task for task in self._scan.plan_files()}
        except (NotImplementedError, ValueError) as error:
            raise self._unreadable(error) from error

    def size(self, file: FileScanTask) -> int:
        return int(file.file.file_size_in_bytes)

    def rows(self, file: FileScanTask) -> Any:
        reading = ArrowScan(
            self._static.metadata, self._static.io, self._static.schema(), AlwaysTrue()
        )
        schema = self.schema

        def batches() -> Iterator[Any]:
            try:
                for batch in reading.to_record_batches([file]):
                    yield from cast_batches([batch.select(schema.names)], schema)
            except (NotImplementedError, ValueError) as error:
                raise self._unreadable(error) from error

        return pa.RecordBatchReader.from_batches(schema, batches())

    @cached_property
    def _static(self) -> StaticTable:
        return static_table(self._location, self._properties)

    @cached_property
    def _stored_schema(self) -> Any:
        return schema_to_pyarrow(self._static.schema(), include_field_ids=False)

    @cached_property
    def _scan(self) -> DataScan:
        return self._static.scan(snapshot_id=self.snapshot)

    def _unreadable(self, error: Exception) -> UsageError:
        return UsageError(
            f"{self._table} cannot be exported: {str(error).splitlines()[0]}",
            next="Equality deletes and types such as variant are not read here: compact the table.",
        )


def _plain(type_: Any) -> Any:
    """The type in which other libraries get a column: Arrow's own types for uuid and fixed are
    known to few of them.
    """
    if isinstance(type_, pa.UuidType):
        return pa.string()
    return pa.binary() if pa.types.is_fixed_size_binary(type_) else type_


def _key(task: FileScanTask) -> str:
    """Changes whenever the rows of the file do: delete files leave out some of them."""
    deletes = sorted(str(one.file_path) for one in task.delete_files)
    return " - ".join([str(task.file.file_path), *deletes])
