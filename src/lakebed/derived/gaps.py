"""Gaps of a table that is made from batches, told by its files."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from lakebed.batches.gaps import Gap, find_gaps
from lakebed.batches.keys import BatchKey, read_label
from lakebed.batches.state import BatchStates
from lakebed.derived.labels import FileLabels
from lakebed.ports import LakePorts, Pointer, TableMetadata

_RECORDS = 1_000  # of runs, the newest: older ones are told by the checkpoint


def table_gaps(
    ports: LakePorts,
    pointer: Pointer,
    metadata: TableMetadata,
    states: BatchStates,
    *,
    at: int | None,
) -> tuple[Gap, ...]:
    """The batches that a snapshot has no rows of, though it should; none if its files do not tell
    batches apart.
    """
    if at is None or not states.batches:
        return ()
    first = next(iter(states.batches))
    names = [part.partition("=")[0] for part in first.split("/") if part]
    try:
        labels = FileLabels(metadata.columns, names)
    except KeyError:  # a batch column was renamed or dropped
        return ()

    @cache
    def labels_at(snapshot: int) -> frozenset[str] | None:
        files = ports.scans.plan(pointer, snapshot=snapshot).files
        found = {labels.label(file.partition) for file in files}
        known = frozenset(one for one in found if one is not None)
        return known if len(known) == len(found) else None

    @cache
    def published() -> dict[int | None, str]:
        runs = ports.records.runs(table=pointer.table, state="success", limit=_RECORDS)
        return {run.snapshot: run.run_id for run in runs}

    def publisher(snapshot: int) -> str:
        # Spark leaves our property out where a DELETE removes whole files
        return metadata.snapshots[snapshot].run_id or published().get(snapshot, "")

    told = {label: one for label, one in states.batches.items() if _is_value(label, labels.keys)}
    known = replace(states, batches=told)
    return find_gaps(known, metadata, at, labels_at=labels_at, publisher=publisher)


def _is_value(label: str, keys: Sequence[BatchKey]) -> bool:
    """Whether a label names one value of each key; that of a backfill's chunk names a range."""
    if not keys:
        return not label
    try:
        read_label(label, keys)
    except ValueError:
        return False
    return True
