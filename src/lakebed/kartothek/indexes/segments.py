"""An index in several files: each append writes the values of its own partitions only.

plateau reads an index as one whole file, so it does not see these: it reads all partitions instead.
Partitions that are gone stay in the files until they are merged, and are left out here.
"""

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from lakebed.kartothek.indexes.files import IndexFile
from lakebed.kartothek.indexes.postings import only_labels
from lakebed.kartothek.predicates.conditions import ColumnCondition


class SegmentedIndex:
    """The segments of one column as one index of the partitions that there are."""

    def __init__(self, segments: Sequence[IndexFile], labels: Collection[str]) -> None:
        self._segments, self._labels = segments, labels

    @property
    def type(self) -> Any:
        return self._segments[0].type

    def labels(self, conditions: Sequence[ColumnCondition]) -> frozenset[str]:
        """The partitions with a value that satisfies all the conditions."""
        found = frozenset(
            label for segment in self._segments for label in segment.labels(conditions)
        )
        return found & frozenset(self._labels)

    def whole(self) -> Any:
        """All rows, each value once."""
        together = pa.concat_tables([segment.whole() for segment in self._segments])
        return only_labels(together, self._labels)
