"""Finding batches by listing their files. No file is read, and the listing is never in memory."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from tempfile import TemporaryFile
from typing import IO

from lakebed.batches.keys import BatchKey, KeyValues, in_order, label, values_of
from lakebed.batches.pattern import SourcePattern
from lakebed.batches.refused_paths import BadBatchKey, BadBatchKeys, is_own
from lakebed.batches.sorting import Entry, read_entry, sorted_entries, write_entry
from lakebed.errors import BadFiles, LinkRefused
from lakebed.ports import FileInfo, Files, StrayLink

MOST_BATCHES = 100_000  # a batch is a commit: more would take days
_KNOWN = 10_000  # labels that are remembered: most files are of the same few batches
_AT_ONCE = 1_000  # files that are read back at a time
_DISTINCT = 10_000  # values of a name are counted up to here


@dataclass(frozen=True)
class FoundBatch:
    """One batch: its files as they were listed. `digest` changes whenever one of them does."""

    label: str
    values: KeyValues
    files: int
    bytes: int
    digest: str
    newest: datetime
    offset: int = field(repr=False, default=0)  # where its lines begin


@dataclass(frozen=True)
class FoundBatches:
    """The batches of a source, in the order of their values."""

    batches: tuple[FoundBatch, ...]
    _lines: IO[bytes]
    bad: tuple[BadBatchKey, ...] = ()  # files that are of no batch

    @property
    def files(self) -> int:
        return sum(batch.files for batch in self.batches)

    @property
    def bytes(self) -> int:
        return sum(batch.bytes for batch in self.batches)

    def files_of(self, batch: FoundBatch) -> "BatchFiles":
        """The files of a batch, by path."""
        return BatchFiles(batch.files, batch.offset, self._lines)


@dataclass(frozen=True)
class BatchFiles(Collection[FileInfo]):
    """The files of a batch, by path; some are in memory at a time, however many there are."""

    count: int
    offset: int
    _lines: IO[bytes] = field(repr=False)

    def __len__(self) -> int:
        return self.count

    def __contains__(self, file: object) -> bool:
        return any(one == file for one in self)

    def __iter__(self) -> Iterator[FileInfo]:
        left, offset = self.count, self.offset
        while left:  # others may read in between
            self._lines.seek(offset)
            some = [_file(read_entry(self._lines)) for _ in range(min(left, _AT_ONCE))]
            left, offset = left - len(some), self._lines.tell()
            yield from some


@dataclass(frozen=True)
class BatchSource:
    """Where a table's rows come from, and what tells its batches apart."""

    pattern: SourcePattern
    keys: tuple[BatchKey, ...]
    loose: SourcePattern | None = None  # matches also where a value is of the wrong type

    def may_hold(self, path: str) -> bool:
        """Whether a path, or one below it, may be of this source."""
        return (self.loose or self.pattern).may_hold(path)

    def is_double(self, file: FileInfo) -> bool:
        """Whether a symbolic link has led to a file that is in the same batch under its own
        path.
        """
        if not file.target:
            return False
        try:
            return self.values(file.target) == self.values(file.path)
        except ValueError:  # a file of no batch
            return False

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(key.name for key in self.keys)

    def values(self, path: str) -> KeyValues | None:
        """The batch of a path; None for a path that is not of this source.

        `ValueError` for a path whose values are not of the keys' types; it names the path.
        """
        captured = self._captured(path)
        return None if captured is None else values_of(captured, self.keys, path=path)

    def spelt(self, path: str) -> str:
        """The batch of a path as it is written there, whatever the types of the keys."""
        captured = self._captured(path) or {}
        return "/".join(f"{key.name}={captured.get(key.name)}" for key in self.keys)

    def _captured(self, path: str) -> Mapping[str, str | None] | None:
        wanted = self._wanted
        captured = self.pattern.values(path, wanted)
        if captured is None and self.loose is not None:
            captured = self.loose.values(path, wanted)
        return captured


