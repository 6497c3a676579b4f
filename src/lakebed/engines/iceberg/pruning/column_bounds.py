"""Files and manifests, asked what is certain about a column of theirs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lakebed.engines.iceberg.pruning.comparable_values import Measure
from lakebed.engines.iceberg.pruning.transforms import Evidence, of_summary, of_value
from lakebed.engines.iceberg.scan.manifests import Manifest, ManifestEntry, Summary


class Part(NamedTuple):
    """A partition field that is made of some column."""

    id: int
    position: int
    transform: str


Parts = Mapping[int, Sequence[Part]]  # by the column's field id
_FIRST_ID = 1000  # of partition fields in old metadata, which does not give them


def parts_of(spec: Sequence[Mapping[str, Any]]) -> Parts:
    """A partition spec, by source column; a field made of several columns says nothing of any."""
    parts: dict[int, list[Part]] = {}
    for position, field in enumerate(spec):
        if "source-id" in field:
            part = Part(field.get("field-id", _FIRST_ID + position), position, field["transform"])
            parts.setdefault(field["source-id"], []).append(part)
    return parts


class FileWitness:
    """A data file: its bounds and counts, and its partition."""

    def __init__(self, entry: ManifestEntry, parts: Parts) -> None:
        self._entry, self._parts = entry, parts

    def about(self, field: int, measure: Measure) -> Sequence[Evidence]:
        entry = self._entry
        known = [_certain(lambda: _metrics(entry, field, measure))]
        for part in self._parts.get(field, ()):
            if part.id in entry.partition:
                value = entry.partition[part.id]
                known.append(_certain(lambda value=value, part=part: _of_part(part, value, measure)))  # type: ignore[misc]
        return known


class ManifestWitness:
    """A manifest: what its partitions have in common."""

    def __init__(self, manifest: Manifest, parts: Parts) -> None:
        self._summaries, self._parts = manifest.summaries or (), parts

    def about(self, field: int, measure: Measure) -> Sequence[Evidence]:
        return [
            _certain(lambda part=part: _of_summary(part, self._summaries[part.position], measure))  # type: ignore[misc]
            for part in self._parts.get(field, ())
            if part.position < len(self._summaries)
        ]


def _of_part(part: Part, value: Any, measure: Measure) -> Evidence:
    return Evidence() if part.transform == "void" else of_value(part.transform, value, measure)


def _of_summary(part: Part, summary: Summary, measure: Measure) -> Evidence:
    return Evidence() if part.transform == "void" else of_summary(part.transform, summary, measure)


def _metrics(entry: ManifestEntry, field: int, measure: Measure) -> Evidence:
    nulls, nans = entry.nulls.get(field), entry.nans.get(field)
    lower = upper = None
    # Writers do not agree on the order of UUIDs, and so not on the bounds of several row groups.
    if measure.kind != "uuid" or len(entry.offsets) == 1:
        lower, upper = (_decoded(bounds.get(field), measure) for bounds in (entry.lower, entry.upper))
    return Evidence(nulls != 0, nulls is None or nulls < entry.rows, nans != 0, lower, upper)


def _decoded(data: bytes | None, measure: Measure) -> Any:
    if data is None:
        return None
    value = measure.decode(data)
    return None if value != value else value  # a NaN bounds nothing


def _certain(look: Callable[[], Evidence]) -> Evidence:
    """What cannot be understood says nothing."""
    try:
        return look()
    except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, OverflowError):
        return Evidence()
    except Exception as error:  # struct.error is none of these
        if type(error).__module__ == "struct":
            return Evidence()
        raise
