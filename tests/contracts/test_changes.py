"""Changes between two snapshots: every file that was added or removed is told, with its
partition.
"""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyiceberg.transforms import BucketTransform, IdentityTransform

from lakebed.errors import DamagedTable
from lakebed.names import TableName, new_run_id
from lakebed.ports import (
    MAIN,
    ChangedFile,
    Pointer,
    RemoveSnapshots,
    SetRef,
)
from lakebed.settings import RestCatalog, normalized_location
from tests.support.benches import RealBench
from tests.support.compaction import compact

if TYPE_CHECKING:
    from pyiceberg.table import Table

ROWS = pa.schema([("id", pa.int64()), ("year", pa.int32()), ("day", pa.date32())])
YEAR = (2, "identity")
DAY = date(2020, 1, 1)


def rows(*found: tuple[int, int | None]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"id": id_, "year": year, "day": DAY} for id_, year in found], ROWS
    )


def new_table(bench: RealBench, *, by: Sequence[str] = ("year",), version: int = 2) -> "Table":
    name = TableName(bench.namespace, "silver", f"t_{new_run_id()[:16]}")
    bench.catalog.create_namespace(name.namespace, name.layer)
    rest = isinstance(bench.settings.catalog, RestCatalog)
    table = bench.iceberg.create_table(
        name.parts,
        ROWS,
        location=None if rest else bench.root.at(name.folder),
        properties={"format-version": str(version)},
    )
    with table.update_spec() as update:
        for column in by:
            update.add_field(column, IdentityTransform(), f"p_{column}")
    return table


def pointer(bench: RealBench, table: "Table") -> Pointer:
    name = TableName(*table.name()[-3:])
    return bench.catalog.pointers([name])[name]


def head(table: "Table") -> int:
    found = table.refresh().current_snapshot()
    assert found
    return found.snapshot_id


def changes(
    bench: RealBench, table: "Table", since: int, until: int
) -> tuple[ChangedFile, ...] | None:
    return bench.stores.scans.changes(pointer(bench, table), since=since, until=until)


def shown(found: tuple[ChangedFile, ...] | None) -> list[tuple[str, object]]:
    assert found is not None
    return [("+" if one.added else "-", one.partition.get(YEAR, "?")) for one in found]


def living(table: "Table", snapshot: int) -> set[str]:
    """All files of a snapshot, as PyIceberg sees them."""
    found = table.refresh().snapshot_by_id(snapshot)
    assert found
    return {
        normalized_location(entry.data_file.file_path)
        for manifest in found.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
    }


@pytest.mark.parametrize("version", [1, 2])
def test_appends_deletes_and_overwrites_are_told_with_their_partitions(
    real_bench: RealBench, version: int
) -> None:
    bench, table = real_bench, new_table(real_bench, version=version)
    table.append(rows((1, 2019), (2, 2020), (3, None)))
    first = head(table)
    table.append(rows((4, 2020)))
    second = head(table)
    table.delete("year is null")  # a whole file
    third = head(table)
    table.delete("id = 1 or id = 9")  # nothing is left of the file
    table.append(rows((5, 2021), (6, 2021)))
    fifth = head(table)
    table.delete("id = 5")  # the file is written again
    table.overwrite(rows((7, 2020)), "year = 2020")
    last = head(table)
    assert changes(bench, table, first, first) == ()
    assert shown(changes(bench, table, first, second)) == [("+", 2020)]
    assert shown(changes(bench, table, second, third)) == [("-", None)]
    assert shown(changes(bench, table, third, fifth)) == [("-", 2019), ("+", 2021)]
    later = shown(changes(bench, table, fifth, last))
    assert sorted(map(str, later)) == sorted(
        map(str, [("-", 2021), ("+", 2021), ("-", 2020), ("-", 2020), ("+", 2020)])
    )
    whole = changes(bench, table, first, last)
    assert whole is not None
    assert not any(one.deletes for one in whole)
    added = {one.location for one in whole if one.added}
    removed = {one.location for one in whole if not one.added}
    assert living(table, last) == (living(table, first) | added) - removed


def test_without_a_line_of_descent_nothing_can_be_told(real_bench: RealBench) -> None:
    bench, table = real_bench, new_table(real_bench)
    name = pointer(bench, table).table
    table.append(rows((1, 2019)))
    first = head(table)
    table.append(rows((2, 2020)))
    second = head(table)
    bench.catalog.amend(name, [SetRef(MAIN, first)])
    table.refresh().append(rows((3, 2021)))
    third = head(table)
    assert changes(bench, table, second, third) is None
    assert changes(bench, table, second, first) is None
    assert changes(bench, table, 5, third) is None
    assert changes(bench, table, first, 5) is None
    assert shown(changes(bench, table, first, third)) == [("+", 2021)]
    table.append(rows((4, 2022)))
    last = head(table)
    before = pointer(bench, table)
    bench.catalog.amend(name, [RemoveSnapshots((first,))])
    # its successor is known, and everything after it
    assert shown(changes(bench, table, first, last)) == [("+", 2021), ("+", 2022)]
    bench.catalog.amend(name, [RemoveSnapshots((third,))])
    assert changes(bench, table, first, last) is None
    assert shown(changes(bench, table, third, last)) == [("+", 2022)]
    assert bench.stores.scans.changes(before, since=first, until=last) is not None


