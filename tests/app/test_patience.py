"""Stores that are away for a moment when a build starts: asked again, as they would be in
mid-run.
"""

import pytest

from lakebed.app import create_lake, open_lake
from lakebed.errors import FilesUnreachable
from tests.pipelines.test_cluster import environment_of
from tests.servers.lossy import Fate, faulty_way
from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK
from tests.servers.s3 import Bucket

TABLE = "shop.silver.orders"


@pytest.mark.s3
@pytest.mark.postgres
def test_a_bucket_that_is_too_busy_at_the_start_does_not_fail_the_command_or_the_build(
    database: Database, bucket: Bucket
) -> None:
    environment = environment_of(bucket, database, "local[1]")
    values = {"catalog": {"kind": "postgres", "url": database.url, "user": database.user}}
    create_lake(bucket.root, settings=values, environment=environment)
    refusals = 0

    def busy_at_first(_: bytes) -> Fate:
        nonlocal refusals
        refusals -= 1
        return "busy" if refusals >= 0 else "carry"

    with faulty_way(int(bucket.settings.endpoint.rsplit(":", 1)[1]), fate=busy_at_first) as port:
        environment |= {"LAKEBED_FILES_ENDPOINT": f"http://{LOOPBACK}:{port}"}
        refusals = 6  # more than the client itself asks again
        with open_lake(bucket.url, environment=environment) as lake:
            assert refusals < 0
            lake.stores.files.write("shop/pipelines/silver/orders/pipeline.sql", b"SELECT 1 AS id")
            lake.stores.leases.acquire(
                TABLE, holder="you", limit=600
            )  # so that the build ends before it needs Spark
            refusals = 6
            (record,) = lake.run().records
            assert refusals < 0
            assert record.error["kind"] == "LeaseHeld"
            refusals = 10_000
            with pytest.raises(FilesUnreachable):
                lake.run()
