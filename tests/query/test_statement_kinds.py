"""Every kind of SELECT answers as plain DuckDB does over the same rows, or is refused with a reason
that the docs give.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.errors import BadQuery
from tests.query.statements import STATEMENTS
from tests.query.statements.expressions import PARAMETERS
from tests.query.statements.ground import SCHEMAS, parts
from tests.query.statements.shapes import ONLY_COLUMNS, REFUSED
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake, plain_copy
from tests.support.tables import snapshots_of

DOCS = Path(__file__).parents[2] / "docs" / "reading.md"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with make_lake(tmp_path_factory.mktemp("kinds") / "lake") as lake:
        bench = bench_of(lake)
        for name, found in parts().items():
            add_table(bench, name, found, schema=SCHEMAS[name])
        bench.close()
        lake.tables.tag("orders", "first", at=snapshots_of(lake, "orders")[-1].id)
        yield lake


@pytest.fixture(scope="module")
def plain() -> Iterator[Any]:
    with plain_copy(parts()) as connection:
        connection.execute("CREATE SCHEMA past")
        connection.execute("CREATE TABLE past.orders AS FROM orders WHERE id < 3")
        yield connection


def _compare(
    lake: Lake, plain: Any, statement: str, parameters: Any = None, *, rows: bool = True
) -> None:
    sql, ordered = statement.removeprefix("ORDERED "), statement.startswith("ORDERED ")
    expected = plain.execute(sql.replace("{first}", "past.orders"), parameters)
    with lake.query(
        sql.replace("{first}", "orders AT (VERSION => 'first')"), parameters=parameters
    ) as result:
        assert [*result.columns] == [column[0] for column in expected.description]
        ours, theirs = [*map(str, result)], [*map(str, expected.fetchall())]
    if rows:
        assert (ours if ordered else sorted(ours)) == (theirs if ordered else sorted(theirs))
    assert theirs


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_answers_as_plain_duckdb_does(lake: Lake, plain: Any, kind: str) -> None:
    _compare(lake, plain, STATEMENTS[kind])


@pytest.mark.parametrize("kind", PARAMETERS)
def test_a_statement_with_parameters_answers_as_plain_duckdb_does(
    lake: Lake, plain: Any, kind: str
) -> None:
    _compare(lake, plain, *PARAMETERS[kind])


@pytest.mark.parametrize("kind", ONLY_COLUMNS)
def test_a_statement_about_files_has_the_columns_of_plain_duckdb(
    lake: Lake, plain: Any, kind: str
) -> None:
    _compare(lake, plain, ONLY_COLUMNS[kind], rows=False)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_refused_says_why_and_so_do_the_docs(lake: Lake, sql: str) -> None:
    said, documented = REFUSED[sql]
    with pytest.raises(BadQuery, match=said) as refused:
        lake.query(sql)
    assert refused.value.next
    assert documented in DOCS.read_text()


def test_every_construct_of_the_documentation_is_there() -> None:
    assert len(STATEMENTS) + len(PARAMETERS) + len(ONLY_COLUMNS) + len(REFUSED) >= 150