def test_files_have_the_values_of_their_own_spec_or_of_certain_bounds(
    real_bench: RealBench,
) -> None:
    bench, table = real_bench, new_table(real_bench, by=())
    table.append(rows((1, 2019)))
    first = head(table)
    table.append(rows((2, 2020), (3, 2021)))
    with table.update_spec() as update:
        update.add_field("year", IdentityTransform(), "p_year")
    table.append(rows((4, None), (5, 2021)))
    with table.update_spec() as update:
        update.remove_field("p_year")
        update.add_field("id", BucketTransform(1), "p_id")
    last = head(table)
    found = changes(bench, table, first, last)
    assert found is not None
    day = (3, "identity")
    assert [dict(one.partition) for one in found[:1]] == [{day: DAY}]
    assert sorted((dict(one.partition) for one in found[1:]), key=str) == sorted(
        [
            {(1, "identity"): 4, YEAR: None, day: DAY},
            {(1, "identity"): 5, YEAR: 2021, day: DAY},
        ],
        key=str,
    )
    (planned,) = bench.stores.scans.plan(pointer(bench, table), snapshot=first).files
    assert planned.partition == {(1, "identity"): 1, YEAR: 2019, day: DAY}
    assert set(planned.column_sizes) == {1, 2, 3}


def test_snapshots_that_only_replace_files_are_left_out(real_bench: RealBench) -> None:
    bench, table = real_bench, new_table(real_bench, by=())
    table.append(rows((1, 2019), (2, 2020)))
    first = head(table)
    compact(bench, pointer(bench, table).table)
    second = head(table)
    assert living(table, first).isdisjoint(living(table, second))
    assert changes(bench, table, first, second) == ()
    table.append(rows((3, 2021)))
    assert shown(changes(bench, table, first, head(table))) == [("+", 2021)]


def test_manifests_that_are_gone_tell_nothing_and_damaged_ones_are_named(
    real_bench: RealBench,
) -> None:
    bench, table = real_bench, new_table(real_bench)
    table.append(rows((1, 2019)))
    first = head(table)
    table.append(rows((2, 2020)))
    second = head(table)
    found = table.snapshot_by_id(second)
    assert found
    added = [one for one in found.manifests(table.io) if one.added_snapshot_id == second]
    path = bench.stores.files.path_of(added[0].manifest_path)
    if path is None:
        return  # the catalog keeps its tables outside the lake
    content = bench.stores.files.read(path)
    bench.stores.files.delete(path)
    assert changes(bench, table, first, second) is None
    bench.stores.files.write(path, content[:-30])
    with pytest.raises(DamagedTable, match="avro"):
        changes(bench, table, first, second)
    bench.stores.files.delete(path)
    bench.stores.files.write(path, content)
    assert shown(changes(bench, table, first, second)) == [("+", 2020)]
    bench.stores.files.delete(path)
    assert shown(changes(bench, table, first, second)) == [("+", 2020)]  # it is remembered
    listed = bench.stores.files.path_of(found.manifest_list)
    assert listed
    bench.stores.files.delete(listed)
    fresh = RealBench(bench.settings, bench.root, bench.namespace)
    assert changes(fresh, table, first, second) is None
    fresh.close()


def test_too_many_changes_and_untold_ones_cannot_be_told(
    real_bench: RealBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, table = real_bench, new_table(real_bench)
    table.append(rows((1, 2019)))
    first = head(table)
    table.append(rows((2, 2020), (3, 2021)))
    second = head(table)
    table.append(rows((4, 2020)))
    last = head(table)
    most = "lakebed.engines.iceberg.scan.changes._MOST"
    monkeypatch.setattr(most, 2)
    assert changes(bench, table, first, last) is None
    assert shown(changes(bench, table, second, last)) == [("+", 2020)]
    monkeypatch.setattr(most, 3)
    assert len(changes(bench, table, first, last) or ()) == 3
    at = pointer(bench, table)
    reader = bench.stores.scans._reader  # type: ignore[attr-defined]
    outline = reader.outline(at)
    state = outline.snapshots[last]
    more = outline._replace(snapshots={**outline.snapshots, last: state._replace(changes=2)})
    monkeypatch.setattr(reader, "outline", lambda _: more)
    assert bench.stores.scans.changes(at, since=second, until=last) is None
