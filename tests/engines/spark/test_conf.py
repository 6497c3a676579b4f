"""Spark's settings for every kind of lake."""

import pytest
from pydantic import SecretStr

from lakebed.engines.spark.conf import cores_of, redacted, runtime_conf, session_conf
from lakebed.engines.spark.start.on_demand import LOAD_EXTENSIONS
from lakebed.errors import BadSettings
from lakebed.settings import (
    FilesSettings,
    PostgresCatalog,
    RestCatalog,
    Root,
    Settings,
    SparkSettings,
)

FOLDER, BUCKET = Root.parse("/lake"), Root.parse("s3://bucket/lake")
POSTGRES = PostgresCatalog(
    kind="postgres", url="postgresql://db:5432/lake", user="me", password=SecretStr("hush-1")
)
REST = RestCatalog(
    kind="rest",
    url="http://catalog:8181",
    warehouse="s3://warehouse",
    credential=SecretStr("id:hush-2"),
    oauth2_server_uri="http://catalog:8181/v1/oauth/tokens",
)
FILES = FilesSettings(
    endpoint="http://s3:8333",
    access_key_id=SecretStr("hush-3"),
    secret_access_key=SecretStr("hush-4"),
)


def catalog(settings: Settings, root: Root) -> dict[str, str]:
    prefix = "spark.sql.catalog.lake."
    return {
        key.removeprefix(prefix): value
        for key, value in session_conf(settings, root).items()
        if key.startswith(prefix)
    }


def test_the_catalog_of_a_folder_lake_is_its_sqlite_file() -> None:
    found = catalog(Settings(), FOLDER)
    assert found["type"] == "jdbc"
    assert found["uri"] == "jdbc:sqlite:/lake/.data/lake.db?journal_mode=WAL&busy_timeout=30000"
    assert found["warehouse"] == "file:///lake"
    assert (found["clients"], found["jdbc.schema-version"], found["cache-enabled"]) == (
        "1",
        "V1",
        "false",
    )
    assert "io-impl" not in found


def test_a_postgres_catalog_gets_its_user_and_password_apart_from_the_address() -> None:
    found = catalog(Settings(catalog=POSTGRES), FOLDER)
    assert (found["uri"], found["jdbc.user"], found["jdbc.password"]) == (
        "jdbc:postgresql://db:5432/lake",
        "me",
        "hush-1",
    )


def test_a_rest_catalog_gets_its_credential_and_the_way_to_s3() -> None:
    found = catalog(Settings(catalog=REST, files=FILES), FOLDER)
    assert (found["type"], found["uri"], found["warehouse"]) == (
        "rest",
        "http://catalog:8181",
        "s3://warehouse",
    )
    assert (found["credential"], found["scope"]) == ("id:hush-2", "catalog")
    assert found["io-impl"] == "org.apache.iceberg.aws.s3.S3FileIO"
    assert "jdbc.schema-version" not in found


def test_a_bucket_is_reached_for_tables_and_for_landing_files() -> None:
    settings = Settings(catalog=POSTGRES, files=FILES)
    found, conf = catalog(settings, BUCKET), session_conf(settings, BUCKET)
    assert (found["s3.endpoint"], found["s3.path-style-access"], found["client.region"]) == (
        "http://s3:8333",
        "true",
        "us-east-1",
    )
    assert (found["s3.access-key-id"], found["s3.secret-access-key"]) == ("hush-3", "hush-4")
    assert conf["spark.hadoop.fs.s3a.endpoint"] == "http://s3:8333"
    assert conf["spark.hadoop.fs.s3.impl"] == "org.apache.hadoop.fs.s3a.S3AFileSystem"
    assert runtime_conf(settings, BUCKET)["fs.s3a.secret.key"] == "hush-4"


def test_without_keys_the_usual_aws_ways_are_left_to_find_them() -> None:
    conf = session_conf(Settings(catalog=POSTGRES), BUCKET)
    assert not any("key" in key for key in conf)
    assert "spark.hadoop.fs.s3a.endpoint" not in conf


def test_local_mode_is_bound_to_this_machine_and_keeps_shuffles_small() -> None:
    conf = session_conf(Settings(), FOLDER, cores=4, python="/usr/bin/python3")
    assert (
        conf["spark.driver.host"],
        conf["spark.driver.bindAddress"],
        conf["spark.ui.enabled"],
    ) == (
        *["127.0.0.1"] * 2,
        "false",
    )
    assert (conf["spark.sql.shuffle.partitions"], conf["spark.pyspark.python"]) == (
        "4",
        "/usr/bin/python3",
    )
    assert "spark.jars" not in conf


def test_very_many_files_are_listed_by_few_tasks_and_finished_work_does_not_fill_memory() -> None:
    """By default a listing has up to 10,000 tasks, and 100,000 finished ones are remembered."""
    told = SparkSettings(conf={"spark.ui.retainedTasks": "7"})
    conf = session_conf(Settings(spark=told), FOLDER, cores=2)
    assert conf["spark.sql.sources.parallelPartitionDiscovery.parallelism"] == "8"
    assert int(conf["spark.sql.files.openCostInBytes"]) < 1_000_000
    assert int(conf["spark.sql.ui.retainedExecutions"]) < 100
    assert conf["spark.ui.retainedTasks"] == "7"


def test_a_cluster_gets_the_jars_and_keeps_its_own_ways() -> None:
    settings = Settings(catalog=POSTGRES, spark=SparkSettings(master="spark://head:7077"))
    conf = session_conf(settings, FOLDER, jars=(FOLDER.folder / "a.jar", FOLDER.folder / "b.jar"))
    assert conf["spark.jars"] == "/lake/a.jar,/lake/b.jar"
    assert not {"spark.driver.host", "spark.sql.shuffle.partitions", "spark.pyspark.python"} & set(
        conf
    )


