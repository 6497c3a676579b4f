"""The batches of a migration: which files are moved together.

Files of one partition go together, so that few new files are made of many. There may be millions of
files: all but counts is kept in a temporary file.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from tempfile import TemporaryFile
from typing import IO

from lakebed.batches.sorting import Entry, read_entry, sorted_entries, write_entry
from lakebed.ports import Partition, ReachableFile

MOST_FILES = 10_000  # of a batch
_NUMBER = re.compile(r"#(\d{20})")
_MIDDLE = 2**63


@dataclass(frozen=True)
class MigrationBatch:
    """Files that are moved by one commit."""

    number: int
    label: str  # the partition of the first, and of the last if it is another
    files: int
    bytes: int
    rows: int
    offset: int  # of its files in the temporary file


@dataclass(frozen=True)
class PlannedBatches:
    """Batches in order, and their files."""

    batches: tuple[MigrationBatch, ...]
    _listed: IO[bytes]

    def files(self, batch: MigrationBatch) -> frozenset[str]:
        """The normalized locations of a batch's files."""
        self._listed.seek(batch.offset)
        return frozenset(str(read_entry(self._listed)[0]) for _ in range(batch.files))


@contextmanager
def plan_batches(
    files: Iterable[ReachableFile],
    *,
    settled: Collection[int],
    specs: Mapping[int, Sequence[str]],
    limit: int,
) -> Iterator[PlannedBatches]:
    """Divide the data files that have other partition specs than the `settled` ones into batches of
    at most `limit` bytes.
    """
    entries = (
        _entry(file, file.partition)
        for file in files
        if file.kind == "data" and file.partition and file.partition.spec not in settled
    )
    with TemporaryFile() as listed:
        yield PlannedBatches(tuple(_divided(sorted_entries(entries), specs, limit, listed)), listed)


def _entry(file: ReachableFile, partition: Partition) -> Entry:
    values = "\0".join(_sortable(value) for value in partition.values)
    return (partition.spec, values, file.location, file.size or 0, file.rows or 0)


def _sortable(value: object) -> str:
    """As text; whole numbers sort in their order."""
    if value is None:
        return ""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return f"#{value + _MIDDLE:020d}" if whole else str(value)  # type: ignore[operator]


def _divided(
    entries: Iterable[Entry], specs: Mapping[int, Sequence[str]], limit: int, listed: IO[bytes]
) -> Iterator[MigrationBatch]:
    """A batch ends before a file that would make it too large, and, once it is half full, with its
    partition.
    """
    group: list[Entry] = []
    number = size = 0
    for entry in entries:
        last = group[-1] if group else None
        if last and last[2] == entry[2]:
            continue  # several manifests may name a file
        full = size + int(entry[3]) > limit or len(group) >= MOST_FILES
        if last and (full or (entry[:2] != last[:2] and size * 2 >= limit)):
            number += 1
            yield _batch(number, group, specs, listed)
            group, size = [], 0
        group.append(entry)
        size += int(entry[3])
    if group:
        yield _batch(number + 1, group, specs, listed)


def _batch(
    number: int, group: Sequence[Entry], specs: Mapping[int, Sequence[str]], listed: IO[bytes]
) -> MigrationBatch:
    """The batch of these files, which are written down."""
    offset = listed.tell()
    for entry in group:
        write_entry((entry[2],), listed)
    first, last = (_label(str(one[1]), specs.get(int(one[0]), ())) for one in (group[0], group[-1]))
    return MigrationBatch(
        number,
        first if first == last else f"{first} … {last}",
        len(group),
        sum(int(entry[3]) for entry in group),
        sum(int(entry[4]) for entry in group),
        offset,
    )


def _label(values: str, fields: Sequence[str]) -> str:
    shown = values.split("\0") if fields else []
    return (
        "/".join(
            f"{field}={_shown(field, value)}" for field, value in zip(fields, shown, strict=False)
        )
        or "unpartitioned"
    )


def _shown(field: str, value: str) -> str:
    """Iceberg counts years, months, days and hours from 1970."""
    found = _NUMBER.fullmatch(value)
    if not found:
        return value or "null"
    number = int(found[1]) - _MIDDLE
    match field.partition("(")[0] if "(" in field else "":
        case "year":
            return str(1970 + number)
        case "month":
            return f"{1970 + number // 12}-{number % 12 + 1:02}"
        case "day":
            return str(date(1970, 1, 1) + timedelta(days=number))
    return str(number)
