"""Queries over a bucket: DuckDB reaches the lake's prefix with the lake's keys, and no other."""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb import BucketAccess, s3_secret
from lakebed.errors import LakebedError
from lakebed.settings import FilesSettings, Root
from tests.engines.duckdb.test_evolution import FIRST, SCHEMA, change_nested
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench
from tests.support.lakes.query_lakes import add_table


def test_a_folder_needs_no_secret(tmp_path: object) -> None:
    assert s3_secret(Root.parse(str(tmp_path)), FilesSettings(), {}) == ()


def test_a_secret_holds_for_the_lakes_prefix_only() -> None:
    settings = FilesSettings.model_validate(
        {"endpoint": "http://host:8333", "access_key_id": "k", "secret_access_key": "it's"}
    )
    (statement,) = s3_secret(Root.parse("s3://bucket/lake"), settings, {})
    assert "SCOPE 's3://bucket/lake/'" in statement
    assert "SECRET 'it''s'" in statement
    assert "ENDPOINT 'host:8333'" in statement
    assert "USE_SSL false" in statement
    environment = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}
    (statement,) = s3_secret(Root.parse("s3://bucket"), FilesSettings(), environment)
    assert "KEY_ID 'a', SECRET 'b', SESSION_TOKEN 'c'" in statement
    assert "USE_SSL" not in statement
    (statement,) = s3_secret(Root.parse("s3://bucket"), settings, {}, any_bucket=True)
    assert "SCOPE 's3://'" in statement


def test_other_buckets_are_asked_for_at_the_lakes_server_without_its_keys() -> None:
    settings = FilesSettings.model_validate(
        {"endpoint": "http://host:8333", "access_key_id": "k", "secret_access_key": "s"}
    )
    *_, elsewhere = BucketAccess(Root.parse("s3://bucket/lake"), settings, {}).statements
    assert ("ENDPOINT 'host:8333'" in elsewhere, "KEY_ID" in elsewhere) == (True, False)
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    on_amazon = BucketAccess(Root.parse("s3://bucket/lake"), FilesSettings(), keys).statements
    assert not [statement for statement in on_amazon if "elsewhere" in statement]


@pytest.fixture
def lake(database: Database, bucket: Bucket) -> Iterator[tuple[Lake, RealBench]]:
    bench = postgres_bench(database, bucket)
    with Lake(bench.root, bench.settings, environment=os.environ) as lake:
        yield lake, bench
    bench.close()


@pytest.mark.s3
@pytest.mark.postgres
def test_tables_in_a_bucket_are_read_with_the_keys_of_a_profile(
    lake: tuple[Lake, RealBench], bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, bench = lake
    table = add_table(bench, "orders", [FIRST], schema=SCHEMA)
    server, name = bucket.server, tmp_path.name
    (tmp_path / "credentials").write_text(
        f"[{name}]\naws_access_key_id = {server.access_key_id}\n"
        f"aws_secret_access_key = {server.secret_access_key}\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    named = {"access_key_id": None, "secret_access_key": None, "profile": name}
    files = opened.settings.files.model_copy(update=named)
    settings = opened.settings.model_copy(update={"files": files})
    with Lake(opened.root, settings, environment={}) as by_profile:
        assert by_profile.query(f"SELECT count(*) FROM {table}").fetchall() == [(2,)]
        assert len(by_profile.query(f"SELECT * FROM {table}$snapshots").fetchall()) == 1


@pytest.mark.s3
@pytest.mark.postgres
def test_tables_in_a_bucket_are_read(lake: tuple[Lake, RealBench]) -> None:
    opened, bench = lake
    table = add_table(bench, "orders", [FIRST, FIRST], schema=SCHEMA)
    assert opened.query(f"SELECT count(*), max(id) FROM {table} WHERE id = 2").fetchall() == [
        (2, 2)
    ]
    assert opened.query(f"SELECT count(*) FROM {table}", untrusted=True).fetchall() == [(4,)]
    loaded = bench.iceberg.load_table(table.parts)
    change_nested(loaded)
    assert opened.explain(f"FROM {table}")[0].how == "iceberg"
    assert (
        sorted(opened.query(f"SELECT id, place.code FROM {table}"), key=str)
        == [(1, 2611)] * 2 + [(2, None)] * 2
    )
    assert opened.query("SELECT count(*) FROM orders$files").fetchall() == [(2,)]


@pytest.mark.s3
@pytest.mark.postgres
def test_odd_characters_in_keys(lake: tuple[Lake, RealBench]) -> None:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import NestedField, StringType

    opened, bench = lake
    bench.catalog.create_namespace("shop", "silver")
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "s"))
    made = bench.iceberg.create_table(
        ("shop", "silver", "odd"),
        Schema(NestedField(1, "s", StringType())),
        location=bench.root.at("shop/warehouse/silver/odd"),
        partition_spec=spec,
    )
    values = ["a*b", "axb", "a?b", "a[x]b", "a b", "a%b", "a=b", "é", "+"]
    made.append(pa.table({"s": values}))
    assert sorted(row[0] for row in opened.query("SELECT s FROM odd")) == sorted(values)


@pytest.mark.s3
@pytest.mark.postgres
def test_the_lakes_keys_open_nothing_beside_the_lake_and_nobody_else_is_asked(
    lake: tuple[Lake, RealBench],
) -> None:
    opened, _ = lake
    outside = opened.root.url.rpartition("/")[0] + "/elsewhere/x.parquet"
    for scheme in ("s3", "s3a"):
        with pytest.raises(LakebedError) as refused:
            opened.query(f"SELECT * FROM '{scheme}{outside.removeprefix('s3')}'").fetchall()
        assert "amazonaws" not in str(refused.value)


@pytest.mark.s3
@pytest.mark.postgres
def test_a_table_outside_the_lakes_prefix_is_read_from_the_lakes_server(
    lake: tuple[Lake, RealBench],
) -> None:
    opened, bench = lake
    place = f"{opened.root.url}-elsewhere/orders"
    bench.catalog.create_namespace("shop", "silver")
    made = bench.iceberg.create_table(("shop", "silver", "orders"), SCHEMA, location=place)
    made.append(FIRST)
    count = "SELECT count(*) FROM shop.silver.orders"
    assert opened.query(count).fetchall() == [(2,)]
    assert opened.query(count, untrusted=True).fetchall() == [(2,)]
    table = opened.table("shop.silver.orders")
    assert (table.to_arrow().num_rows, table.to_duckdb().limit(1).fetchall()[0][0]) == (2, 1)
