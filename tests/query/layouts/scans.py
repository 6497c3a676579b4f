"""Scans made by hand."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from lakebed.batches.state import BatchState, BatchStates
from lakebed.derived import Freshness
from lakebed.derived.freshness import StaleReason
from lakebed.derived.identity import Layout, layout_properties
from lakebed.derived.look import LayoutState
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.ports import (
    MAIN,
    Column,
    ColumnGroup,
    Pointer,
    Scan,
    ScanColumn,
    ScanFile,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)

SOURCE = TableName("econ", "silver", "income")
HIDDEN = TableName("econ", "silver", "_mv_" + "a" * 32)
COLUMNS = (
    Column("year", "int", required=False, id=1),
    Column("geo", "string", required=False, id=2),
    Column("amount", "double", required=False, id=3),
)
SCANNED = tuple(ScanColumn(one.id, one.name, one.type, one.required) for one in COLUMNS)
MIB = 1024 * 1024
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def file(
    place: str,
    *,
    year: object = "",
    size: int = MIB,
    columns: Mapping[int, int] | None = None,
    groups: int = 1,
) -> ScanFile:
    """A data file; without a year it has rows of several."""
    partition = {} if year == "" else {(1, "identity"): year}
    offsets = tuple(range(4, 4 + groups))
    return ScanFile(place, size, 1000, offsets, columns or {}, partition)


def scan(files: Iterable[ScanFile], *, plain: bool = True, total: int | None = None) -> Scan:
    found = tuple(files)
    groups = (ColumnGroup(("year", "geo", "amount"), found),) if plain and found else ()
    return Scan(
        SOURCE, 1, "here", SCANNED, found, len(found) if total is None else total, 0, plain, groups
    )


def metadata(uuid: str = "src", *, properties: Mapping[str, str] | None = None) -> TableMetadata:
    head = Snapshot(1, None, NOW, "append", {})
    return TableMetadata(
        uuid,
        "s3://x",
        2,
        NOW,
        COLUMNS,
        (),
        (),
        properties or {},
        {1: head},
        {MAIN: SnapshotRef(MAIN, 1, "branch")},
    )


def state(
    name: str = "by_geo",
    *,
    fresh: Iterable[str] = ("year=2019", "year=2020"),
    stale: Mapping[str, StaleReason] | None = None,
    covers: bool = True,
) -> LayoutState:
    spec = LayoutSpec.model_validate({"name": name, "partition_by": ["geo"], "batch_by": ["year"]})
    told = metadata("mv", properties=layout_properties(spec, HIDDEN, "src"))
    found = Freshness(frozenset(fresh), stale or {}, covers)
    labels = [*found.fresh, *found.stale]
    states = BatchStates({label: BatchState(label, "src@1", spec.digest) for label in labels})
    return LayoutState(Layout(Pointer(HIDDEN, "there"), told, spec), states, found)


def without_head(found: LayoutState) -> LayoutState:
    return replace(
        found,
        layout=replace(found.layout, metadata=replace(found.layout.metadata, refs={})),
    )
