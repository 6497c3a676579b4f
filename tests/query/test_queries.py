"""Queries of a lake: what names mean, moments, metadata tables, answers in every form, errors, the
log.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyiceberg.types import LongType

from lakebed.app import Lake
from lakebed.errors import BadQuery, FileMissing, UnknownName, UsageError
from lakebed.names import TableName
from lakebed.query.planning.explain import predicate_text
from lakebed.query.planning.spark_sql import plan_spark_query
from lakebed.query.results.result import QueryResult
from lakebed.requests import Engine, QueryRequest
from tests.support.benches import ids
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake
from tests.support.tables import snapshots_of

ID = pa.schema([pa.field("id", pa.int64())])


def numbers(first: int, count: int = 10) -> pa.Table:
    return ids(range(first, first + count))


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder: Path = tmp_path_factory.mktemp("queries") / "lake"
    with make_lake(folder) as lake:
        shop, other = bench_of(lake), bench_of(lake, "temp")
        add_table(shop, "orders", [numbers(0), numbers(10), numbers(20)], schema=ID)
        add_table(shop, "clean-orders", [numbers(0, 5)], schema=ID)
        add_table(shop, "twice", [numbers(0, 1)], schema=ID)
        add_table(shop, "empty", [], schema=ID)
        add_table(other, "twice", [numbers(0, 2)], schema=ID)
        add_table(other, "Select", [numbers(0, 3)], layer="main", schema=ID)
        lake.tables.tag("orders", "first", at=snapshots_of(lake, "orders")[2].id)
        shop.close()
        other.close()
        yield lake


def one(lake: Lake, sql: str, **options: object) -> object:
    """The one value of an answer."""
    ((value,),) = lake.query(sql, **options)  # type: ignore[arg-type]
    return value


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("shop.silver.orders", 30),
        ("silver.orders", 30),
        ("orders", 30),
        ("SHOP.Silver.ORDERS", 30),
        ('"shop"."silver"."orders"', 30),
        ('shop . /* ? */ silver."orders" AS o', 30),
        ('shop.silver."clean-orders"', 5),
        ("shop.silver.clean-orders", 5),
        ("clean-orders", 5),
        ("temp.silver.twice", 2),
        ("shop.silver.twice", 1),
        ("empty", 0),
        ('temp.main."Select"', 3),
        ('"Select"', 3),
    ],
)
def test_a_table_is_found_by_its_name_or_the_end_of_it(lake: Lake, name: str, rows: int) -> None:
    assert one(lake, f"SELECT count(*) FROM {name}") == rows


def test_a_name_that_fits_several_tables_is_refused_unless_a_namespace_is_given(lake: Lake) -> None:
    with pytest.raises(BadQuery, match=r"shop\.silver\.twice or temp\.silver\.twice"):
        lake.query("FROM twice")
    assert one(lake, "SELECT count(*) FROM twice", namespace="temp") == 2


def test_columns_may_be_qualified_by_the_whole_name(lake: Lake) -> None:
    sql = (
        "SELECT shop.silver.orders.id, silver.orders.id, orders.id FROM silver.orders WHERE"
        " shop.silver.orders.id = 3"
    )
    assert lake.query(sql).fetchall() == [(3, 3, 3)]


def test_a_name_of_with_hides_the_table(lake: Lake) -> None:
    assert one(lake, "WITH orders AS (SELECT 1 AS id) SELECT count(*) FROM orders") == 1
    assert (
        one(lake, "WITH orders AS (SELECT * FROM orders WHERE id < 3) SELECT count(*) FROM orders")
        == 3
    )


def test_the_rest_of_the_text_is_the_users(lake: Lake) -> None:
    sql = (
        "SELECT 'orders' AS \"from orders\", $$ orders $$, count(*) /* orders */ -- orders\nFROM"
        " orders;"
    )
    result = lake.query(sql)
    assert result.fetchall() == [("orders", " orders ", 30)]
    assert result.columns == ("from orders", "' orders '", "count_star()")


def test_the_same_table_twice_is_read_as_each_place_needs_it(lake: Lake) -> None:
    result = lake.query(
        "SELECT a.id, b.id FROM orders a JOIN orders b ON a.id + 20 = b.id WHERE a.id < 2 AND b.id"
        " > 15"
    )
    assert sorted(result) == [(0, 20), (1, 21)]
    assert [(table.files, table.total_files, table.condition) for table in result.explain()] == [
        (1, 3, "id < 2"),
        (2, 3, "id > 15"),
    ]


def test_moments(lake: Lake) -> None:
    newest, _, oldest = snapshots_of(lake, "orders")
    assert one(lake, "SELECT count(*) FROM orders", at=oldest.id) == 10
    assert one(lake, "SELECT count(*) FROM orders", at="first") == 10
    assert one(lake, "SELECT count(*) FROM orders", at="main") == 30
    assert one(lake, f"SELECT count(*) FROM orders AT (VERSION => {oldest.id})") == 10
    assert one(lake, "SELECT count(*) FROM orders AS o AT (VERSION => 'first') WHERE o.id > 3") == 6
    assert (
        one(
            lake,
            "SELECT count(*) FROM orders AT (TIMESTAMP => TIMESTAMP"
            f" '{newest.at:%Y-%m-%d %H:%M:%S.%f}')",
        )
        == 30
    )
    both = "SELECT (SELECT count(*) FROM orders), count(*) FROM orders AT (VERSION => 'first')"
    assert lake.query(both).fetchall() == [(30, 10)]
    with pytest.raises(UnknownName, match="no snapshot, tag, branch"):
        lake.query("FROM orders", at="frist")
    with pytest.raises(UsageError, match="The oldest one kept"):
        lake.query("FROM orders", at="1999-01-01")
    with pytest.raises(BadQuery, match="AT takes a literal"):
        lake.query("FROM orders AT (VERSION => 1 + 1)")


def test_a_former_state_is_held_while_it_is_read(lake: Lake) -> None:
    result = lake.query("FROM orders", at="first")
    assert [hold.table for hold in lake.stores.events.protected()] == [
        TableName("shop", "silver", "orders")
    ]
    assert result.to_arrow().num_rows == 10
    assert lake.stores.events.protected() == ()
    again = result.to_arrow_batches()
    assert len(lake.stores.events.protected()) == 1, "reading it again runs it again"
    again.read_all()
    assert lake.stores.events.protected() == ()
    with lake.query("FROM orders"):
        assert lake.stores.events.protected() == ()


def test_metadata_tables(lake: Lake) -> None:
    assert (
        one(lake, "SELECT count(*) FROM shop.silver.orders$snapshots WHERE operation = 'append'")
        == 3
    )
    assert sorted(lake.query("SELECT name, type FROM orders$refs")) == [
        ("first", "tag"),
        ("main", "branch"),
    ]
    assert one(lake, "SELECT sum(record_count) FROM orders$files") == 30
    assert one(lake, "SELECT sum(record_count) FROM orders$files", at="first") == 10
    assert one(lake, "SELECT record_count FROM orders$partitions") == 30
    assert one(lake, 'SELECT count(*) FROM "clean-orders$snapshots" s') == 1
    assert one(lake, "SELECT count(*) FROM empty$snapshots") == 0
    assert one(lake, "SELECT count(*) FROM empty$files") == 0
    joined = "SELECT count(*) FROM orders o, orders$snapshots s WHERE s.parent_id IS NULL"
    assert one(lake, joined) == 30
    with pytest.raises(UnknownName, match="no metadata table 'snapshot'") as refused:
        lake.query("FROM orders$snapshot")
    assert refused.value.next == "Did you mean snapshots?"


def test_an_answer_in_every_form(lake: Lake) -> None:
    result = lake.query("SELECT id, id / 2 AS half, NULL AS nothing FROM orders ORDER BY id")
    arrow = result.to_arrow()
    assert arrow.num_rows == 30
    assert result.to_polars().to_dicts() == arrow.to_pylist()
    assert len(result.to_pandas()) == 30
    assert [batch.num_rows for batch in result.to_arrow_batches(rows=8)] == [8, 8, 8, 6]
    assert result.fetchall() == [tuple(row.values()) for row in arrow.to_pylist()]
    assert result.columns == ("id", "half", "nothing")


@pytest.mark.parametrize("limit", [0, 1, 7, 30, 99])
def test_a_limit_holds_in_every_form(lake: Lake, limit: int) -> None:
    result = lake.query("FROM orders", limit=limit)
    assert len(result.fetchall()) == min(limit, 30)
    assert result.to_arrow().num_rows == min(limit, 30)
    assert sum(batch.num_rows for batch in result.to_arrow_batches(rows=4)) == min(limit, 30)


@pytest.mark.parametrize("value", [["\ud83d"], {"a": "\ud83d"}, ({"\ud83d": 1},)])
def test_half_a_character_inside_a_parameter_is_refused_as_that(lake: Lake, value: object) -> None:
    with pytest.raises(BadQuery, match="half a character"):
        lake.query("SELECT $it", parameters={"it": value}).fetchall()


def test_parameters_are_values(lake: Lake) -> None:
    assert one(lake, "SELECT count(*) FROM orders WHERE id < ?", parameters=[4]) == 4
    assert one(lake, "SELECT count(*) FROM orders WHERE id < $most", parameters={"most": 4}) == 4


def test_query_table_never_answers_from_what_another_query_read_of_a_table(
    lake: Lake, tmp_path: Path
) -> None:
    assert one(lake, "SELECT count(*) FROM shop.silver.orders, range(1) WHERE id = 3") == 1
    for text, rows in {
        "'shop.silver.orders'": 30,
        "['orders']": 30,
        "'silver.\"clean-orders\"'": 5,
        "['x', 'orders']": 31,
    }.items():
        assert one(lake, f"WITH x AS (SELECT 1) SELECT count(*) FROM query_table({text})") == rows
    with pytest.raises(BadQuery, match="query_table takes the names of tables as texts"):
        lake.query("SELECT * FROM query_table('or' || 'ders')")
    with pytest.raises(UnknownName, match="ordrs"):
        lake.query("SELECT * FROM query_table('ordrs')")
    assert one(lake, "WITH x AS (FROM orders) SELECT count(*) FROM query_table('X')") == 30
    (tmp_path / "x.csv").write_text("a\n1\n2\n")
    assert one(lake, f"SELECT sum(a) FROM query_table('{tmp_path / 'x.csv'}')") == 3


@pytest.mark.parametrize(
    ("sql", "what", "advice"),
    [
        (
            "SELECT idd FROM orders",
            r"no column 'idd'.\n  1 \| SELECT idd FROM orders",
            "Did you mean id?",
        ),
        ("SELECT *\nFROM orders\nWHERE nix = 1", r"no column 'nix'.\n  3 \| WHERE nix = 1", "id"),
        (
            "SELECT cuont(id) FROM orders",
            "no aggregate function 'cuont'|no function 'cuont'",
            "Did you mean count",
        ),
        ("SELECT * FORM orders", "syntax error", "DuckDB's syntax"),
        ("", "there is no statement", "one SELECT"),
        ("SELECT 1; SELECT 2", "there are 2 statements", "one SELECT"),
        ("DROP TABLE orders", "DROP is not a query", "pipelines"),
        ("COPY orders TO 'x.csv'", "COPY is not a query", "pipelines"),
        ("SET memory_limit = '1GB'", "SET is not a query", "pipelines"),
        ("ATTACH 'x.db'", "ATTACH is not a query", "pipelines"),
        ("SELECT '\ud83d' FROM orders", r"'\\ud83d' is half a character", "the whole character"),
        ("SELECT 'x'::INT FROM orders", "Could not convert string 'x'", "TRY_CAST"),
    ],
)
def test_errors_say_what_where_and_what_next(lake: Lake, sql: str, what: str, advice: str) -> None:
    with pytest.raises(BadQuery, match=what) as refused:
        lake.query(sql).fetchall()
    assert advice in refused.value.next


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_parameter_that_is_half_a_character_is_refused(lake: Lake, engine: Engine) -> None:
    with pytest.raises(BadQuery, match=r"'\\udcff' is half a character"):
        lake.query("FROM orders WHERE country = ?", parameters=["\udcff"], engine=engine)


def test_unknown_tables_have_near_names(lake: Lake) -> None:
    with pytest.raises(UnknownName) as refused:
        lake.query("FROM silver.ordres")
    assert refused.value.next.startswith("Did you mean silver.orders")
    with pytest.raises(UnknownName) as refused:
        lake.query("FROM shop.slver.order")
    assert "shop.silver.orders" in refused.value.next


def test_an_error_in_the_middle_of_an_answer_is_ours_too(lake: Lake) -> None:
    sql = "SELECT CASE WHEN id = 25 THEN error('no') ELSE 'fine' END FROM orders"
    for read in (
        QueryResult.to_arrow,
        QueryResult.fetchall,
        lambda result: list(result.to_arrow_batches(rows=1)),
    ):
        with pytest.raises(BadQuery, match="no"):
            read(lake.query(sql))
    assert one(lake, "SELECT count(*) FROM orders") == 30


@pytest.mark.parametrize("changed", [False, True])
def test_a_lost_file_is_named(tmp_path: Path, changed: bool) -> None:
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        table = add_table(bench, "t", [numbers(0), numbers(10)], schema=ID)
        if changed:
            with bench.iceberg.load_table(table.parts).update_schema() as change:
                change.add_column("more", LongType())
        bench.close()
        for lost in (tmp_path / "lake").rglob("data/*.parquet"):
            lost.unlink()
        with pytest.raises(FileMissing) as refused:
            lake.query("SELECT sum(id) FROM t").to_arrow()
        assert refused.value.path.endswith(".parquet")
        assert "lakebed fsck" in refused.value.next


def test_a_session_is_as_it_was_after_every_query(lake: Lake) -> None:
    abandoned = lake.query("FROM orders a, orders b, orders c")
    next(iter(abandoned))
    del abandoned
    for _ in range(5):
        assert one(lake, "SELECT count(*) FROM orders", at="first") == 10
        assert one(lake, "SELECT count(*) FROM orders") == 30
        assert one(lake, "SELECT count(*) FROM orders$snapshots") == 3


def test_times_are_in_the_lakes_zone(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("moment", pa.timestamp("us", tz="UTC"))])
    rows = pa.table({"moment": [datetime(2026, 7, 1, 12, tzinfo=UTC)]}, schema=schema)
    with make_lake(tmp_path / "lake", timezone="Europe/Amsterdam") as lake:
        bench = bench_of(lake)
        add_table(bench, "t", [rows], schema=schema)
        bench.close()
        assert one(lake, "SELECT moment::VARCHAR FROM t") == "2026-07-01 14:00:00+02"
        assert (
            one(lake, "SELECT count(*) FROM t WHERE moment = TIMESTAMP '2026-07-01 14:00:00'") == 1
        )


def test_every_query_is_in_the_log(lake: Lake) -> None:
    lake.query("SELECT 41 + 1 AS marked FROM orders WHERE id < 5", principal="ada").to_arrow()
    with pytest.raises(BadQuery):
        lake.query("SELECT marked_nix FROM orders")
    fields = (
        "status, rows, files_scanned, files_pruned, principal, tables, conditions, layouts, error"
    )
    found = lake.query(
        f"SELECT {fields} FROM system.query_log WHERE sql LIKE '%marked%' ORDER BY ts"
    ).fetchall()
    assert found[:2] == [
        ("ok", 5, 1, 2, "ada", ["shop.silver.orders"], [[{"column": "id", "op": "<"}]], [""], ""),
        ("error", 0, 3, 0, "", ["shop.silver.orders"], [[]], [""], found[1][-1]),
    ]
    assert "no column 'marked_nix'" in found[1][-1]


def test_the_plan_of_a_query_for_spark_knows_its_conditions(lake: Lake) -> None:
    def conditions(sql: str, at: str | None = None) -> list[str]:
        plan = lake.queries.plan(QueryRequest(sql, engine="spark", at=at))
        return [predicate_text(one.predicate) if one.predicate else "" for one in plan.tables]

    assert conditions("SELECT * FROM orders WHERE id < 5") == ["id < 5"]
    assert conditions("SELECT * FROM orders o WHERE o.id < 5", at="first") == ["id < 5"]
    assert conditions("SELECT * FROM orders a JOIN orders b ON a.id = 1 AND b.id = 2") == [
        "id = 1",
        "id = 2",
    ]
    assert conditions("SELECT * FROM orders WHERE id = 1 UNION SELECT * FROM orders") == [
        "id = 1",
        "",
    ]
    assert conditions("SELECT * FROM silver.orders.files WHERE file_size_in_bytes > 5") == [""]
    other = plan_spark_query(
        QueryRequest("SELECT * FROM orders WHERE id < 5", engine="spark"),
        replace(lake.queries.context, spark_setting="spark.sql.ansi.enabled"),
    )
    assert [one.predicate for one in other.tables] == [None]
    hinted = "/*+ no_layouts */ SELECT /*+ BROADCAST(orders) */ * FROM orders"
    text = lake.queries.plan(QueryRequest(hinted, engine="spark")).text
    assert "no_layouts" not in text
    assert "BROADCAST(orders)" in text


def test_untrusted_queries_see_the_same_rows_and_nothing_else(lake: Lake) -> None:
    assert one(lake, "SELECT count(*) FROM orders WHERE id > 12", untrusted=True) == 17
    for attack in (
        "FROM read_csv('/etc/passwd')",
        "FROM '/etc/passwd'",
        "FROM orders; SELECT 1",
        "SELECT getenv('HOME')",
    ):
        with pytest.raises(BadQuery):
            lake.query(attack, untrusted=True)
    statuses = [
        json.loads(line)["status"] for line in lake.queries.log.files()[-1].read_text().splitlines()
    ]
    assert statuses[-4:] == ["refused"] * 4


def test_duckdb_is_as_we_expect_it() -> None:
    """The wheels of extensions are of one version of DuckDB."""
    assert duckdb.__version__ == "1.5.5"


@pytest.mark.parametrize("untrusted", [False, True])
def test_rows_below_a_limit_are_not_chosen_by_what_they_are_joined_with(
    tmp_path: Path, untrusted: bool
) -> None:
    """DuckDB 1.5 does so, every time for this query: its issue 22924."""
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        add_table(bench, "many", [numbers(0), numbers(10), numbers(20), numbers(30)], schema=ID)
        bench.close()
        asked = (
            "SELECT count(*) FROM (VALUES ({})) few(id) JOIN (SELECT id FROM many LIMIT 20) q USING"
            " (id)"
        )
        found = [
            next(iter(lake.query(asked.format(one), untrusted=untrusted)))
            for one in (5, 15, 25, 35)
        ]  # one of each file
        assert sorted(found) == [(0,), (0,), (1,), (1,)]
