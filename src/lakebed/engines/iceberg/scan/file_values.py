"""Partition values of files, and columns that have one value in all rows of a file, as Python
values.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from lakebed.engines.iceberg.metadata.outlines import MetadataOutline
from lakebed.engines.iceberg.pruning.column_bounds import partition_fields
from lakebed.engines.iceberg.pruning.transforms import parse_transform
from lakebed.engines.iceberg.scan.manifests import unpacked
from lakebed.ports import PartitionKey

Convert = Callable[[Any], object]  # raises what `_NOT_EXACT` names for what it cannot convert
_NOT_EXACT = (ValueError, TypeError, OverflowError)
_IDENTITY = "identity"
_NUMBERED = ("bucket", "year", "month", "day", "hour")  # transforms that give a number
_EPOCH = date(1970, 1, 1).toordinal()
_EXACT_TEXT = 16  # from so many characters on, writers cut texts in bounds
_DECIMAL = re.compile(r"decimal\(\s*\d+\s*,\s*(\d+)\s*\)")


class _Reading(NamedTuple):
    """How a type's values are read: as Avro has them in partitions, and from bounds."""

    partition: Convert
    bound: Convert


class FileValues:
    """The values of files with one partition spec.

    Types are those that columns had last: the changes that Iceberg allows keep values of the types
    that are read here.
    """

    def __init__(self, outline: MetadataOutline, spec: int) -> None:
        self._spec = outline.specs.get(spec, ())
        self._schemas = (*outline.schemas.values(), outline.schemas[outline.schema])

    def __getstate__(self) -> dict[str, Any]:
        return {"_spec": self._spec, "_schemas": self._schemas}

    def of(self, partition: Mapping[int, Any], packed: bytes) -> dict[PartitionKey, object]:
        """By source column and transform, without those that cannot be given exactly."""
        found: dict[PartitionKey, object] = {}
        columns, constants = self._columns, unpacked(packed).constants
        for column, data in constants.items():
            if column in columns:
                _put(found, *columns[column], data)
        for field, key, convert in self._fields:
            if field in partition:
                _put(found, key, convert, partition[field])
        return found

    @cached_property
    def _columns(self) -> Mapping[int, tuple[PartitionKey, Convert]]:
        """Columns whose values can be told by bounds."""
        return {id_: ((id_, _IDENTITY), known.bound) for id_, known in self._readings.items()}

    @cached_property
    def _fields(self) -> tuple[tuple[int, PartitionKey, Convert], ...]:
        """The spec's fields: id, key, and how values are converted."""
        return tuple(self._each_field())

    def _each_field(self) -> Iterator[tuple[int, PartitionKey, Convert]]:
        for column, parts in partition_fields(self._spec).items():
            known = self._readings.get(column)
            for part in parts:
                name, _ = parse_transform(part.transform)
                if name in _NUMBERED:
                    yield part.id, (column, part.transform), _whole_number
                elif known and name in (_IDENTITY, "truncate"):
                    yield part.id, (column, part.transform), known.partition

    @cached_property
    def _readings(self) -> Mapping[int, _Reading]:
        """How the values of top-level columns are read."""
        types = {field["id"]: field["type"] for fields in self._schemas for field in fields}
        found = {id_: _reading(type_) for id_, type_ in types.items() if isinstance(type_, str)}
        return {id_: known for id_, known in found.items() if known}


def _put(
    found: dict[PartitionKey, object], key: PartitionKey, convert: Convert, value: Any
) -> None:
    try:
        found[key] = None if value is None else convert(value)
    except _NOT_EXACT:
        return


def _reading(type_: str) -> _Reading | None:
    if decimal := _DECIMAL.fullmatch(type_):
        scale = int(decimal[1])
        convert = lambda data: Decimal(f"{int.from_bytes(data, 'big', signed=True)}e-{scale}")  # noqa: E731
        return _Reading(convert, convert)
    return _READINGS.get(type_)


def _only(kind: type) -> Convert:
    def check(value: Any) -> object:
        if type(value) is not kind:
            raise ValueError
        return value

    return check


def _date(days: Any) -> object:
    return date.fromordinal(_EPOCH + days)


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _short_text(data: bytes) -> object:
    if len(data) >= _EXACT_TEXT:
        raise ValueError
    return data.decode()


_whole_number = _only(int)
_READINGS = {
    "int": _Reading(_whole_number, _signed),
    "long": _Reading(_whole_number, _signed),
    "boolean": _Reading(_only(bool), lambda data: data != b"\x00"),
    "date": _Reading(_date, lambda data: _date(_signed(data))),
    "string": _Reading(_only(str), _short_text),
}
