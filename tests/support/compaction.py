"""What care's compaction commits, with rows written by PyIceberg instead of Spark."""

from collections.abc import Callable, Collection

from lakebed.names import TableName
from lakebed.ports import MAIN, AddSnapshot, Amendment, Pointer, RemoveRef, SetRef
from lakebed.settings import normalized_location
from tests.support.benches import RealBench

BRANCH = "compacting"
Pick = Callable[[list[str]], Collection[str]]


def compact(bench: RealBench, table: TableName, pick: Pick = list) -> None:
    """Replace the data files that are picked by one for each partition; none if there are none."""
    loaded = bench.iceberg.load_table(table.parts)
    files = loaded.scan().plan_files()
    picked = pick(sorted(normalized_location(one.file.file_path) for one in files))
    part = bench.stores.snapshots.of_files(_pointer(bench, table), picked) if picked else None
    if part is None:
        return
    assert isinstance(part, AddSnapshot)
    bench.catalog.amend(table, [part, SetRef(BRANCH, part.snapshot)])
    loaded.refresh()
    loaded.overwrite(loaded.scan(snapshot_id=part.snapshot).to_arrow(), branch=BRANCH)
    written = loaded.refresh().snapshot_by_name(BRANCH)
    assert written
    made = bench.stores.snapshots.replacing(
        _pointer(bench, table), picked=part.snapshot, by=written.snapshot_id, summary={}
    )
    amendments: list[Amendment] = [made, SetRef(MAIN, made.snapshot), RemoveRef(BRANCH)]
    bench.catalog.amend(table, amendments)


def _pointer(bench: RealBench, table: TableName) -> Pointer:
    return bench.catalog.pointers([table])[table]
