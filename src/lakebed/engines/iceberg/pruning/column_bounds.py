"""Column statistics of data files and manifests, from their metrics and partition values."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lakebed.engines.iceberg.pruning.comparable_values import ComparableType
from lakebed.engines.iceberg.pruning.transforms import (
    ColumnBounds,
    bounds_of_summary,
    bounds_of_value,
)
from lakebed.engines.iceberg.scan.manifests import Manifest, ManifestEntry, PartitionSummary


class SpecField(NamedTuple):
    """A partition field derived from one column."""

    id: int
    position: int
    transform: str


PartitionFields = Mapping[int, Sequence[SpecField]]  # by the column's field id
_FIRST_ID = 1000  # old metadata does not give ids of partition fields


def partition_fields(spec: Sequence[Mapping[str, Any]]) -> PartitionFields:
    """A partition spec by source column; fields derived from several columns are left out."""
    parts: dict[int, list[SpecField]] = {}
    for position, field in enumerate(spec):
        if "source-id" in field:
            part = SpecField(
                field.get("field-id", _FIRST_ID + position), position, field["transform"]
            )
            parts.setdefault(field["source-id"], []).append(part)
    return parts


class FileStatistics:
    """Statistics of a data file: its bounds, counts and partition values."""

    def __init__(self, entry: ManifestEntry, parts: PartitionFields) -> None:
        self._entry, self._parts = entry, parts

    def bounds_of(self, field: int, comparable: ComparableType) -> Sequence[ColumnBounds]:
        entry = self._entry
        known = [_certain(lambda: _metrics(entry, field, comparable))]
        for part in self._parts.get(field, ()):
            if part.id in entry.partition:
                value = entry.partition[part.id]
                known.append(_certain(partial(_of_part, part, value, comparable)))
        return known


class ManifestStatistics:
    """Statistics of a manifest: the summaries of its partition fields."""

    def __init__(self, manifest: Manifest, parts: PartitionFields) -> None:
        self._summaries, self._parts = manifest.summaries or (), parts

    def bounds_of(self, field: int, comparable: ComparableType) -> Sequence[ColumnBounds]:
        return [
            _certain(partial(_of_summary, part, self._summaries[part.position], comparable))
            for part in self._parts.get(field, ())
            if part.position < len(self._summaries)
        ]


def _of_part(part: SpecField, value: Any, comparable: ComparableType) -> ColumnBounds:
    return (
        ColumnBounds()
        if part.transform == "void"
        else bounds_of_value(part.transform, value, comparable)
    )


def _of_summary(
    part: SpecField, summary: PartitionSummary, comparable: ComparableType
) -> ColumnBounds:
    return (
        ColumnBounds()
        if part.transform == "void"
        else bounds_of_summary(part.transform, summary, comparable)
    )


def _metrics(entry: ManifestEntry, field: int, comparable: ComparableType) -> ColumnBounds:
    nulls, nans = entry.nulls.get(field), entry.nans.get(field)
    lower = upper = None
    # Writers do not agree on the order of UUIDs, and so not on the bounds of several row groups.
    if comparable.kind != "uuid" or len(entry.offsets) == 1:
        lower, upper = (
            _decoded(bounds.get(field), comparable) for bounds in (entry.lower, entry.upper)
        )
    return ColumnBounds(nulls != 0, nulls is None or nulls < entry.rows, nans != 0, lower, upper)


def _decoded(data: bytes | None, comparable: ComparableType) -> Any:
    if data is None:
        return None
    value = comparable.decode(data)
    return None if value != value else value  # a NaN bounds nothing


def _certain(look: Callable[[], ColumnBounds]) -> ColumnBounds:
    """The bounds, or none where the statistics cannot be decoded."""
    try:
        return look()
    except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, OverflowError):
        return ColumnBounds()
    except Exception as error:  # struct.error is a plain Exception
        if type(error).__module__ == "struct":
            return ColumnBounds()
        raise
