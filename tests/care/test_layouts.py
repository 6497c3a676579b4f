"""Care, checks and repairs of tables with layouts: what a layout says of itself stays true, and it
goes with its table.
"""

import json
import logging
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField

from lakebed.app import Lake, open_lake
from lakebed.batches.state import BATCH, CHECKPOINT, BatchState, batch_summary
from lakebed.care.fsck.plan import FsckState, judge
from lakebed.derived.building.columns import SOURCE_COLUMNS, column_ids
from lakebed.derived.building.look import look_at_source
from lakebed.derived.building.stamp import stamp
from lakebed.derived.freshness import columns_digest, source_digest
from lakebed.derived.identity import (
    DERIVED_TABLES,
    KIND,
    find_layouts,
    layout_properties,
    listing,
    new_table_name,
)
from lakebed.derived.spec import LayoutSpec
from lakebed.derived.summary import LayoutSummary
from lakebed.names import TableName
from lakebed.pipelines.running.steps.layouts import layout_notes
from lakebed.ports import SetProperties
from lakebed.requests import QueryRequest
from tests.support.lakes.care_lakes import CareLake, entry
from tests.support.tables import new_location

SPEC = LayoutSpec(name="by_id", sort_by=("id",), batch_by=("id",))
SOURCE = "silver.orders"


class LaidOut:
    """A table of ids, each a batch, and a layout of it; written by PyIceberg."""

    def __init__(self, cared: CareLake) -> None:
        self.cared, self.lake, self.source = cared, cared.lake, cared.name(SOURCE)
        self._create(self.source, {})
        self.append(self.source, 1)
        self.append(self.source, 2)
        metadata = cared.meta(SOURCE)
        self.hidden = new_table_name(self.source, underscore=True)
        told = layout_properties(SPEC, self.hidden, metadata.uuid)
        self._create(self.hidden, told | {SOURCE_COLUMNS: column_ids(metadata.columns)})
        self.build(1)
        self.build(2)
        self.list(self.hidden)

    def _create(self, table: TableName, properties: dict[str, str]) -> None:
        self.lake.iceberg.create_table(
            table.parts,
            Schema(NestedField(1, "id", LongType())),
            location=new_location(self.lake, table),
            partition_spec=PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "id")),
            properties=properties,
        )

    def append(self, table: TableName, id_: int, **summary: str) -> None:
        rows = pa.table({"id": pa.array([id_], pa.int64())})
        self.lake.iceberg.load_table(table.parts).append(rows, snapshot_properties=summary)

    def build(self, id_: int) -> None:
        """Adds a batch as builds do."""
        metadata = self.cared.meta(SOURCE)
        digest = source_digest(metadata.uuid, metadata.refs["main"].snapshot)
        state = BatchState(f"id={id_}", digest, SPEC.digest, columns_digest(metadata))
        self.append(self.hidden, id_, **{BATCH: batch_summary(state)})

    def list(self, *tables: TableName) -> None:
        listed = SetProperties({DERIVED_TABLES: listing(tables)})
        self.lake.stores.catalog.amend(self.source, [listed])

    def stamp(self, *ids: int) -> bool:
        services = self.lake.layouts.services
        source = look_at_source(services, self.source)
        assert source
        return stamp(services, source, self.hidden, [f"id={one}" for one in (1, 2, *ids)])

    @property
    def state(self) -> LayoutSummary:
        (line,) = self.lake.layouts.list(self.source)
        return line


def ids_in_layout(lake: Lake) -> list[int]:
    """What a query gives that reads the layout for whatever is fresh."""
    sql = f"/*+ use_layout(by_id) */ SELECT id FROM {SOURCE} ORDER BY id"
    (table,) = lake.queries.plan(QueryRequest(sql)).tables
    assert table.layout
    ids: list[int] = lake.query(sql).to_arrow()["id"].to_pylist()
    return ids


@pytest.fixture
def laid_out(cared: CareLake) -> LaidOut:
    return LaidOut(cared)


