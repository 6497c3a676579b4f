"""Publications that are purged: the ledger answers as before, and nothing is published again."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from lakebed.errors import UnknownName
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import (
    ChangeRecords,
    ConsumedFile,
    FileState,
    FileStateChange,
    MovedFile,
    Publication,
    PublicationRecords,
    SetProperties,
)
from lakebed.tables import PublishRequest, publish
from tests.support.benches import Bench, RealBench
from tests.support.scale import SCALE

LATER = timedelta(days=1)


def tomorrow() -> datetime:
    return datetime.now(UTC) + LATER


def take(bench: Bench, table: TableName, zone: ZoneName, *paths: str, run_id: str = "") -> str:
    """A publication that moves no table and took these files."""
    run_id = run_id or new_run_id()
    taken = tuple(ConsumedFile(table, zone, path, "etag", 12, run_id) for path in paths)
    publish(bench.catalog, [], run_id=run_id, records=PublicationRecords(consumed=taken))
    return run_id


def answers(bench: Bench, zones: list[ZoneName], tables: list[TableName]) -> list[Any]:
    """All that the ledger says, and when each file was taken."""
    asked = [bench.records.consumed(zone) for zone in zones]
    asked += [bench.records.consumed(zone, table=table) for zone in zones for table in tables]
    asked += [bench.records.ledger(table) for table in tables]
    return [[(file, file.taken_at) for file in files] for files in asked]


def test_what_has_been_consumed_is_the_same_after_any_purge(bench: Bench) -> None:
    draw = random.Random(len(bench.namespace) + SCALE)
    zones = [ZoneName(bench.namespace, name) for name in ("orders", "returns")]
    tables = [bench.table("orders"), TableName(bench.namespace, "gold", "sums")]
    gone = 0
    for _ in range(10 * SCALE):
        paths = draw.sample(["a.csv", "b.csv", "c.csv"], draw.randint(1, 3))
        run_id = take(bench, draw.choice(tables), draw.choice(zones), *paths)
        _change(bench, draw, tables[0], paths, run_id)
        before = answers(bench, zones, tables)
        cut = draw.choice([at for files in before for _, at in files])
        gone += bench.catalog.delete_publications(before=datetime.fromtimestamp(cut, UTC))
        assert answers(bench, zones, tables) == before
    before = answers(bench, zones, tables)
    gone += bench.catalog.delete_publications(before=tomorrow())
    assert gone == 10 * SCALE
    assert answers(bench, zones, tables) == before
    renamed = TableName(bench.namespace, "silver", "orders_2")
    bench.catalog.rename(tables[0], renamed)
    assert len(bench.records.ledger(renamed)) == len(before[-2])


def _change(
    bench: Bench, draw: random.Random, table: TableName, paths: list[str], run_id: str
) -> None:
    states = tuple((path, run_id) for path in paths)
    change = FileStateChange(table, states, draw.choice(get_args(FileState)))
    bench.catalog.amend(
        table, [SetProperties({"seen": run_id})], records=ChangeRecords(file_states=(change,))
    )
    bench.records.record_moves([MovedFile(paths[0], "etag", f"_processed/{paths[0]}", "etag-2")])


def test_a_purged_publication_is_found_no_more_and_a_late_retry_publishes_nothing(
    bench: Bench,
) -> None:
    table = bench.table("orders")
    assert bench.catalog.oldest_publication() is None
    bench.write(table, [1], branch="run_1")
    start = datetime.now(UTC) - LATER
    done = publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    oldest = bench.catalog.oldest_publication()
    assert oldest
    assert start < oldest < tomorrow()
    assert bench.catalog.delete_publications(before=oldest - timedelta(seconds=1)) == 0
    assert bench.catalog.published("r1") == done
    assert bench.catalog.delete_publications(before=tomorrow()) == 1
    assert (bench.catalog.published("r1"), bench.catalog.oldest_publication()) == (None, None)
    with pytest.raises(UnknownName):
        publish(bench.catalog, [PublishRequest(table, "run_1")], run_id="r1")
    assert bench.rows(table) == [1]


def test_a_publication_that_is_only_intended_is_not_purged_with_its_files(
    rest_only_bench: RealBench,
) -> None:
    """Whoever settles it, however late, finds it and its files."""
    bench = rest_only_bench
    from lakebed.engines.database.state.publications import INTENDED, record
    from lakebed.engines.iceberg.catalog.rest_catalog import IcebergRestCatalog

    catalog, zone = bench.catalog, ZoneName(bench.namespace, "orders")
    assert isinstance(catalog, IcebergRestCatalog)
    table = TableName(bench.namespace, "silver", "orders")
    taken = (ConsumedFile(table, zone, "a.csv", "etag", 12, "r1"),)
    publication, database = Publication("r1", ()), catalog._database
    with database.writing() as connection:
        records = PublicationRecords(consumed=taken)
        record(connection, database, publication, state=INTENDED, records=records)
    assert catalog.delete_publications(before=tomorrow()) == 0
    assert bench.records.consumed(zone) == ()
    assert catalog.unsettled() == (publication,)
    catalog.settle(publication, complete=(), undo=(), whole=True)
    assert bench.records.consumed(zone) == taken
