"""Sources on every catalog and store: the same batches, rows and records as in a folder."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakebed.app import create_lake, open_lake
from lakebed.batches.state import sidecar_paths
from lakebed.engines.files import open_files
from lakebed.settings import Root
from tests.servers.s3 import Bucket
from tests.support.kills import killed
from tests.support.lakes.rest_lake import BucketLake, RestLake
from tests.support.lakes.stored_source import StoredSource
from tests.support.scale import in_turn, rotated

pytestmark = [pytest.mark.spark, pytest.mark.s3, pytest.mark.postgres]


def secrets_of(bucket: Bucket) -> dict[str, str]:
    return {
        "LAKEBED_FILES_ENDPOINT": bucket.server.endpoint,
        "LAKEBED_FILES_ACCESS_KEY_ID": bucket.server.access_key_id,
        "LAKEBED_FILES_SECRET_ACCESS_KEY": bucket.server.secret_access_key,
    }


@pytest.fixture
def in_bucket(bucket_lake: BucketLake) -> StoredSource:
    """A lake in a bucket, its catalog in PostgreSQL, its source beside the tables."""
    return StoredSource(bucket_lake.lake)


@pytest.fixture
def from_bucket(bucket: Bucket, tmp_path: Path, spark_home: Path) -> Iterator[StoredSource]:
    """A lake in a folder, its source in a bucket."""
    environment = {**os.environ, **secrets_of(bucket)}
    create_lake(Root.parse(tmp_path / "lake"), environment=environment)
    with open_lake(tmp_path / "lake", environment=environment) as lake:
        files = open_files(bucket.root, bucket.settings)
        yield StoredSource(lake, files=files, place=f"{bucket.url}/")


@pytest.fixture
def on_rest(rest_lake: RestLake) -> StoredSource:
    """A lake on a REST catalog, which keeps its tables where it likes."""
    return StoredSource(rest_lake.lake, namespace=rest_lake.namespace)


@pytest.mark.parametrize("made", rotated(["in_bucket", "from_bucket", "on_rest"], 1))
def test_a_bucket_of_many_formats_becomes_a_table_batch_by_batch(
    made: str, request: pytest.FixtureRequest
) -> None:
    source: StoredSource = request.getfixturevalue(made)
    source.put_all(2020)
    source.put(2021, "x.json", {"id": 7})
    assert source.ran() == {"year=2020": "new", "year=2021": "new"}
    source.put(2021, "x.json", {"id": 7})  # by an equal one: in a bucket, nothing tells
    assert source.ran() == {}
    source.put(2021, "x.json", {"id": 8, "v": "wide", "unit": "USD"})
    assert source.ran() == {"year=2021": "changed"}
    assert source.batches() == {"year=2020": 6, "year=2021": 1}
    source.delete("raw/year=2021/x.json")
    assert source.ran() == {"year=2021": "gone"}
    source.check_records()
    source.lake.care(str(source.table), now=datetime.now(UTC) + timedelta(days=60))
    metadata = source.lake.tables.describe(source.table)
    assert len(metadata.snapshots) < 4
    assert all(source.lake.stores.files.info(path).size for path in sidecar_paths(metadata))
    assert source.batches() == {"year=2020": 6}
    assert source.ran() == {}
    source.put(2021, "back.csv", {"id": 9})
    assert source.ran() == {"year=2021": "new"}


@in_turn(1, of=4)
@pytest.mark.parametrize("when", rotated(["4", "5", "6", "7", "8", "9", "after"], 1))
def test_a_run_killed_while_it_publishes_a_batch_on_a_rest_catalog_keeps_its_line_and_its_columns(
    when: str, rest_lake: RestLake, on_rest: StoredSource
) -> None:
    """The table and Lakebed's records are in two places there."""
    on_rest.put(2020, "x.json", {"id": 1})
    on_rest.ran()
    on_rest.put(2020, "x.json", {"id": 1, "unit": "USD"})
    on_rest.put(2021, "x.json", {"id": 2})
    killed(rest_lake.url, when, "Publish", environment=rest_lake.environment)
    on_rest.ran()
    on_rest.check_records()
