"""Which jars which lake needs."""

from pathlib import Path

import pytest

from lakebed.engines.spark.jars.pinned import ALL_JARS, Jar, absent, jars_folder, needed_jars
from lakebed.settings import (
    FilesSettings,
    PostgresCatalog,
    RestCatalog,
    Root,
    Settings,
    cache_folder,
)

FOLDER, BUCKET = Root.parse("/lake"), Root.parse("s3://bucket/lake")
POSTGRES = PostgresCatalog(kind="postgres", url="postgresql://db:5432/lake")
S3_JARS = {"iceberg-aws-bundle", "hadoop-aws", "s3-transfer-manager", "apache-client"}


def rest(**more: str) -> RestCatalog:
    return RestCatalog(kind="rest", url="http://catalog", **more)


def names(settings: Settings, root: Root) -> set[str]:
    return {jar.name for jar in needed_jars(settings, root)} - {"iceberg-spark-runtime-4.1_2.13"}


@pytest.mark.parametrize(
    ("settings", "root", "needed"),
    [
        (Settings(), FOLDER, {"sqlite-jdbc"}),
        (Settings(catalog=POSTGRES), FOLDER, {"postgresql"}),
        (Settings(catalog=POSTGRES), BUCKET, {"postgresql"} | S3_JARS),
        (Settings(catalog=rest()), FOLDER, set()),
        (Settings(catalog=rest(warehouse="s3://warehouse")), FOLDER, S3_JARS),
        (
            Settings(catalog=rest(warehouse="prod"), files=FilesSettings(endpoint="http://s3")),
            FOLDER,
            S3_JARS,
        ),
        (Settings(catalog=rest()), BUCKET, S3_JARS),
        # sources of a lake in a folder may be in a bucket
        (Settings(files=FilesSettings(region="eu-west-1")), FOLDER, {"sqlite-jdbc"} | S3_JARS),
        (Settings(files=FilesSettings(endpoint="")), FOLDER, {"sqlite-jdbc"}),
    ],
)
def test_a_lake_needs_only_the_jars_of_its_stores(
    settings: Settings, root: Root, needed: set[str]
) -> None:
    assert names(settings, root) == needed


def test_iceberg_is_always_needed() -> None:
    assert (
        needed_jars(Settings(catalog=rest()), FOLDER)[0].file
        == "iceberg-spark-runtime-4.1_2.13-1.12.0.jar"
    )


def test_every_jar_is_pinned_by_its_content() -> None:
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in ALL_JARS)
    assert len({jar.file for jar in ALL_JARS}) == len(ALL_JARS) == 7


def test_a_jar_of_another_size_counts_as_absent(tmp_path: Path) -> None:
    whole, part, gone = (Jar("g", name, "1", 3, "") for name in ("whole", "part", "gone"))
    jars_folder(tmp_path).mkdir()
    (jars_folder(tmp_path) / whole.file).write_bytes(b"abc")
    (jars_folder(tmp_path) / part.file).write_bytes(b"ab")
    assert absent((whole, part, gone), tmp_path) == (part, gone)


def test_the_cache_is_where_the_environment_says(tmp_path: Path) -> None:
    assert cache_folder({"LAKEBED_CACHE": str(tmp_path)}) == tmp_path
    assert cache_folder({}).name == "lakebed"
