"""Untrusted SQL over a bucket: the child reaches the objects of its tables with the lake's keys,
and no others.
"""

import os
from collections.abc import Iterator

import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb import s3_secret
from lakebed.engines.duckdb.extensions import extension
from lakebed.engines.duckdb.untrusted.confined import ConfinedQuery, SandboxInputs, UntrustedLimits
from lakebed.errors import BadQuery
from tests.engines.duckdb.test_evolution import FIRST, SCHEMA, change_nested
from tests.query.attacks import SECRET
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench
from tests.support.lakes.query_lakes import add_table

pytestmark = [pytest.mark.s3, pytest.mark.postgres]


@pytest.fixture
def lake(database: Database, bucket: Bucket) -> Iterator[tuple[Lake, RealBench]]:
    bench = postgres_bench(database, bucket)
    with Lake(bench.root, bench.settings, environment=os.environ) as lake:
        yield lake, bench
    bench.close()


def test_an_untrusted_query_reads_tables_by_files_and_by_manifests(
    lake: tuple[Lake, RealBench],
) -> None:
    opened, bench = lake
    table = add_table(bench, "orders", [FIRST, FIRST], schema=SCHEMA)
    asked = f"SELECT count(*), max(id) FROM {table} WHERE id = 2"
    assert opened.query(asked, untrusted=True).fetchall() == [(2, 2)]
    change_nested(bench.iceberg.load_table(table.parts))
    assert opened.explain(f"FROM {table}")[0].how == "iceberg"
    assert opened.query(asked, untrusted=True).fetchall() == [(2, 2)]


def test_other_objects_of_the_lake_stay_closed_even_to_sql_that_nobody_judged(
    lake: tuple[Lake, RealBench],
) -> None:
    opened, _ = lake
    opened.stores.files.write("lakebed.yaml", SECRET.encode())
    place = opened.root.at("lakebed.yaml")
    setup = (f"LOAD '{extension('httpfs')}'", *s3_secret(opened.root, opened.settings.files, {}))
    view = f"CREATE VIEW v AS SELECT content FROM read_text('{place}')"
    with ConfinedQuery(
        "SELECT * FROM v", SandboxInputs((*setup, view), (("v",),), (place,)), UntrustedLimits()
    ) as running:
        assert SECRET in str(running.reader().read_all().to_pylist())  # the lake's keys do reach it
    with (
        ConfinedQuery(
            "SELECT * FROM v", SandboxInputs((*setup, view), (("v",),)), UntrustedLimits()
        ) as running,
        pytest.raises(BadQuery) as refused,
    ):
        running.reader()
    assert "disabled by configuration" in str(refused.value)
    assert SECRET not in str(refused.value)
