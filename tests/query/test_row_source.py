"""Query results and lazy tables speak alike: the same methods give the same rows, as often as they
are read.
"""

import gc
from collections.abc import Iterator
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.query.lazy.table import LazyTable
from lakebed.query.results.result import QueryResult
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

WORDS = pa.schema([pa.field("id", pa.int64()), pa.field("word", pa.string())])
ROWS = [(0, "<b>"), (1, None), (2, "x" * 200)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with make_lake(tmp_path_factory.mktemp("rows") / "lake") as lake:
        shop = bench_of(lake)
        columns = [pa.array(values) for values in zip(*ROWS, strict=True)]
        add_table(shop, "words", [pa.Table.from_arrays(columns, schema=WORDS)], schema=WORDS)
        shop.close()
        yield lake


@pytest.fixture(params=["result", "lazy table"])
def source(lake: Lake, request: pytest.FixtureRequest) -> Iterator[QueryResult | LazyTable]:
    if request.param == "lazy table":
        yield lake.table("words")
    else:
        with lake.query("SELECT * FROM words ORDER BY id") as result:
            yield result


def test_results_and_lazy_tables_give_the_same_rows_to_every_library(
    source: QueryResult | LazyTable,
) -> None:
    wanted = [dict(zip(("id", "word"), row, strict=True)) for row in ROWS]
    assert source.to_arrow().to_pylist() == wanted
    assert [row for batch in source.to_arrow_batches(rows=2) for row in batch.to_pylist()] == wanted
    assert pa.table(source).to_pylist() == wanted  # by __arrow_c_stream__
    assert source.to_polars().rows() == ROWS
    assert source.to_pandas(dtype_backend="pyarrow")["id"].tolist() == [0, 1, 2]
    assert sorted(source.to_duckdb().fetchall()) == ROWS
    assert list(source) == ROWS
    assert list(source) == ROWS
    assert source.columns == ("id", "word")


def test_rows_are_fetched_one_by_one_and_then_the_rest_as_duckdb_users_expect(
    source: QueryResult | LazyTable,
) -> None:
    assert source.fetchone() == ROWS[0]
    assert source.fetchall() == ROWS[1:]
    assert source.fetchall() == ROWS
    assert [source.fetchone() for _ in range(5)] == [*ROWS, None, None]
    assert source.fetchall() == []


CHAINS = {
    "limit": lambda relation: relation.limit(3),
    "filter": lambda relation: relation.filter("id >= 0"),
    "order": lambda relation: relation.order("id"),
    "project": lambda relation: relation.project("id"),
    "query": lambda relation: relation.query("words", "FROM words"),
    "aggregate": lambda relation: relation.aggregate("id", "id"),
    "join": lambda relation: relation.set_alias("a").join(relation.set_alias("b"), "id"),
    "several": lambda relation: relation.filter("id < 9").limit(3).project("id").order("id"),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_a_relation_made_from_a_relation_keeps_the_connection_of_the_first(
    source: QueryResult | LazyTable, chain: str
) -> None:
    relation = CHAINS[chain](source.to_duckdb())
    gc.collect()
    assert sorted(row[0] for row in relation.fetchall()) == [0, 1, 2]


def test_a_notebook_shows_columns_and_escaped_rows_and_leaves_the_result_unread(lake: Lake) -> None:
    with lake.query("SELECT * FROM words ORDER BY id") as result:
        page = result._repr_html_()
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert "BIGINT" in page
        assert "x" * 200 not in page
        assert repr(result) == "QueryResult(id BIGINT, word VARCHAR)"
        assert result.profile is None
        assert result.fetchall() == ROWS
    assert "&lt;b&gt;" not in lake.query("FROM words ORDER BY id DESC", limit=1)._repr_html_()


def test_a_notebook_shows_the_first_rows_of_a_lazy_table(lake: Lake) -> None:
    table = lake.table("words", columns=["word"])
    assert repr(table) == f"LazyTable('shop.silver.words', snapshot={table.snapshot})"
    page = table._repr_html_()
    assert "string" in page
    assert "<small>bigint</small>" in lake.table("words")._repr_html_()
    assert page.count("<td>") == len(ROWS)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_a_notebook_shows_the_history_of_a_table(lake: Lake) -> None:
    history: Any = lake.tables.history("words")
    assert f"<td>{history[0].snapshot.id}</td>" in history._repr_html_()


def test_a_lazy_polars_frame_filters_while_it_reads(lake: Lake) -> None:
    frame = lake.table("words").to_polars(lazy=True)
    assert isinstance(frame, pl.LazyFrame)
    assert frame.filter(pl.col("id") == 1).collect().rows() == [ROWS[1]]
