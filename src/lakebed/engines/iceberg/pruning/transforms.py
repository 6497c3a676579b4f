"""Bounds on a column that follow from a partition value, for every transform of Iceberg."""

from typing import Any, NamedTuple

from lakebed.engines.iceberg.pruning.comparable_values import DAY, ComparableType
from lakebed.engines.iceberg.scan.manifests import PartitionSummary

HOUR = DAY // 24
_MONTHS = 12


class ColumnBounds(NamedTuple):
    """What is known about one column in a set of rows. Unknown bounds are None."""

    may_have_nulls: bool = True
    may_have_values: bool = True
    may_have_nans: bool = True
    lower: Any = None
    upper: Any = None
    prefixes: bool = False  # values may also be longer than `upper` if they begin with it
    # how many there are, the first and the last possible one
    buckets: tuple[int, int, int] | None = None


def bounds_of_value(transform: str, value: Any, comparable: ComparableType) -> ColumnBounds:
    """Bounds from a file's partition value, as stored in Avro."""
    if value is None:
        return ColumnBounds(may_have_nulls=True, may_have_values=False, may_have_nans=False)
    name, _ = parse_transform(transform)
    known = comparable.from_partition(value) if name in ("identity", "truncate") else value
    return _between(transform, known, known, comparable)._replace(may_have_nulls=False)


def bounds_of_summary(
    transform: str, summary: PartitionSummary, comparable: ComparableType
) -> ColumnBounds:
    """Bounds from a manifest's summary of one partition field."""
    if summary.lower is None or summary.upper is None:
        return ColumnBounds(may_have_nulls=summary.nulls)
    name, _ = parse_transform(transform)
    decode = comparable.decode if name in ("identity", "truncate") else _number
    found = _between(transform, decode(summary.lower), decode(summary.upper), comparable)
    return found._replace(may_have_nulls=summary.nulls, may_have_nans=summary.nans is not False)


def parse_transform(transform: str) -> tuple[str, int]:
    """`bucket[16]` as its name and number."""
    name, _, argument = transform.rstrip("]").partition("[")
    return name, int(argument) if argument else 0


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _between(transform: str, lower: Any, upper: Any, comparable: ComparableType) -> ColumnBounds:
    name, number = parse_transform(transform)
    match name:
        case "identity":
            return _identity(lower, upper, comparable)
        case "truncate" if comparable.kind in ("string", "binary"):
            return ColumnBounds(lower=lower, upper=upper, prefixes=True)
        case "truncate" if comparable.kind in ("int", "long", "decimal"):
            return ColumnBounds(lower=lower, upper=upper + number - 1)
        case "bucket":
            return ColumnBounds(buckets=(number, lower, upper))
        case "year" | "month" | "day" | "hour":
            return ColumnBounds(
                lower=_starts(name, lower - (lower <= 0)), upper=_starts(name, upper + 1) - 1
            )
    return ColumnBounds()


def _identity(lower: Any, upper: Any, comparable: ComparableType) -> ColumnBounds:
    if lower != lower or upper != upper:  # NaN
        return ColumnBounds()
    if comparable.kind == "uuid" and lower != upper:  # writers do not agree on their order
        return ColumnBounds()
    return ColumnBounds(may_have_nans=lower != upper, lower=lower, upper=upper)


def _starts(unit: str, ordinal: int) -> int:
    """When a year, month … since 1970 begins.

    Before 1970, values of early Iceberg versions may be one unit too late.
    """
    match unit:
        case "day":
            return ordinal * DAY
        case "hour":
            return ordinal * HOUR
        case "month":
            return _days_to(1970 + ordinal // _MONTHS, ordinal % _MONTHS) * DAY
        case _:
            return _days_to(1970 + ordinal, 0) * DAY


def _days_to(year: int, months: int) -> int:
    """Days from 1970 to the first of a month, for any year: Python's dates end at 9999."""
    shifted = year - (months < 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((months + 10) % _MONTHS) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def bucket_hash(value: Any, comparable: ComparableType) -> int | None:
    """The 32-bit hash from which Iceberg computes the bucket; None for types without one."""
    match comparable.kind:
        case "int" | "long" | "time" | "timestamp" | "timestamptz":
            return _murmur(_eight(value)) if _fits(value) else None
        case "date":
            return _murmur(_eight(value // DAY)) if value % DAY == 0 else None
        case "decimal":
            return _murmur(_shortest(int(value))) if value == int(value) else None
        case "string" | "binary" | "uuid":
            return _murmur(value)
    return None


def _fits(value: Any) -> bool:
    return bool(value == int(value) and -(2**63) <= value < 2**63)


def _eight(value: Any) -> bytes:
    return int(value).to_bytes(8, "little", signed=True)


def _shortest(value: int) -> bytes:
    length = ((value if value >= 0 else ~value).bit_length() + 8) // 8
    return value.to_bytes(length, "big", signed=True)


def bucket(hash_: int, count: int) -> int:
    """The bucket of a hash."""
    return (hash_ & 0x7FFFFFFF) % count


def _murmur(data: bytes) -> int:
    """Murmur3, 32 bits, seed 0."""
    state, whole = 0, len(data) // 4 * 4
    for at in range(0, whole, 4):
        state ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        state = (_rotated(state, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    state ^= _mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = ((state ^ (state >> shift)) * factor) & 0xFFFFFFFF
    return state ^ (state >> 16)


def _mixed(word: int) -> int:
    return (_rotated((word * 0xCC9E2D51) & 0xFFFFFFFF, 15) * 0x1B873593) & 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & 0xFFFFFFFF