@contextmanager
def found_batches(
    files: Files, source: BatchSource, *, lake: str | None = "", at_once: int = 50_000
) -> Iterator[FoundBatches]:
    """The batches of a source, complete before the block begins; the listing is gone after it.

    `LinkRefused` for a symbolic link that leads out of the source's folder, where files of it may
    be: a batch whose folder was moved away must not be taken for gone.

    `lake` is where the lake's root is among the files: what it keeps itself is no source.
    """
    bad = BadBatchKeys()
    with TemporaryFile() as lines:
        found = sorted_entries(_listed(files, source, lake, bad), at_once=at_once)
        batches = [
            _batch(name, entries, source, lines)
            for name, entries in groupby(found, key=lambda entry: str(entry[0]))
        ]
        if len(batches) > MOST_BATCHES:
            raise _too_many(len(batches), source)
        ordered = sorted(batches, key=lambda one: in_order(one.values))
        yield FoundBatches(tuple(ordered), lines, tuple(bad))


def _listed(
    files: Files, source: BatchSource, lake: str | None, bad: BadBatchKeys
) -> Iterator[Entry]:
    known: dict[KeyValues, str] = {}

    def refuse(link: StrayLink) -> None:
        if source.may_hold(link.path) or source.pattern.folder == link.path:
            raise LinkRefused(link.path, f"{link.fault}: to {link.target}")

    for file in files.follow(source.pattern.folder, stray=refuse):
        if (lake is not None and is_own(file.path, lake=lake)) or source.is_double(file):
            continue
        try:
            values = source.values(file.path)
        except ValueError as error:
            bad.add(source.spelt(file.path), str(error), file.size)
            continue
        if values is None:
            continue
        if values not in known:
            known = known if len(known) < _KNOWN else {}
            known[values] = label(source.keys, values)
        modified = file.modified.timestamp()
        yield (known[values], file.path, file.size, file.etag, modified, file.target)


def _batch(
    name: str, entries: Iterator[Entry], source: BatchSource, lines: IO[bytes]
) -> FoundBatch:
    offset, count, size, newest, path = lines.tell(), 0, 0, 0.0, ""
    digest, targets = hashlib.sha256(), set[str]()
    for entry in entries:
        _, path, length, etag, at, target = _columns(entry)
        if target in targets:  # two links to one file
            continue
        if target:
            targets.add(target)
        digest.update(f"{path}\0{length}\0{etag}\n".encode(errors="surrogatepass"))
        write_entry(entry, lines)
        count, size, newest = count + 1, size + length, max(newest, at)
    modified = datetime.fromtimestamp(newest, UTC)
    values = source.values(path) or ()
    return FoundBatch(name, values, count, size, digest.hexdigest(), modified, offset)


def _columns(entry: Entry) -> tuple[str, str, int, str, float, str]:
    label_, path, size, etag, at, target = entry
    return str(label_), str(path), int(size), str(etag), float(at), str(target)


def distinct_values(
    found: FoundBatches, batch: FoundBatch, source: BatchSource
) -> Mapping[str, int]:
    """How many values the other names of the pattern have in a batch, counted up to a limit."""
    keys = {key.name for key in source.keys}
    seen: dict[str, set[str | None]] = {
        name: set() for name in source.pattern.names if name not in keys
    }
    for file in found.files_of(batch):
        captured = source.pattern.values(file.path) or {}
        for name, values in seen.items():
            if len(values) < _DISTINCT:
                values.add(captured[name])
    return {name: len(values) for name, values in seen.items()}


def _file(entry: Entry) -> FileInfo:
    _, path, size, etag, at, target = _columns(entry)
    return FileInfo(path, size, etag, datetime.fromtimestamp(at, UTC), target)


def _too_many(count: int, source: BatchSource) -> BadFiles:
    keys = ", ".join(key.name for key in source.keys)
    return BadFiles(
        f"{count:,} batches were found by {keys}; at most {MOST_BATCHES:,} are possible.",
        where=source.pattern.text,
        safe="Nothing was written.",
        next="Choose fewer batch_partition_columns, or such with fewer values.",
    )