def test_a_stamp_outlives_the_snapshots_before_it(laid_out: LaidOut) -> None:
    cared = laid_out.cared
    assert laid_out.stamp()
    assert laid_out.state.state == "fresh"
    laid_out.append(laid_out.source, 3)
    assert not laid_out.stamp(3)
    stamped = cared.lake.tables.describe(laid_out.hidden).properties[CHECKPOINT]
    cared.care(days=9, only=["expire_snapshots"])
    metadata = cared.lake.tables.describe(laid_out.hidden)
    assert len(metadata.snapshots) == len(cared.meta(SOURCE).snapshots) == 1
    assert metadata.properties[CHECKPOINT] == stamped
    assert (laid_out.state.fresh, laid_out.state.stale) == (2, 1)
    assert laid_out.state.why == "id=3: the table has gained them"


def test_what_others_wrote_is_not_forgotten_with_their_snapshots(laid_out: LaidOut) -> None:
    cared = laid_out.cared
    assert laid_out.stamp()
    laid_out.append(laid_out.hidden, 9)
    laid_out.build(3)
    assert laid_out.state.state == "TAINTED"
    cared.care(days=9, only=["expire_snapshots"])
    assert len(cared.lake.tables.describe(laid_out.hidden).snapshots) == 1
    assert (laid_out.state.state, laid_out.state.fresh) == ("not built", 0)


def test_a_layout_goes_with_its_table_once_that_is_purged(laid_out: LaidOut) -> None:
    cared, lake = laid_out.cared, laid_out.lake
    lake.tables.drop(laid_out.source)
    assert lake.layouts.list() == ()
    cared.care(days=20)
    assert laid_out.hidden in lake.stores.catalog.pointers()
    lake.tables.restore(SOURCE)
    laid_out.stamp()
    assert laid_out.state.state == "fresh"
    lake.tables.drop(laid_out.source)
    cared.care(days=40)
    assert laid_out.hidden in lake.stores.catalog.pointers()
    gone = entry(cared.care(days=40, only=["drop_leftovers"]), "drop_leftovers")
    assert (gone.subject, gone.state) == (str(laid_out.hidden), "done")
    assert lake.stores.catalog.pointers() == {}
    assert not {path for path in cared.files() if "mv_" in path}


def test_a_dropped_layout_is_purged_after_a_day(laid_out: LaidOut) -> None:
    laid_out.lake.layouts.drop(laid_out.source, "by_id")
    assert laid_out.lake.layouts.list() == ()
    assert DERIVED_TABLES not in laid_out.cared.meta(SOURCE).properties
    only = {"only": ["purge_dropped"]}
    assert laid_out.cared.care(days=0.5, **only).entries == ()
    assert entry(laid_out.cared.care(days=1.5, **only), "purge_dropped").state == "done"
    assert laid_out.lake.tables.dropped() == ()


def test_what_a_newer_version_has_derived_is_left_by_builds_and_care_and_reported(
    laid_out: LaidOut,
) -> None:
    """Its batches may be all that remains of hours of work."""
    lake, source, hidden = laid_out.lake, laid_out.source, laid_out.hidden
    lake.stores.catalog.amend(hidden, [SetProperties({KIND: "index"})])
    before = lake.stores.catalog.pointers([hidden])
    done = lake._layouts().bring_up(source, None, rows=False)
    assert done.unknown == {hidden: "index"}
    assert layout_notes(lake._run_services, source, None, logging.getLogger()) == [
        f"{hidden} was left alone: a newer Lakebed has derived it from {source}, as index"
    ]
    (finding,) = [one for one in lake.fsck().findings if one.kind == "unknown derived table"]
    assert (finding.where, "as index" in finding.what) == (str(hidden), True)
    lake.tables.drop(source)
    for days in (9, 40, 80):
        care = laid_out.cared.care(days=days, orphans=True)
        (left,) = [one for one in care.entries if one.subject == str(hidden)]
        assert (left.state, "a newer Lakebed has derived it" in left.message) == ("skipped", True)
    assert lake.stores.catalog.pointers([hidden]) == before


