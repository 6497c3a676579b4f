"""A zone in a bucket."""

import pytest

from lakebed.engines.files import open_files
from lakebed.landing import archive_files
from lakebed.landing.plan import Move
from lakebed.settings import Settings
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer
from tests.support.lakes.landing_zones import (
    ODD_FILES,
    ZONE,
    SparkReader,
    Zone,
    cut,
    land_odd_names,
    reasons,
    zipped,
)
from tests.support.spark_sessions import OpenSpark

pytestmark = [pytest.mark.spark, pytest.mark.s3]


def test_odd_names_torn_files_and_archiving_in_a_bucket(
    open_spark: OpenSpark, bucket: Bucket, seaweed: SeaweedServer
) -> None:
    session = open_spark(Settings(catalog=seaweed.rest_catalog, files=bucket.settings), bucket.root)
    files = open_files(bucket.root, bucket.settings)
    zone = Zone(bucket.root, files, SparkReader(session))
    land_odd_names(zone)
    zone.land(
        "torn #1.csv.gz",
        cut(zipped("n,v\n" + "".join(f"{number},{number * 7919}\n" for number in range(9_000)))),
    )
    landed = zone.open()
    assert sorted(row.n for row in landed.frame.select("n").collect()) == [*range(ODD_FILES)]
    assert [*landed.rows_by_file.values()] == [1] * ODD_FILES
    assert reasons(landed) == {"torn #1.csv.gz": "its gzip data ends too early"}
    moves = [
        Move(file.path, file.etag, file.path.replace("orders/", "orders/_processed/r1/", 1))
        for file in landed.files
    ]
    assert len(list(archive_files(zone.files, moves))) == ODD_FILES
    assert all(name.startswith(("_processed/r1/", "_quarantine/")) for name in zone.left())
    assert f"{ZONE.folder}/_processed/r1/a%20b.csv" in {
        file.path for file in zone.files.list(ZONE.folder)
    }
