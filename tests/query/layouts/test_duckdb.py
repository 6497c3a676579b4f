"""Queries in DuckDB's SQL over real tables: with layouts they give what they give without."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lakebed
from lakebed.cli.main import app
from lakebed.derived.look import LayoutLooks
from lakebed.engines.duckdb import DuckEngine
from lakebed.errors import UnknownName
from lakebed.names import TableName
from lakebed.requests import QueryRequest
from tests.query.layouts.region_lake import REGION, RegionLake, make_region_lake, rows_of
from tests.support.views import add_view

POINT = "SELECT * FROM region WHERE state = 'DE'"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegionLake]:
    made = make_region_lake(tmp_path_factory.mktemp("layouts") / "lake", commits=1, rows=400)
    made.add_layout("by_state", partition_by=["state"], sort_by=["geo"], batch_by=["year"]).build()
    yield made
    made.lake.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RegionLake]:
    """A lake that a test may change."""
    made = make_region_lake(tmp_path / "lake", commits=2, rows=60)
    made.add_layout("by_state", partition_by=["state"], batch_by=["year"]).build()
    yield made
    made.lake.close()


def test_a_layout_that_skips_files_is_read_instead_of_the_table(shared: RegionLake) -> None:
    found = shared.explain(POINT)
    (verdict,) = found.layouts
    assert (found.layout, verdict.verdict, verdict.reason) == ("by_state", "chosen", "CHOSEN")
    assert found.reason == "LAYOUT"
    assert found.files == verdict.files < found.total_files
    assert 0 < verdict.needed_bytes <= verdict.bytes
    assert verdict.cost < 0.8 * found.source_cost
    assert (verdict.fresh_batches, verdict.stale_batches) == (4, 0)
    assert len(shared.check(POINT)) > 10


@pytest.mark.parametrize(
    "sql",
    [
        POINT,
        "SELECT region.\"Line Code\", silver.region.geo, count(*) FROM region WHERE state = '' GROUP BY ALL",
        "SELECT econ.silver.region.amount FROM econ.silver.region WHERE state = 'é'",
        "SELECT region FROM region WHERE state = 'a/b'",
        "SELECT COLUMNS('s.*') FROM region WHERE state = 'it''s'",
        "DESCRIBE SELECT * FROM region WHERE state = 'DE'",
        "SELECT * FROM region a JOIN region b USING (geo) WHERE a.state = 'DE' AND b.state = 'DE'",
        "SELECT a.geo, b.note FROM region a LEFT JOIN region b ON a.note = b.note AND b.state = 'DE'",
        "SELECT count(*) FROM region WHERE state IS NULL AND year IS NULL",
        "SELECT share, count(*) FROM region WHERE state = 'DE' AND share > 1 GROUP BY 1",
        "SELECT geo FROM region WHERE state = 'DE' UNION SELECT geo FROM region WHERE state = 'é'",
        "WITH q AS (FROM region WHERE state = 'DE') SELECT max(q.amount) FROM q, q AS r",
        "SELECT rank() OVER (ORDER BY amount) FROM region WHERE state = 'DE'",
        "SELECT sum(amount) FROM region WHERE state = 'nowhere'",
    ],
)  # fmt: skip
def test_answers_and_types_are_those_of_the_table(shared: RegionLake, sql: str) -> None:
    shared.check(sql)
    assert any(one.layout for one in shared.lake.explain(sql.removeprefix("DESCRIBE ")))


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"{POINT} LIMIT 5", "ORDER_SENSITIVE"),
        ("SELECT first(geo) FROM region WHERE state = 'DE'", "ORDER_SENSITIVE"),
        ("SELECT random() FROM region WHERE state = 'DE'", "ORDER_SENSITIVE"),
        (f"/*+ no_layouts */ {POINT}", "HINT_OFF"),
        ("SELECT * FROM region WHERE year = 2019", "COST_HIGHER"),
        ("SELECT * FROM region", "NO_PRUNING_GAIN"),
        ("SELECT * FROM region WHERE state > ''", "COST_HIGHER"),
    ],
)  # fmt: skip
def test_queries_that_read_the_table_itself_say_why(
    shared: RegionLake, sql: str, reason: str
) -> None:
    assert shared.explain(sql).layout == ""
    assert shared.verdict(sql).reason == reason


def test_other_points_in_time_read_the_table_itself(shared: RegionLake) -> None:
    at = shared.table.metadata.current_snapshot_id
    past = shared.table.metadata.snapshots[0].snapshot_id
    for sql, given in (
        (POINT, {"at": at}),
        (POINT, {"at": past}),
        (f"SELECT * FROM region AT (VERSION => {past}) WHERE state = 'DE'", {}),
    ):
        assert shared.verdict(sql, **given).reason == "TIME_TRAVEL"
        shared.check(sql, **given)
    assert shared.explain("SELECT * FROM region$files").layouts == ()


def test_a_limit_of_the_caller_is_a_limit(shared: RegionLake) -> None:
    plan = shared.lake.queries.plan(QueryRequest(POINT, limit=3))
    assert plan.tables[0].layout is None


def test_relaxed_settings_let_queries_read_other_rows(tmp_path: Path) -> None:
    made = make_region_lake(tmp_path / "lake", layouts={"order": "relaxed"})
    made.add_layout("by_state", partition_by=["state"], batch_by=["year"]).build()
    assert made.verdict(f"{POINT} LIMIT 5").reason == "CHOSEN"
    made.lake.close()


def test_settings_can_switch_layouts_off(tmp_path: Path) -> None:
    made = make_region_lake(tmp_path / "lake", commits=1, layouts={"use": False})
    made.add_layout("by_state", partition_by=["state"], batch_by=["year"]).build()
    assert made.explain(POINT).layouts == ()
    assert made.lake.table("region", where="state = 'DE'").count() == len(made.check(POINT))
    made.lake.close()


def test_a_layout_can_be_asked_for(shared: RegionLake) -> None:
    sql = "/*+ use_layout(by_state) */ SELECT * FROM region WHERE year = 2019"
    assert shared.verdict(sql).reason == "CHOSEN"
    shared.check(sql)
    other = "/*+ use_layout(by_stat) */ SELECT * FROM region"
    for ask in (shared.lake.explain, shared.lake.query):
        with pytest.raises(UnknownName, match="by_stat") as raised:
            ask(other)
        assert raised.value.next == "Did you mean by_state?"
    shared.check(f"/*+ no_layouts */ {other}")


def test_stale_batches_are_read_from_the_table(own: RegionLake) -> None:
    own.append(7, 30, years=(2020,))
    found = own.explain(POINT)
    (verdict,) = found.layouts
    assert verdict.reason == "HYBRID"
    assert (verdict.fresh_batches, verdict.stale_batches) == (3, 1)
    assert 0 < verdict.source_files < verdict.files == found.files
    own.check(POINT)
    assert own.verdict(f"{POINT} AND year = 2019").reason == "CHOSEN"
    assert own.verdict(f"{POINT} AND year = 2020").reason == "STALE"
    own.layouts["by_state"].build("year=2020")
    assert own.verdict(POINT).reason == "CHOSEN"
    own.check(POINT)


def test_deleted_rows_are_in_no_answer(own: RegionLake) -> None:
    own.table.delete("state = 'DE' and year = 2021")
    assert own.verdict(POINT).stale_batches == 1
    assert "2021" not in str(own.check("SELECT DISTINCT year FROM region WHERE state = 'DE'"))
    own.table.delete("year is null")
    assert own.check("SELECT count(*) FROM region WHERE year IS NULL AND state = 'DE'") == ["(0,)"]
    own.table.delete("state = 'DE'")
    assert own.check(POINT) == []


def test_a_batch_that_is_new_is_read_from_the_table(own: RegionLake) -> None:
    own.append(8, 30, years=(2022,))
    verdict = own.verdict(POINT)
    assert (verdict.reason, verdict.stale_batches) == ("HYBRID", 0)
    assert "2022" in str(own.check("SELECT DISTINCT year FROM region WHERE state = 'DE'"))


def test_a_rollback_makes_what_was_built_since_stale(own: RegionLake) -> None:
    before = own.table.metadata.current_snapshot_id
    own.append(9, 30, years=(2019,))
    own.layouts["by_state"].build()
    own.check(POINT)
    own.lake.tables.rollback(REGION, to=str(before))
    assert own.verdict(POINT).reason == "STALE"
    own.check(POINT)


def test_a_layout_that_somebody_else_wrote_into_is_not_read(own: RegionLake) -> None:
    own.layouts["by_state"].iceberg.delete("year = 2019")
    assert own.verdict(POINT).reason == "TAINTED"
    own.check(POINT)


def test_a_table_whose_columns_have_changed_is_read_itself(own: RegionLake) -> None:
    from pyiceberg.types import LongType

    with own.table.update_schema() as update:
        update.add_column("more", LongType())
    assert own.verdict(POINT).reason == "SCHEMA_DRIFT"
    own.check(POINT)
    with own.table.update_schema() as update:
        update.delete_column("more").rename_column("year", "anno")
    assert own.verdict(POINT).reason == "SCHEMA_DRIFT"
    own.check(POINT)


def test_a_layout_that_is_not_built_or_cannot_be_read_is_none(own: RegionLake) -> None:
    own.add_layout("later", partition_by=["geo"], batch_by=["year"])
    assert own.verdict(POINT, "later").reason == "NOT_BUILT"
    (pointer,) = own.bench.catalog.pointers([own.layouts["by_state"].table]).values()
    rows = own.check(POINT)
    Path(pointer.location.removeprefix("file://")).unlink()
    with lakebed.open(own.lake.root.folder, environment={}) as again:
        assert again.explain(POINT)[0].layouts == ()
        assert rows_of(again.query(POINT).to_arrow()) == rows


def test_a_clone_has_no_layouts(own: RegionLake) -> None:
    own.lake.tables.clone(REGION, "econ.silver.twin")
    found = own.explain("SELECT * FROM twin WHERE state = 'DE'")
    assert (found.layout, found.layouts) == ("", ())


def test_a_table_with_mixed_files_is_replaced_as_a_whole_or_not_at_all(own: RegionLake) -> None:
    whole = own.add_layout("by_line", partition_by=["Line Code"], batch_by=["state"])
    whole.build()
    sql = "/*+ use_layout(by_line) */ SELECT * FROM region WHERE \"Line Code\" = '10'"
    assert own.verdict(sql, "by_line").reason == "CHOSEN"
    own.check(sql)
    own.append(10, 30)
    assert own.verdict(sql, "by_line").reason == "STALE"
    whole.build(covers=False)
    assert own.verdict(sql, "by_line").reason == "MIXED_FILES"
    own.check(sql)


def test_a_layout_without_batches_is_one_batch(own: RegionLake) -> None:
    own.add_layout("by_geo", partition_by=["geo"]).build()
    sql = "SELECT * FROM region WHERE geo = 'DE3'"
    assert own.verdict(sql, "by_geo").reason == "CHOSEN"
    own.check(sql)
    own.append(11, 5)
    assert own.verdict(sql, "by_geo").reason == "STALE"


def test_untrusted_queries_read_layouts(own: RegionLake) -> None:
    own.append(12, 30, years=(2020,))
    found = own.lake.query(POINT, untrusted=True)
    assert found.explain()[0].layouts[0].reason == "HYBRID"
    trusted = own.check(POINT)
    assert rows_of(found.to_arrow()) == trusted


def test_a_view_reads_layouts_unless_the_query_around_it_depends_on_order(own: RegionLake) -> None:
    german = TableName("econ", "silver", "german")
    rows = "SELECT geo, amount FROM lake.econ.silver.region WHERE state = 'DE'"
    add_view(own.lake, german, rows, {"geo": "string", "amount": "decimal(12, 2)"})
    sql = "SELECT geo, count(*), sum(amount) FROM german GROUP BY geo"
    (_, inner) = own.lake.explain(sql)
    assert (inner.table, inner.layout) == ("econ.silver.region", "by_state")
    assert len(own.check(sql)) > 2
    for given in (f"{sql} LIMIT 1", f"/*+ no_layouts */ {sql}"):
        assert own.lake.explain(given)[1].layout == ""


def test_the_log_says_which_layout_was_read(own: RegionLake) -> None:
    own.check(f"{POINT} AND 'logged' = 'logged'")
    found = own.lake.query(
        "SELECT layouts, conditions FROM system.query_log WHERE sql LIKE '%logged%' ORDER BY ts"
    ).fetchall()
    asked = [[{"column": "state", "op": "="}]]
    assert found[:2] == [(["by_state"], asked), ([""], asked)]


def test_layouts_are_not_looked_for_if_a_table_lists_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_region_lake(tmp_path / "lake", commits=1)
    asked: list[object] = []
    monkeypatch.setattr(LayoutLooks, "look", lambda *given, **_: asked.append(given))
    made.check(POINT)
    assert made.lake.table("region", where="state = 'DE'").count()
    assert asked == []
    made.lake.close()


def test_queries_that_read_a_table_in_several_ways_share_one_duckdb(shared: RegionLake) -> None:
    states = ("DE", "é", "it''s", "a/b")
    sqls = [f"SELECT geo, note FROM region WHERE state = '{state}'" for state in states]
    open_results = [shared.lake.query(sql) for sql in sqls]
    engine = shared.lake.queries.engines.duckdb
    assert isinstance(engine, DuckEngine)
    assert sum(len(pool._open) for pool in engine._pools.values()) == 1
    assert all(result.to_arrow().num_rows for result in open_results)


def test_views_that_nobody_needs_are_removed(
    shared: RegionLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lakebed.engines.duckdb import instance_pool

    monkeypatch.setattr(instance_pool, "_UNUSED", 2)
    engine = shared.lake.queries.engines.duckdb
    assert isinstance(engine, DuckEngine)
    for _ in range(2):
        for year in (2019, 2020, 2021):
            shared.check(f"{POINT} AND year = {year}")
    names = "SELECT count(*) FROM duckdb_databases() WHERE database_name LIKE 'econ %'"
    session = engine.session()
    assert session.connection().execute(names).fetchone()[0] <= 3
    session.close()


def test_lazy_tables_read_layouts(shared: RegionLake) -> None:
    columns = ["geo", "share", "Line Code"]
    for where in ("state = 'DE'", "state = 'DE' AND share > 1"):
        on = shared.lake.table("region", columns=columns, where=where)
        off = shared.lake.table("region", columns=columns, where=where, layouts=False)
        assert on._plan(columns, guards=on._protected()).layout
        assert off._plan(columns, guards=off._protected()).layout is None
        assert rows_of(on.to_arrow()) == rows_of(off.to_arrow()) != []
        assert rows_of(on.to_duckdb().to_arrow_table()) == rows_of(off.to_arrow())
        assert rows_of(on.to_polars().to_arrow().cast(off.schema)) == rows_of(off.to_arrow())
        assert on.count() == off.count()
        assert on._plan(columns, limit=1, guards=on._protected()).layout is None


def test_a_lazy_table_keeps_its_rows_whatever_becomes_of_layouts(own: RegionLake) -> None:
    lazy = own.lake.table("region", where="state = 'DE'")
    before = rows_of(lazy.to_arrow())
    own.append(13, 60)
    own.layouts["by_state"].build()
    assert rows_of(lazy.to_arrow()) == before


def test_explain_shows_every_layout(shared: RegionLake) -> None:
    folder = str(shared.lake.root.folder)
    shown = CliRunner().invoke(app, ["explain", POINT, "--lake", folder]).stdout
    assert "of the layout by_state" in shown
    assert "CHOSEN: it is read instead of the table" in shown
    off = CliRunner().invoke(app, ["explain", POINT, "--no-layouts", "--lake", folder]).stdout
    assert "HINT_OFF" in off
    told = json.loads(
        CliRunner().invoke(app, ["explain", POINT, "--json", "--lake", folder]).stdout
    )
    assert told[0]["layout"] == "by_state"
    assert told[0]["layouts"][0]["reason"] == "CHOSEN"
    with_them, without = (
        CliRunner().invoke(app, ["query", POINT, *given, "--json", "--lake", folder]).stdout
        for given in ([], ["--no-layouts"])
    )
    assert sorted(map(str, json.loads(with_them))) == sorted(map(str, json.loads(without)))