def test_fsck_lets_a_table_list_exactly_what_is_derived_from_it(laid_out: LaidOut) -> None:
    lake, other = laid_out.lake, new_table_name(laid_out.source, underscore=True)
    assert not {one.kind for one in lake.fsck().findings} - {"table without pipeline"}
    laid_out.list(other)
    found = {one.kind: one.where for one in lake.fsck().findings if one.repair}
    assert found == {
        "unlisted derived table": str(laid_out.hidden),
        "missing derived table": str(laid_out.source),
    }
    report = lake.fsck(repair=True)
    assert [one.done for one in report.repairs] == [True]
    assert not [one for one in report.findings if one.repair]
    assert laid_out.state.name == "by_id"
    told = json.loads(laid_out.cared.meta(SOURCE).properties[DERIVED_TABLES])
    assert told == [str(laid_out.hidden)]


def test_what_another_table_lists_is_its_own_business(laid_out: LaidOut) -> None:
    """A clone made by others may list the layouts of what it was made from."""
    metadata = laid_out.cared.meta(SOURCE)
    layout = laid_out.lake.tables.describe(laid_out.hidden)
    tables = {laid_out.source: metadata, laid_out.hidden: layout}
    clone = TableName("shop", "silver", "copy")
    twin = metadata.__class__(**{**vars(metadata), "uuid": "another"})
    kinds = {one.kind for one in judge(FsckState(tables | {clone: twin}))}
    assert kinds == {"table without pipeline"}


def test_a_rebuilt_catalog_knows_layouts_and_tables_again(laid_out: LaidOut) -> None:
    laid_out.stamp()
    folder = laid_out.cared.folder
    laid_out.lake.close()
    for file in (folder / ".data").glob("lake.db*"):
        file.unlink()
    with open_lake(folder) as lake:
        assert {*lake.rebuild_catalog().tables} == {str(laid_out.source), str(laid_out.hidden)}
        (line,) = lake.layouts.list(laid_out.source)
        assert (line.state, line.name) == ("fresh", "by_id")
        (layout,) = find_layouts(lake.tables.describe(laid_out.source), lake.stores.catalog)
        assert layout.table == laid_out.hidden


def test_layouts_move_with_their_lake(laid_out: LaidOut, tmp_path: Path) -> None:
    laid_out.stamp()
    laid_out.lake.close()
    place = tmp_path / "elsewhere" / "lake"
    shutil.move(laid_out.cared.folder, place)
    with open_lake(place) as lake:
        moved = {table.name for table in lake.relocate().tables}
        assert moved == {str(laid_out.source), str(laid_out.hidden)}
        (line,) = lake.layouts.list(laid_out.source)
        assert (line.state, line.fresh) == ("fresh", 2)
        assert ids_in_layout(lake) == [1, 2]
        assert lake.fsck(sample=None).problems == 0
        (checked,) = lake.layouts.verify(laid_out.source)
        assert checked.ok


def test_a_restored_layout_is_trusted_for_what_its_table_has(
    laid_out: LaidOut, tmp_path: Path
) -> None:
    lake = laid_out.lake
    laid_out.stamp()
    made = lake.backup(str(tmp_path / "b.zip"))
    laid_out.append(laid_out.source, 3)
    laid_out.build(3)
    laid_out.stamp(3)
    assert ids_in_layout(lake) == [1, 2, 3]
    lake.restore(made.path, force=True)
    assert (laid_out.state.state, laid_out.state.fresh) == ("fresh", 2)
    assert ids_in_layout(lake) == [1, 2]
    restored = lake.restore(made.path, force=True, newest=True)
    assert {*restored.newer} == {str(laid_out.source), str(laid_out.hidden)}
    assert (laid_out.state.state, laid_out.state.fresh) == ("fresh", 3)
    assert ids_in_layout(lake) == [1, 2, 3]
