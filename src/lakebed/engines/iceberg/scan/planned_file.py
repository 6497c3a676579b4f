"""A file of a plan, with what most queries never ask of it left packed."""

from collections.abc import Mapping
from functools import cached_property

from lakebed.engines.iceberg.scan.file_values import FileValues
from lakebed.engines.iceberg.scan.manifests import ManifestEntry, unpacked
from lakebed.ports import PartitionKey, ScanFile


class PlannedFile(ScanFile):
    """A `ScanFile` that unpacks sizes and values when they are first asked for.

    It does not keep the entry: plans are cached, and bounds are most of what an entry weighs.
    """

    _values: FileValues
    _partition: Mapping[int, object]
    _packed: bytes

    def __init__(self, entry: ManifestEntry, values: FileValues) -> None:
        own = vars(self)  # there are thousands of files: this is faster than the base class's way
        own["location"], own["size"], own["rows"] = entry.location, entry.size, entry.rows
        own["split_offsets"] = entry.offsets
        own["_values"], own["_partition"], own["_packed"] = values, entry.partition, entry.packed

    @cached_property
    def column_sizes(self) -> Mapping[int, int]:
        return unpacked(self._packed).column_sizes

    @cached_property
    def partition(self) -> Mapping[PartitionKey, object]:
        return self._values.of(self._partition, self._packed)
