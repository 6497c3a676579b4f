"""What Lakebed promises of a run, each on real Spark and Iceberg."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from lakebed.errors import BadQuery, CatalogUnreachable
from lakebed.ports import MAIN, RunRecord
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.tables import create_statement, snapshots_of

pytestmark = pytest.mark.spark

POSITIVE = {"positive": "SELECT id, amount FROM {{ this }} WHERE amount <= 0"}
ORDERS = "SELECT id, amount FROM {{ landing_zone('orders') }}"
APPEND = "merge_strategy: append_only"
UPSERT = "merge_strategy: incremental\nunique_key: id"


def csv(*rows: tuple[Any, ...], header: str = "id,amount") -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def ids(shop: TestLake, name: str) -> list[int]:
    return sorted(row["id"] for row in shop.rows(name))


def query(values: str, columns: str = "id, amount") -> str:
    return f"SELECT * FROM VALUES {values} AS t({columns})"


def test_a_good_first_batch_passes_and_a_bad_second_one_is_blocked_and_readers_see_no_change(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND, gates=POSITIVE)
    shop.land("orders", "1.csv", csv((1, 10), (2, 20)))
    shop.run_one("bronze.orders")
    before = shop.lake.tables.describe(shop.table("bronze.orders")).head(MAIN)

    shop.land("orders", "2.csv", csv((3, 30), (4, -1)))
    record = shop.run("bronze.orders")["bronze.orders"]
    assert record.state == "failed"
    assert record.error["kind"] == "GateFailed"
    (verdict,) = record.verdicts
    assert (verdict.bad_rows, verdict.sample) == (1, ({"id": 4, "amount": -1},))
    assert shop.lake.tables.describe(shop.table("bronze.orders")).head(MAIN) == before
    assert ids(shop, "bronze.orders") == [1, 2]

    shop.land("orders", "2.csv", csv((3, 30), (4, 40)))
    shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == [1, 2, 3, 4]


def test_a_gate_that_only_warns_lets_the_batch_through_and_says_so(shop: TestLake) -> None:
    shop.pipeline(
        "silver.a",
        query("(1, -1)"),
        gates={"positive": "-- @severity: warn\n" + POSITIVE["positive"]},
    )
    record = shop.run_one("silver.a")
    assert [verdict.passed for verdict in record.verdicts] == [False]
    assert ids(shop, "silver.a") == [1]


def test_a_gate_reads_the_same_inputs_as_the_run(shop: TestLake) -> None:
    shop.pipeline("bronze.a", query("(1, 1)"))
    shop.pipeline(
        "silver.b",
        "SELECT * FROM {{ ref('bronze.a') }}",
        gates={
            "complete": (
                "SELECT * FROM {{ ref('bronze.a') }} a LEFT ANTI JOIN {{ this }} t ON a.id = t.id"
            )
        },
    )
    assert {record.state for record in shop.run().values()} == {"success"}


def test_the_first_incremental_run_loads_everything_and_the_next_only_what_is_newer(
    shop: TestLake,
) -> None:
    rows = "(1, DATE'2026-01-01'), (2, DATE'2026-01-02')"
    seed = (
        "-- @merge_strategy: incremental\n-- @unique_key: id\n-- @watermark_column: day\nSELECT *"
        " FROM {{ ref('bronze.a') }} {% if is_incremental() %}WHERE day > '{{ watermark_value }}'{%"
        " endif %}"
    )
    shop.pipeline("bronze.a", query(rows, "id, day"))
    shop.pipeline("silver.b", seed)
    shop.run()
    assert ids(shop, "silver.b") == [1, 2]
    shop.pipeline("bronze.a", query(f"{rows}, (3, DATE'2026-01-03')", "id, day"))
    record = shop.run()["silver.b"]
    assert record.rows["result"] == 1
    assert ids(shop, "silver.b") == [1, 2, 3]


def test_a_typed_watermark_and_a_lookback_read_a_window_again(shop: TestLake) -> None:
    rows = "(1, TIMESTAMP'2026-01-01 12:00:00'), (2, TIMESTAMP'2026-01-03 12:00:00')"
    source = (
        "SELECT * FROM {{ ref('bronze.a') }} {% if is_incremental() %}WHERE at >= {{ watermark }}{%"
        " endif %}"
    )
    shop.pipeline("bronze.a", query(rows, "id, at"))
    shop.pipeline("silver.b", source, f"{UPSERT}\nwatermark_column: at\nlookback: 2 days")
    shop.run()
    assert shop.run_one("silver.b").rows["result"] == 2
    shop.pipeline("silver.b", source, f"{UPSERT}\nwatermark_column: at\nlookback: 1 hour")
    assert shop.run_one("silver.b").rows["result"] == 1


def test_a_misspelt_strategy_is_refused_and_the_rows_stay(shop: TestLake) -> None:
    from lakebed.errors import BadPipeline

    shop.pipeline("silver.a", query("(1, 1)"), UPSERT)
    shop.run_one("silver.a")
    shop.pipeline("silver.a", "-- @merge_strategy: incrementl\n" + query("(2, 2)"), UPSERT)
    with pytest.raises(BadPipeline, match="incremental"):
        shop.run("silver.a")
    assert ids(shop, "silver.a") == [1]


@pytest.mark.parametrize("key", ["unique_key: nope", "unique_key: id\nwatermark_column: nope"])
def test_a_key_the_result_does_not_have_is_refused_and_the_rows_stay(
    shop: TestLake, key: str
) -> None:
    shop.pipeline("silver.a", query("(1, 1)"), UPSERT)
    shop.run_one("silver.a")
    shop.pipeline("silver.a", query("(2, 2)"), f"merge_strategy: incremental\n{key}")
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error["kind"]) == ("failed", "BadPipeline")
    assert ids(shop, "silver.a") == [1]
    assert shop.hidden() == []


def test_repeated_keys_without_an_order_are_refused_naming_some(shop: TestLake) -> None:
    shop.pipeline("silver.a", query("(1, 1), (7, 1), (7, 2), (NULL, 3)"), UPSERT)
    record = shop.run("silver.a")["silver.a"]
    assert record.state == "failed"
    assert '{"id":7}' in record.error["what"]
    assert "NULL" in record.error["what"]
    assert shop.lake.stores.catalog.pointers() == {}


def test_an_unchanged_scd2_rerun_adds_no_rows_and_no_files(shop: TestLake) -> None:
    shop.pipeline("silver.a", query("(1, 1), (2, NULL)"), "merge_strategy: scd2\nunique_key: id")
    shop.run_one("silver.a")
    rows, files, snapshots = shop.rows("silver.a"), shop.files(), shop.snapshots("silver.a")
    record = shop.run_one("silver.a")
    assert (record.message, record.snapshot) == ("nothing changed", None)
    assert shop.rows("silver.a") == rows
    assert shop.snapshots("silver.a") == snapshots
    assert {file for file in shop.files() - files if "/data/" in file} == set()


def test_a_file_dropped_in_mid_run_is_kept_for_the_next_run(shop: TestLake) -> None:
    shop.pipeline("bronze.orders", ORDERS, f"{APPEND}\narchive_landing_zones: true")
    shop.land("orders", "1.csv", csv((1, 10)))

    def drop_another(run_id: str, step: object, when: str) -> None:
        if type(step).__name__ == "Write" and when == "before":
            shop.land("orders", "2.csv", csv((2, 20)))

    from lakebed.pipelines import RunListener

    shop.lake.run(listener=RunListener(on_step=drop_another))
    assert ids(shop, "bronze.orders") == [1]
    assert (shop.folder / "shop/landing/orders/2.csv").exists()
    shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == [1, 2]


def test_archived_files_are_not_read_again_until_a_full_refresh(shop: TestLake) -> None:
    shop.pipeline("bronze.orders", ORDERS, f"{APPEND}\narchive_landing_zones: true")
    shop.land("orders", "1.csv", csv((1, 10)))
    first = shop.run_one("bronze.orders")
    assert (shop.folder / f"shop/landing/orders/_processed/{first.run_id}/1.csv").exists()
    second = shop.run_one("bronze.orders")
    assert second.message == "no file is waiting in shop.orders"
    shop.land("orders", "2.csv", csv((2, 20)))
    shop.run_one("bronze.orders")
    shop.land("orders", "quiet.csv", "")
    quiet = shop.run_one("bronze.orders")
    assert (shop.folder / f"shop/landing/orders/_processed/{quiet.run_id}/quiet.csv").exists()
    assert ids(shop, "bronze.orders") == [1, 2]
    shop.run_one("bronze.orders", full_refresh=True)
    assert ids(shop, "bronze.orders") == [1, 2]


def test_a_first_file_that_cannot_be_read_is_told_with_the_way_back_and_read_once_it_can_be(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.names", "SELECT * FROM {{ landing_zone('names') }}", APPEND)
    path = shop.folder / "shop/landing/names/1.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes("id, name\n1,Müller\n".encode("latin-1"))
    record = shop.run("bronze.names")["bronze.names"]
    error = record.error
    assert (
        error["what"] == "no file could be read, so that nothing says which columns the zone has."
    )
    assert f"The files are in shop/landing/names/_quarantine/{record.run_id}" in error["safe"]
    assert error["next"].endswith("lakebed zone retry shop.names")
    (aside,) = record.set_aside
    assert "as latin-1 it reads '1,Müller'" in aside.reason
    assert "set encoding: latin-1 in zone.yaml" in aside.reason
    assert "1 set aside earlier" in shop.run("bronze.names")["bronze.names"].message

    shop.land("names", "zone.yaml", "encoding: latin-1\nsettle_seconds: 0\n")
    assert [file.path for file in shop.lake.zones.retry("names")] == ["shop/landing/names/1.csv"]
    shop.run_one("bronze.names")
    assert shop.rows("bronze.names") == [{"id": 1, "name": "Müller"}]


def test_a_file_that_stays_in_its_zone_is_read_once(shop: TestLake) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.csv", csv((1, 10)))
    shop.run_one("bronze.orders")
    assert shop.run_one("bronze.orders").message == "no file is waiting in shop.orders"
    shop.land("orders", "zone.yaml", "replaced: append\n")
    shop.land("orders", "1.csv", csv((5, 50)))
    shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == [1, 5]


def test_two_pipelines_read_one_zone_and_it_is_archived_when_both_have_it(shop: TestLake) -> None:
    for name in ("bronze.a", "bronze.b"):
        shop.pipeline(name, ORDERS, f"{APPEND}\narchive_landing_zones: true")
    file = shop.land("orders", "1.csv", csv((1, 10)))
    shop.run_one("bronze.a")
    assert file.exists()
    shop.run_one("bronze.b")
    assert not file.exists()
    assert ids(shop, "bronze.a") == ids(shop, "bronze.b") == [1]


def test_a_zone_without_a_waiting_file_has_its_columns_and_no_row_for_a_pipeline_that_reads_tables_too(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.more", query("(9, 9)"))
    both = f"{ORDERS} UNION ALL SELECT id, amount FROM {{{{ ref('bronze.more') }}}}"
    shop.pipeline("silver.both", both, f"{APPEND}\narchive_landing_zones: true")
    shop.run_one("bronze.more")
    (shop.folder / "shop/landing/orders").mkdir(parents=True)
    assert shop.run("silver.both")["silver.both"].error["kind"] == "BadFiles"
    shop.land("orders", "1.csv", csv((1, 10)))
    shop.run_one("silver.both")
    shop.run_one("silver.both")
    assert ids(shop, "silver.both") == [1, 9, 9]


def test_a_file_that_a_failed_run_set_aside_is_told_of_also_after_another_attempt(
    shop: TestLake,
) -> None:
    config = f"{APPEND}\nmax_retries: 1\nretry_delay_seconds: 0"
    shop.pipeline(
        "bronze.orders",
        "SELECT id, CAST(raise_error('no') AS INT) AS x FROM {{ landing_zone('orders') }}",
        config,
    )
    shop.land("orders", "1.csv", csv((1, 10)))
    shop.land("orders", "torn.json", '{"id": 4, "amo')
    record = shop.run("bronze.orders")["bronze.orders"]
    assert (record.state, record.attempt, [file.path for file in record.set_aside]) == (
        "failed",
        2,
        ["shop/landing/orders/torn.json"],
    )
    known = shop.lake.stores.records.run(record.run_id)
    assert known is not None
    assert known.set_aside == record.set_aside


def test_a_published_run_whose_files_cannot_be_archived_has_not_failed_and_is_not_tried_again(
    shop: TestLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.pipeline(
        "bronze.orders",
        ORDERS,
        f"{APPEND}\narchive_landing_zones: true\nmax_retries: 2\nretry_delay_seconds: 0",
    )
    shop.land("orders", "1.csv", csv((1, 10)))

    def unreachable(*_: Any) -> None:
        raise CatalogUnreachable("here", "no answer")

    with monkeypatch.context() as broken:
        broken.setattr("lakebed.pipelines.running.run.archive_zones", unreachable)
        record = shop.run_one("bronze.orders")
    assert (record.attempt, "not archived" in record.message) == (1, True)
    shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == [1]
    assert not (shop.folder / "shop/landing/orders/1.csv").exists()


class _Losing:
    """A catalog whose answer to a publication is lost, once or always."""

    def __init__(self, catalog: Any, times: int) -> None:
        self._catalog, self.left = catalog, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def commit(self, *given: Any, **options: Any) -> None:
        self._catalog.commit(*given, **options)
        if self.left > 0:
            self.left -= 1
            raise CatalogUnreachable("here", "the answer was lost")


@pytest.mark.parametrize("lost", [1, 100])
def test_an_append_whose_acknowledgement_was_lost_is_committed_once(
    shop: TestLake, lost: int
) -> None:
    shop.pipeline(
        "bronze.orders", query("(1, 1)"), f"{APPEND}\nmax_retries: 3\nretry_delay_seconds: 0"
    )
    shop.run_one("bronze.orders")
    stores = shop.lake.stores
    with shop.over(replace(stores, catalog=_Losing(stores.catalog, lost))):
        shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == [1, 1]
    assert shop.snapshots("bronze.orders") == 2
    assert (
        len(shop.lake.stores.records.runs(table=shop.table("bronze.orders"), state="success")) == 2
    )


def test_a_retried_append_commits_once(shop: TestLake, tmp_path: Any) -> None:
    code = f"""
