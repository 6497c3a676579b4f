"""What readers of a table's files promise: scans, reachable files and inspections see every file,
and name damage.
"""

import pytest

from lakebed.engines.iceberg import catalog_properties
from lakebed.engines.iceberg.upkeep.inspection import IcebergInspection
from lakebed.errors import DamagedTable, FileMissing, UnknownName
from lakebed.names import TableName
from lakebed.ports import (
    Comparison,
    DamagedFile,
    FileInspector,
    MetadataFile,
    Pointer,
    ReachableFile,
    RemoveSnapshots,
    Snapshot,
)
from lakebed.settings import normalized_location
from tests.support.benches import RealBench


def pointer(bench: RealBench, table: TableName) -> Pointer:
    return bench.catalog.pointers([table])[table]


def snapshots(bench: RealBench, table: TableName) -> list[Snapshot]:
    """Of `main`, oldest first."""
    metadata = bench.catalog.metadata([pointer(bench, table)])[table]
    head = metadata.head()
    assert head
    return [*metadata.ancestry(head.id)][::-1]


def inspector(bench: RealBench) -> FileInspector:
    properties = catalog_properties(bench.settings, bench.root)
    return IcebergInspection(
        bench.root, bench.stores.files, bench.settings.files, properties=properties
    )


@pytest.fixture
def filled(real_bench: RealBench) -> tuple[RealBench, TableName]:
    table = real_bench.table("orders")
    real_bench.write(table, [1, 2])
    real_bench.write(table, [30, 40, 50])
    return real_bench, table


def test_every_file_is_scanned_reached_and_inspected(filled: tuple[RealBench, TableName]) -> None:
    bench, table = filled
    _scans(bench, table)
    _reaches(bench, table)
    _inspects(bench, table)
    _names_damage(bench, table)


def _scans(bench: RealBench, table: TableName) -> None:
    at, (first, second), scans = pointer(bench, table), snapshots(bench, table), bench.stores.scans
    whole = scans.plan(at, snapshot=second.id)
    assert (whole.table, whole.snapshot, whole.metadata_location) == (table, second.id, at.location)
    assert (len(whole.files), whole.rows, whole.total_files) == (2, 5, 2)
    assert (
        whole.plain or bench.catalog.owns_files
    )  # False is always safe: an engine that knows Iceberg reads the files then
    assert whole.bytes == whole.total_bytes == sum(file.size for file in whole.files)
    assert [(column.name, column.type) for column in whole.columns] == [("id", "long")]
    assert scans.plan(at, snapshot=first.id).rows == 2
    assert scans.plan(at, snapshot=None).files == ()
    large = scans.plan(at, snapshot=second.id, predicate=Comparison("id", ">", 9), columns=["id"])
    assert (large.rows, large.total_files) == (3, 2)
    with pytest.raises(UnknownName):
        scans.plan(at, snapshot=second.id, columns=["nothing"])
    folders = scans.folders(at, snapshot=second.id)
    assert {file.location.rpartition("/")[0] for file in whole.files} <= folders


def _reaches(bench: RealBench, table: TableName) -> None:
    at, (first, second), reach = pointer(bench, table), snapshots(bench, table), bench.stores.reach
    files = list(reach.files(at))
    kinds = [file.kind for file in files]
    assert len({file.location for file in files}) == len(files)
    assert (kinds.count("data"), kinds.count("manifest list"), kinds.count("manifest")) == (2, 2, 2)
    assert normalized_location(at.location) in {
        file.location for file in files if file.kind == "metadata"
    }
    assert {file.rows for file in files if file.kind == "data"} == {2, 3}
    old = {file.location for file in reach.files(at, snapshots=[first.id])}
    new = {file.location for file in reach.files(at, snapshots=[second.id])}
    assert old - new == {
        file.location for file in files if file.kind == "manifest list" and file.location in old
    }


def _inspects(bench: RealBench, table: TableName) -> None:
    at, inspection = pointer(bench, table), inspector(bench)
    walked = [file for file in inspection.walk(at) if isinstance(file, ReachableFile)]
    assert {file.location for file in walked} == {
        file.location for file in bench.stores.reach.files(at)
    }
    for file in walked:
        content = inspection.content(file)
        assert (content.fault, content.size, len(content.sha256)) == (
            "",
            inspection.size(file.location),
            64,
        )
    if bench.catalog.owns_files:
        return  # it decides where tables are
    found = [
        one for one in inspection.metadata_files(table.folder) if isinstance(one, MetadataFile)
    ]
    assert normalized_location(at.location) in {normalized_location(one.location) for one in found}
    assert len({one.metadata.uuid for one in found}) == 1


def _names_damage(bench: RealBench, table: TableName) -> None:
    """The manifest list of the older snapshot is lost: only who needs that snapshot stumbles."""
    at, (first, second), inspection = (
        pointer(bench, table),
        snapshots(bench, table),
        inspector(bench),
    )
    before = list(bench.stores.reach.files(at))
    new = {file.location for file in bench.stores.reach.files(at, snapshots=[second.id])}
    (lost,) = (file for file in before if file.kind == "manifest list" and file.location not in new)
    path = bench.stores.files.path_of(lost.location)
    if path is None:
        return  # the catalog keeps its tables outside the lake
    bench.stores.files.delete(path)
    fresh = RealBench(bench.settings, bench.root, bench.namespace)  # that has read nothing yet
    with pytest.raises(DamagedTable):
        list(fresh.stores.reach.files(at))
    with pytest.raises(DamagedTable):
        fresh.stores.scans.plan(at, snapshot=first.id)
    assert fresh.stores.scans.plan(at, snapshot=second.id).rows == 5
    walked = list(inspection.walk(at))
    assert [one.location for one in walked if isinstance(one, DamagedFile)] == [lost.location]
    assert len(walked) >= len(before) - 1
    assert inspection.size(lost.location) is None
    with pytest.raises(FileMissing):
        inspection.content(lost)
    bench.catalog.amend(table, [RemoveSnapshots((first.id,))])
    assert len(list(fresh.stores.reach.files(pointer(bench, table)))) < len(before) + 1
    fresh.close()


def test_a_file_that_several_manifests_name_is_inspected_once(real_bench: RealBench) -> None:
    """Else fsck would say several times that it is missing."""
    bench, table = real_bench, real_bench.table("orders")
    merging = {
        "commit.manifest-merge.enabled": "true",
        "commit.manifest.min-count-to-merge": "2",
    }
    loaded = bench.iceberg.load_table(table.parts)
    with loaded.transaction() as transaction:
        transaction.set_properties(merging)
    for number in range(3):
        bench.write(table, [number])
    at = pointer(bench, table)
    reached = [file.location for file in bench.stores.reach.files(at) if file.kind == "data"]
    assert len(reached) > len({*reached}) == 3
    walked = [file.location for file in inspector(bench).walk(at)]
    assert len(walked) == len({*walked})
    assert {*walked} == {file.location for file in bench.stores.reach.files(at)}
