"""How large a dataset is: rows, row groups and bytes of each partition, from the footers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lakebed.kartothek.format.names import DataFormat, data_format
from lakebed.kartothek.reading.data_files import open_parquet, read_file
from lakebed.kartothek.reading.read import plan_read
from lakebed.ports.files.files import Files


@dataclass(frozen=True)
class PartitionStatistics:
    """One data file of a partition; bytes are those of its columns, stored and unpacked."""

    label: str
    table: str
    rows: int
    row_groups: int
    stored_bytes: int
    unpacked_bytes: int


def partition_statistics(
    files: Files, uuid: str, *, predicates: Any = None
) -> Iterator[PartitionStatistics]:
    """The data files of all partitions, or of those that may satisfy the predicates."""
    plan = plan_read(files, uuid, predicates=predicates)
    for part in plan.partitions:
        for table, path in part.files.items():
            yield _of_file(files, part.label, table, path)


def _of_file(files: Files, label: str, table: str, path: str) -> PartitionStatistics:
    if data_format(path) is DataFormat.CSV:
        rows = read_file(files, path)
        size = files.info(path).size
        return PartitionStatistics(label, table, rows.num_rows, 1, size, rows.nbytes)
    metadata = open_parquet(files, path).metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    return PartitionStatistics(
        label,
        table,
        metadata.num_rows,
        len(groups),
        sum(chunk.total_compressed_size for chunk in chunks),
        sum(chunk.total_uncompressed_size for chunk in chunks),
    )
