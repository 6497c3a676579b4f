"""The rows of a table's files as data files of a dataset: written here if they are few, and by
Spark's executors otherwise.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lakebed.kartothek.exchange.executors import Executors, OpenLocation
from lakebed.kartothek.exchange.source import TableSource
from lakebed.kartothek.writing.partition_files import PartitionSpec, discard
from lakebed.kartothek.writing.rows import WrittenRows, write_rows

FEW = 64 * 1024 * 1024  # bytes of Parquet, which are written sooner than Spark starts

WriteFiles = Callable[[TableSource, Mapping[str, Any], PartitionSpec], Mapping[str, WrittenRows]]


def table_writer(open_location: OpenLocation, executors: Executors) -> WriteFiles:
    """Writes the rows of files of a table, each as partitions of its own."""

    def write(
        source: TableSource, files: Mapping[str, Any], spec: PartitionSpec
    ) -> Mapping[str, WrittenRows]:
        if sum(source.size(file) for file in files.values()) > FEW:
            return executors.write_files(source.opener, files, open_location, spec)
        return _written_here(open_location, source, files, spec)

    return write


def _written_here(
    open_location: OpenLocation, source: TableSource, files: Mapping[str, Any], spec: PartitionSpec
) -> Mapping[str, WrittenRows]:
    location, written = open_location(), dict[str, WrittenRows]()
    try:
        for key, file in files.items():
            written[key] = write_rows(location, spec, source.rows(file))
    except BaseException:
        discard(location, [part for rows in written.values() for part in rows.partitions])
        raise
    return written