from pathlib import Path
def run(spark, context):
    tries = Path({str(tmp_path / "tries")!r})
    tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
    if len(tries.read_text()) < 3:
        raise ValueError("not yet")
    return spark.range(2)
"""
    shop.pipeline("bronze.a", code, f"{APPEND}\nmax_retries: 2\nretry_delay_seconds: 0")
    record = shop.run_one("bronze.a")
    assert record.attempt == 3
    assert ids(shop, "bronze.a") == [0, 1]
    assert [run.state for run in shop.lake.stores.records.runs()] == ["success", "failed", "failed"]


SLOW = """
import time
def run(spark, context):
    time.sleep(4)
    return spark.range(3)
"""


def test_of_two_runs_at_once_one_works_and_the_other_is_told_and_age_alone_kills_nobody(
    tmp_path: Any, spark_home: Any
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("bronze.a", SLOW)
    _ = shop.lake.spark
    found: list[RunRecord] = []
    slow = threading.Thread(target=lambda: found.append(shop.run_one("bronze.a")))
    slow.start()
    time.sleep(2.5)  # by now the lease would have run out, were it not for the heartbeat
    told = shop.run("bronze.a")["bronze.a"]
    slow.join()
    assert (told.state, told.error["kind"]) == ("failed", "LeaseHeld")
    assert found[0].run_id[:12] in told.error["what"]
    assert found[0].state == "success"
    assert ids(shop, "bronze.a") == [0, 1, 2]
    shop.lake.close()


def test_a_new_column_arrives_under_append_and_is_refused_before_writing_under_fail(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", query("(1, 1)"), f"{UPSERT}\non_schema_change: fail")
    shop.run_one("silver.a")
    files = shop.files()
    shop.pipeline(
        "silver.a", query("(2, 2, 'x')", "id, amount, note"), f"{UPSERT}\non_schema_change: fail"
    )
    refused = shop.run("silver.a")["silver.a"]
    assert (refused.state, refused.error["kind"]) == ("failed", "BadBatch")
    assert "new: note string" in refused.error["what"]
    assert {
        file for file in shop.files() - files if "/silver/a/" in file and "warehouse" in file
    } == set()
    shop.pipeline(
        "silver.a", query("(2, 2, 'x')", "id, amount, note"), f"{UPSERT}\non_schema_change: append"
    )
    shop.run_one("silver.a")
    assert shop.rows("silver.a") == [
        {"id": 1, "amount": 1, "note": None},
        {"id": 2, "amount": 2, "note": "x"},
    ]


def test_a_full_refresh_follows_its_query_when_columns_come_go_and_change_places(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", query("(1, 1, 'x')", "id, gone, kept"))
    shop.run_one("silver.a")
    shop.pipeline(
        "silver.a",
        query("('y', 2, 9L)", "kept, id, fresh"),
        gates={"any": "SELECT 1 FROM {{ this }} WHERE kept <> 'y'"},
    )
    shop.run_one("silver.a")
    assert [
        column.name for column in shop.lake.tables.describe(shop.table("silver.a")).columns
    ] == ["kept", "id", "fresh"]
    assert shop.rows("silver.a") == [{"kept": "y", "id": 2, "fresh": 9}]


def test_a_failed_run_with_new_columns_leaves_the_old_schema(shop: TestLake) -> None:
    shop.pipeline("silver.a", query("(1, 1)"), gates=POSITIVE)
    shop.run_one("silver.a")
    before = shop.lake.tables.describe(shop.table("silver.a"))
    shop.pipeline("silver.a", query("(2, -2, 'x')", "id, amount, note"), gates=POSITIVE)
    assert shop.run("silver.a")["silver.a"].state == "failed"
    after = shop.lake.tables.describe(shop.table("silver.a"))
    assert (after.columns, after.schema, after.head()) == (
        before.columns,
        before.schema,
        before.head(),
    )


def test_a_first_runs_table_is_seen_by_nobody_before_its_gates_pass_and_leaves_nothing_when_it_fails(
    shop: TestLake,
) -> None:
    seen: list[set[str]] = []

    def look(run_id: str, step: object, when: str) -> None:
        from lakebed.tables.lookup.names import tables_matching

        pointers = shop.lake.stores.catalog.pointers()
        seen.append({str(table) for table in tables_matching(None, pointers)})

    from lakebed.pipelines import RunListener

    shop.pipeline("silver.a", query("(1, -1)"), UPSERT, gates=POSITIVE)
    files = shop.files()
    shop.lake.run(listener=RunListener(on_step=look))
    assert set().union(*seen) == set()
    assert shop.lake.stores.catalog.pointers() == {}
    assert shop.files() == files

    shop.pipeline("silver.a", query("(1, 1)"), UPSERT, gates=POSITIVE)
    shop.lake.run(listener=RunListener(on_step=look))
    assert ids(shop, "silver.a") == [1]


def test_a_first_run_loses_to_a_table_that_somebody_made_meanwhile_and_begins_anew(
    shop: TestLake,
) -> None:
    from lakebed.pipelines import RunListener

    shop.pipeline("silver.a", query("(1, 1)"), APPEND)
    made: list[Any] = []

    def intrude(run_id: str, step: object, when: str) -> None:
        if type(step).__name__ == "Publish" and when == "before" and not made:
            made.append(
                shop.lake.spark.sql(
                    create_statement(shop.lake, shop.table("silver.a"), "id INT, amount INT")
                )
            )
            shop.lake.spark.sql(f"INSERT INTO {shop.table('silver.a').spark} VALUES (9, 9)")

    result = shop.lake.run(listener=RunListener(on_step=intrude))
    assert result.ok
    assert ids(shop, "silver.a") == [1, 9]
    assert shop.hidden() == []


def test_a_commit_that_came_in_between_is_kept_and_the_run_begins_anew(shop: TestLake) -> None:
    from lakebed.pipelines import RunListener

    shop.pipeline("silver.a", query("(1, 1)"), APPEND)
    shop.run_one("silver.a")
    done: list[Any] = []

    def intrude(run_id: str, step: object, when: str) -> None:
        if type(step).__name__ == "Publish" and when == "before" and not done:
            done.append(
                shop.lake.spark.sql(f"INSERT INTO {shop.table('silver.a').spark} VALUES (9, 9)")
            )

    assert shop.lake.run(listener=RunListener(on_step=intrude)).ok
    assert ids(shop, "silver.a") == [1, 1, 9]


def test_an_empty_full_refresh_empties_the_table_unless_it_is_told_otherwise(
    shop: TestLake,
) -> None:
    shop.pipeline("silver.a", query("(1, 1)"))
    shop.run_one("silver.a")
    shop.pipeline("silver.a", query("(1, 1)") + " WHERE id > 1", "on_empty: fail")
    assert shop.run("silver.a")["silver.a"].state == "failed"
    shop.pipeline("silver.a", query("(1, 1)") + " WHERE id > 1", "on_empty: skip")
    shop.run_one("silver.a")
    assert ids(shop, "silver.a") == [1]
    shop.pipeline("silver.a", query("(1, 1)") + " WHERE id > 1", "on_empty: write")
    shop.run_one("silver.a")
    assert shop.rows("silver.a") == []


def test_an_empty_soft_delete_batch_is_refused_by_default(shop: TestLake) -> None:
    config = "merge_strategy: soft_delete\nunique_key: id"
    shop.pipeline("silver.a", query("(1, 1)"), config)
    shop.run_one("silver.a")
    shop.pipeline("silver.a", query("(1, 1)") + " WHERE id > 1", config)
    assert "no row" in shop.run("silver.a")["silver.a"].error["what"]
    shop.pipeline("silver.a", query("(1, 1)") + " WHERE id > 1", f"{config}\non_empty: write")
    shop.run_one("silver.a")
    assert [row["_deleted_at"] is not None for row in shop.rows("silver.a")] == [True]


def test_every_successful_run_has_one_record_and_one_snapshot_that_names_it(shop: TestLake) -> None:
    shop.pipeline("silver.a", query("(1, 1)"), UPSERT)
    first = shop.run_one("silver.a")
    shop.pipeline("silver.a", query("(1, 2), (2, 2)"), UPSERT)
    second = shop.run_one("silver.a")
    history = snapshots_of(shop.lake, shop.table("silver.a"))
    assert [snapshot.run_id for snapshot in history] == [second.run_id, first.run_id]
    assert [snapshot.id for snapshot in history] == [second.snapshot, first.snapshot]
    assert second.rows["inserted"] == second.rows["updated"] == 1
    assert shop.refs("silver.a") == {"main"}


def test_a_failed_pipeline_skips_what_reads_it_and_nothing_else(shop: TestLake) -> None:
    shop.pipeline("bronze.bad", "SELECT raise_error('no') AS id")
    shop.pipeline("silver.after", "SELECT * FROM {{ ref('bronze.bad') }}")
    shop.pipeline("gold.later", "SELECT * FROM {{ ref('silver.after') }}")
    shop.pipeline("bronze.good", query("(1, 1)"))
    states = {name: record.state for name, record in shop.run(threads=2).items()}
    assert states == {
        "bronze.bad": "failed",
        "silver.after": "skipped",
        "gold.later": "skipped",
        "bronze.good": "success",
    }


def test_a_view_is_made_judged_and_read_through_by_others_with_the_same_pins(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.a", query("(1, 1), (2, 2)"))
    shop.pipeline(
        "silver.v",
        "SELECT id FROM {{ ref('bronze.a') }} WHERE id > 1",
        "materialized: view",
        gates={"g": "SELECT * FROM {{ this }} WHERE id > 5"},
    )
    shop.pipeline("gold.c", "SELECT count(*) AS n FROM {{ ref('silver.v') }} v")
    assert {record.state for record in shop.run().values()} == {"success"}
    assert shop.rows("gold.c") == [{"n": 1}]
    assert [
        row.id for row in shop.lake.spark.sql("SELECT * FROM lake.shop.silver.v").collect()
    ] == [2]
    asked = "SELECT v.id, a.id FROM silver.v JOIN bronze.a ON a.id <= v.id ORDER BY 2"
    assert shop.lake.query(asked, engine="spark").fetchall() == [(2, 1), (2, 2)]
    assert shop.lake.query(asked).fetchall() == [(2, 1), (2, 2)]
    assert [one.reason for one in shop.lake.explain(asked)] == [
        "VIEW_BY_DUCKDB",
        "PRUNED",
        "NO_CONDITION",
    ]
    with pytest.raises(BadQuery, match="it has no snapshots"):
        shop.lake.query("SELECT * FROM v", engine="spark", at="2026-01-01")
    shop.pipeline(
        "silver.v", "SELECT id + 10 AS id FROM {{ ref('bronze.a') }}", "materialized: view"
    )
    assert shop.run("silver.v")["silver.v"].error["kind"] == "GateFailed"


def test_a_new_table_is_partitioned_sorted_and_described_as_its_pipeline_says(
    shop: TestLake,
) -> None:
    config = """partition_by: [day(at), {column: id, transform: bucket, width: 4}]
sort_by: [id]
columns:
  id: {type: bigint, description: "the order's number"}
  at: {type: timestamp}
"""
    shop.pipeline(
        "silver.a", "SELECT id, TIMESTAMP'2026-01-01 00:00:00' AS at FROM range(3)", config
    )
    shop.run_one("silver.a")
    made = shop.lake.tables.describe(shop.table("silver.a"))
    assert made.partition_by == ("day(at)", "bucket(4, id)")
    assert made.sort_by == ("id asc",)
    assert [column.doc for column in made.columns] == ["the order's number", ""]
    shop.pipeline(
        "silver.a",
        "SELECT CAST(id AS STRING) AS id, TIMESTAMP'2026-01-01 00:00:00' AS at FROM range(3)",
        config,
    )
    refused = shop.run("silver.a")["silver.a"]
    assert (refused.error["kind"], "CAST(id AS bigint)" in refused.error["next"]) == (
        "BadBatch",
        True,
    )