@pytest.mark.parametrize(
    "master",
    ["local[*]", "spark://head:7077", "spark://127.0.0.1:7077", "yarn", "k8s://https://head"],
)
def test_sparks_web_pages_which_ask_for_no_password_are_off_unless_asked_for(master: str) -> None:
    asked = SparkSettings(
        master=master, conf={"spark.ui.enabled": "true", "spark.driver.bindAddress": "10.0.0.7"}
    )
    settings = Settings(catalog=POSTGRES, spark=SparkSettings(master=master))
    assert session_conf(settings, FOLDER)["spark.ui.enabled"] == "false"
    assert (
        session_conf(Settings(catalog=POSTGRES, spark=asked), FOLDER)["spark.ui.enabled"] == "true"
    )


@pytest.mark.parametrize(
    ("master", "told", "listens"),
    [
        ("spark://127.0.0.1:7077", {}, "127.0.0.1"),
        ("spark://localhost:7077,127.0.0.2:7077", {}, "127.0.0.1"),
        ("spark://[::1]:7077", {}, "127.0.0.1"),
        ("spark://localhost:7077,head:7077", {}, None),
        ("spark://localhost.example.org:7077", {}, None),
        ("spark://head:7077", {}, None),
        ("spark://head:7077", {"spark.driver.bindAddress": "10.0.0.7"}, "10.0.0.7"),
        ("spark://localhost:7077", {"spark.driver.bindAddress": "10.0.0.7"}, "10.0.0.7"),
        ("spark://localhost:7077", {"spark.driver.host": "10.0.0.7"}, None),
    ],
)
def test_a_driver_listens_beyond_loopback_only_for_executors_elsewhere(
    master: str, told: dict[str, str], listens: str | None
) -> None:
    settings = Settings(catalog=POSTGRES, spark=SparkSettings(master=master, conf=told))
    assert session_conf(settings, FOLDER).get("spark.driver.bindAddress") == listens


def test_sparks_web_pages_are_never_opened_on_all_addresses_unless_a_setting_says_so() -> None:
    asked = Settings(
        catalog=POSTGRES,
        spark=SparkSettings(master="spark://head:7077", conf={"spark.ui.enabled": "true"}),
    )
    with pytest.raises(BadSettings, match="all addresses") as refused:
        session_conf(asked, FOLDER)
    assert "spark.driver.bindAddress" in refused.value.next


def test_a_cluster_gets_the_users_jars_beside_ours() -> None:
    settings = Settings(
        catalog=POSTGRES,
        spark=SparkSettings(master="spark://head:7077", conf={"spark.jars": "/own.jar"}),
    )
    assert (
        session_conf(settings, FOLDER, jars=(FOLDER.folder / "a.jar",))["spark.jars"]
        == "/lake/a.jar,/own.jar"
    )


def test_time_zone_catalog_and_extensions_are_set_everywhere() -> None:
    conf = session_conf(Settings(timezone="Europe/Berlin"), FOLDER)
    assert conf["spark.sql.session.timeZone"] == "Europe/Berlin"
    assert conf["spark.sql.defaultCatalog"] == "lake"
    assert conf["spark.sql.extensions"].endswith("IcebergSparkSessionExtensions")


def test_the_users_settings_have_the_last_word() -> None:
    spark = SparkSettings(conf={"spark.sql.shuffle.partitions": "7", "spark.ui.enabled": "true"})
    conf = session_conf(Settings(spark=spark), FOLDER)
    assert (conf["spark.sql.shuffle.partitions"], conf["spark.ui.enabled"]) == ("7", "true")
    assert runtime_conf(Settings(spark=spark), FOLDER)["spark.sql.shuffle.partitions"] == "7"


def test_no_setting_diverts_writes_for_the_whole_session() -> None:
    assert not any(
        "wap" in key for key in session_conf(Settings(catalog=REST, files=FILES), BUCKET)
    )


def test_no_secret_is_ever_shown() -> None:
    for settings in (Settings(catalog=POSTGRES, files=FILES), Settings(catalog=REST, files=FILES)):
        for conf in (session_conf(settings, BUCKET), runtime_conf(settings, BUCKET)):
            assert "hush" in str(conf)
            assert "hush" not in str(redacted(conf))
            assert "http" in str(redacted(conf))


@pytest.mark.parametrize(
    ("master", "tasks"), [("local[*]", 8), ("local[3]", 3), ("local", 1), ("local[2,4]", 2)]
)
def test_the_number_of_tasks_at_once_is_read_from_the_master(master: str, tasks: int) -> None:
    assert cores_of(master, 8) == tasks


@pytest.mark.parametrize(
    ("spark", "looked_for"),
    [
        (SparkSettings(), "false"),
        (SparkSettings(conf={"spark.sql.shuffle.partitions": "3"}), "false"),
        (SparkSettings(conf={LOAD_EXTENSIONS: "true"}), "true"),
        (SparkSettings(conf={"spark.jars": "/mine.jar"}), None),
        (SparkSettings(conf={"spark.jars.packages": "a:b:1"}), None),
        (SparkSettings(conf={"spark.driver.extraClassPath": "/mine.jar"}), None),
        (SparkSettings(jars=("/mine.jar",)), None),
        (SparkSettings(direct_launch=False), None),
        (SparkSettings(master="spark://far:7077"), None),
    ],
)
def test_extensions_in_jars_of_the_user_are_found(
    spark: SparkSettings, looked_for: str | None
) -> None:
    assert session_conf(Settings(spark=spark), FOLDER).get(LOAD_EXTENSIONS) == looked_for
