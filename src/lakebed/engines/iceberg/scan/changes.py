"""The files that snapshots added or removed, from the manifests that they have written."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lakebed.engines.iceberg.avro.reading import read_records
from lakebed.engines.iceberg.metadata.outlines import MetadataOutline, SnapshotOutline
from lakebed.engines.iceberg.scan.file_values import FileValues
from lakebed.engines.iceberg.scan.manifest_reader import ManifestReader
from lakebed.engines.iceberg.scan.manifests import (
    ADDED,
    EXISTING,
    Manifest,
    ManifestEntry,
    entry_line,
    partition_ids,
)
from lakebed.errors import DamagedTable, FileMissing
from lakebed.ports import ChangedFile, Pointer

_MOST = 100_000  # changed files: reading more takes longer than treating everything as changed
_REPLACE = "replace"  # the operation of snapshots that change files, but no rows


class EntryChange(NamedTuple):
    """A file that a snapshot added or removed. Its partition spec is its manifest's; the other
    fields are those of a `ManifestEntry`.
    """

    added: bool
    snapshot: int | None  # None: the one that has added the manifest
    spec: int
    location: str
    data: bool
    partition: Mapping[int, Any]
    packed: bytes


def changes_between(
    reader: ManifestReader, pointer: Pointer, *, since: int, until: int
) -> tuple[ChangedFile, ...] | None:
    """See `Scans.changes`."""
    if since == until:
        return ()
    outline = reader.outline(pointer)
    snapshots = snapshots_after(outline.snapshots, since=since, until=until)
    if snapshots is None:
        return None
    try:
        return _Changes(reader, pointer, outline).of(snapshots)
    except DamagedTable as error:
        if isinstance(error.__cause__, FileMissing):
            return None  # expiry has removed what the older metadata file still names
        raise


def snapshots_after(
    known: Mapping[int, SnapshotOutline], *, since: int, until: int
) -> list[int] | None:
    """The snapshots after `since` up to `until`, oldest first, without those that only replaced
    files; None if `since` is not known to be an ancestor.

    `since` itself may have expired, as long as its successor tells that it comes from it.
    """
    found: list[int] = []
    at: int | None = until
    for _ in range(len(known) + 1):  # a loop of parents ends, too
        if at == since:
            return found[::-1]
        if at is None or at not in known:
            return None
        if known[at].operation != _REPLACE:
            found.append(at)
        at = known[at].parent
    return None


class _Changes:
    """Changes of one table."""

    def __init__(self, reader: ManifestReader, pointer: Pointer, outline: MetadataOutline) -> None:
        self._reader, self._pointer, self._outline = reader, pointer, outline

    def of(self, snapshots: list[int]) -> tuple[ChangedFile, ...] | None:
        found: list[EntryChange] = []
        if sum(self._outline.snapshots[one].changes for one in snapshots) > _MOST:
            return None
        for changes in self._reader.each(self._pointer, snapshots, self._of_snapshot):
            if changes is None or len(found) + len(changes) > _MOST:
                return None
            found += changes
        values = {one.spec: FileValues(self._outline, one.spec) for one in found}
        return tuple(_changed(one, values[one.spec]) for one in found)

    def _of_snapshot(self, snapshot: int) -> list[EntryChange] | None:
        """None if there are too many, or fewer than the snapshot's summary counts: then its
        manifests do not tell all.
        """
        state = self._outline.snapshots[snapshot]
        lines = self._reader.remembered("changes", state.manifests, lambda: self._lines(snapshot))
        return None if lines is None or len(lines) < state.changes else as_changes(lines)

    def _lines(self, snapshot: int) -> list[Any] | None:
        """In cacheable form."""
        manifests = self._written(snapshot)
        if sum(one.changes or 0 for one in manifests) > _MOST:
            return None
        return [line for one in manifests for line in self._of_manifest(snapshot, one)]

    def _written(self, snapshot: int) -> list[Manifest]:
        """The manifests that a snapshot has written, or may have: old lists do not say who did."""
        manifests = self._reader.manifests(self._pointer, self._outline, snapshot)
        return [one for one in manifests if one.snapshot in (snapshot, None) and one.changes != 0]

    def _of_manifest(self, snapshot: int, manifest: Manifest) -> list[Any]:
        lines = self._reader.read(
            self._pointer, manifest.location, lambda data: read_changes(data, spec=manifest.spec)
        )
        if manifest.snapshot == snapshot:
            return lines
        return [line for line in lines if EntryChange._make(line).snapshot == snapshot]


def _changed(change: EntryChange, values: FileValues) -> ChangedFile:
    partition = values.of(change.partition, change.packed)
    return ChangedFile(change.location, not change.data, change.added, partition)


def read_changes(data: bytes, *, spec: int) -> list[Any]:
    """The files of a manifest that were added or removed, not those that it has from others, in
    cacheable form; see `as_changes`.
    """
    schema, _, records = read_records(data)
    ids = partition_ids(schema)
    return [_change(record, ids, spec) for record in records if record["status"] != EXISTING]


def as_changes(lines: list[Any]) -> list[EntryChange]:
    """Cached values as their types."""
    return [EntryChange._make(line) for line in lines]


def _change(record: Mapping[str, Any], ids: Mapping[str, int], spec: int) -> tuple[Any, ...]:
    file = ManifestEntry._make(entry_line(record["data_file"], ids))
    added, snapshot = record["status"] == ADDED, record.get("snapshot_id")
    return added, snapshot, spec, file.location, file.data, file.partition, file.packed
