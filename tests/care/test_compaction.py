"""Compaction by Spark: many small files become few, every row stays, and nothing is started when
nothing is due.
"""

import pytest

from tests.support.lakes.care_lakes import CareLake, entry
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement

pytestmark = [pytest.mark.spark]

ODD = ["a b", "c/d", "e%20f", "g?h=i", "j#k", "ü", "l+m", "n=o", "p&q", "r:s"]
TIMES = 5  # the least that is worth a rewrite


def test_small_files_become_few_and_nothing_but_files_changes(shop: TestLake) -> None:
    lake, spark = shop.lake, shop.lake.spark
    name = shop.table("silver.orders")
    spark.sql(create_statement(lake, name, "id BIGINT, part STRING", partition_by=["part"]))
    spark.sql(f"ALTER TABLE {name.spark} WRITE ORDERED BY id DESC")
    values = [f"({number}L, '{part}')" for number in range(TIMES) for part in ODD]
    for number in range(TIMES):
        spark.sql(
            f"INSERT INTO {name.spark} VALUES {', '.join(values[number * len(ODD) :][: len(ODD)])}"
        )
    before, rows = lake.tables.describe(name).head(), shop.rows("silver.orders")
    assert before
    assert len(rows) == TIMES * len(ODD)
    files = {info.path for info in lake.stores.files.list("shop/warehouse")}
    due = entry(lake.care(dry_run=True), "compact_files")
    assert (due.state, due.counts) == ("reported", {"small files": TIMES * len(ODD)})
    done = entry(lake.care(only=["compact_files"]), "compact_files")
    assert (done.state, done.counts) == (
        "done",
        {"rewritten data files": TIMES * len(ODD), "added data files": len(ODD)},
    ), done
    assert done.bytes > 0
    after = lake.tables.describe(name).head()
    assert after
    assert (after.parent, after.operation) == (before.id, "replace")
    assert shop.rows("silver.orders") == rows
    (told,) = lake.stores.events.since(kinds=["compacted"])
    assert told.event.snapshot == after.id
    assert lake.care(only=["compact_files", "rewrite_manifests"]).entries == ()
    assert {info.path for info in lake.stores.files.list("shop/warehouse")} >= files
    manifests(shop, rows)
    lake.spark.sql(f"CREATE VIEW lake.shop.silver.big AS SELECT * FROM {name.spark} WHERE id > 2")
    odd_names_are_no_orphans(shop, rows)
    assert lake.spark.table("lake.shop.silver.big").count() == 2 * len(ODD) + 1
    assert list(lake.stores.catalog.views()) == [shop.table("silver.big")]


def manifests(shop: TestLake, rows: list[dict[str, object]]) -> None:
    """Many small manifests become one."""
    lake, name = shop.lake, shop.table("silver.orders")
    config = shop.folder / "shop/pipelines/silver/orders/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("care: {compact_min_manifests: 2, compact_min_files: 1000}\n")
    lake.spark.sql(f"INSERT INTO {name.spark} SELECT * FROM {name.spark} WHERE id < 0")
    lake.spark.sql(f"INSERT INTO {name.spark} VALUES (99L, 'a b')")
    done = entry(lake.care(only=["rewrite_manifests"]), "rewrite_manifests")
    assert done.state == "done", done
    assert len(shop.rows("silver.orders")) == len(rows) + 1
    assert lake.care(only=["rewrite_manifests"]).entries == ()


def odd_names_are_no_orphans(shop: TestLake, rows: list[dict[str, object]]) -> None:
    """Whatever Spark makes of partition values in paths."""
    from datetime import UTC, datetime, timedelta

    later = datetime.now(UTC) + timedelta(days=20)
    assert shop.lake.care(only=["remove_orphans"], now=later).entries == ()
    assert (
        entry(shop.lake.care(only=["expire_snapshots"], now=later), "expire_snapshots").state
        == "done"
    )
    assert shop.lake.care(only=["remove_orphans"], now=later).entries == ()
    assert len(shop.rows("silver.orders")) == len(rows) + 1


def test_no_jvm_is_started_when_nothing_is_due(
    cared: CareLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("lakebed.engines.spark.open_session", refuse)
    for number in range(3):
        cared.make(f"silver.t{number}", [1])
        cared.overwrite(f"silver.t{number}", [2])
    assert len(cared.care(days=9).entries) == 3
