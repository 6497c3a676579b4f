"""Settings: one frozen value from a file and the environment, or an error that leads to
the line.
"""

import pytest
from pydantic import ValidationError

from lakebed.errors import BadSettings
from lakebed.names import TableName
from lakebed.settings import (
    PostgresCatalog,
    RestCatalog,
    Root,
    Settings,
    environment_variables,
    files_settings,
    load_settings,
    logs_folder,
    secret_settings,
    settings_tree,
    staging_place,
)

HERE = Root.parse("/lakes/shop")
BUCKET = Root.parse("s3://bucket/lake")
POSTGRES = "catalog: {kind: postgres, url: 'postgresql://db:5432/lake'}\n"


def load(text: str = "", root: Root = HERE, **environment: str) -> Settings:
    return load_settings(text, environment, root=root)


def refused(text: str = "", root: Root = HERE, **environment: str) -> BadSettings:
    with pytest.raises(BadSettings) as error:
        load(text, root, **environment)
    assert error.value.exit_code == 2
    return error.value


def test_an_empty_file_gives_the_defaults() -> None:
    settings = load()
    assert settings == Settings()
    assert (settings.timezone, settings.catalog.kind, settings.spark.master) == (
        "UTC",
        "sqlite",
        "local[*]",
    )


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().timezone = "Mars/Base"  # type: ignore[misc]


def test_the_environment_wins_over_the_file() -> None:
    settings = load(
        "spark: {master: 'local[4]', memory: 4g}",
        LAKEBED_SPARK_MASTER="local[1]",
        LAKEBED_SPARK_QUICK="true",
    )
    assert (settings.spark.master, settings.spark.memory, settings.spark.quick) == (
        "local[1]",
        "4g",
        True,
    )


def test_the_environment_can_hold_lists_and_mappings() -> None:
    settings = load(
        "",
        LAKEBED_SPARK_JARS="[a.jar, b.jar]",
        LAKEBED_SPARK_CONF="{spark.sql.ansi.enabled: 'true'}",
    )
    assert settings.spark.jars == ("a.jar", "b.jar")
    assert settings.spark.conf == {"spark.sql.ansi.enabled": "true"}


@pytest.mark.parametrize(
    ("text", "key", "meant", "line"),
    [
        ("timezne: UTC", "timezne", "timezone", 1),
        ("timezone: UTC\nspark:\n  mastr: x", "spark.mastr", "master", 3),
        (POSTGRES.replace("url", "ulr"), "catalog.ulr", "url", 1),
        ("write:\n  compresion: zstd", "write.compresion", "compression", 2),
    ],
)
def test_an_unknown_key_is_refused_with_its_line_and_the_nearest(
    text: str, key: str, meant: str, line: int
) -> None:
    error = refused(text)
    assert repr(key) in str(error) or "url" in str(error)
    assert error.line == line
    assert meant in str(error)


def test_broken_yaml_shows_the_line() -> None:
    error = refused("timezone: UTC\nspark: {master: x\nwrite: [")
    assert error.line is not None
    assert error.line >= 2
    assert "not valid YAML" in str(error)


def test_a_file_that_is_no_mapping_is_refused() -> None:
    assert "mapping" in str(refused("- a\n- b"))


def test_an_unknown_variable_is_refused_with_the_nearest() -> None:
    assert "Did you mean LAKEBED_SPARK_MASTER" in str(refused("", LAKEBED_SPARK_MASTR="x"))


def test_variables_of_others_and_of_tests_are_left_alone() -> None:
    assert load("", LAKEBED_LAKE="x", LAKEBED_TEST_SCALE="10", PATH="y") == Settings()


@pytest.mark.parametrize("path", [".".join(path) for path in secret_settings()])
def test_a_secret_in_the_file_is_refused_and_not_repeated(path: str) -> None:
    group, name = path.split(".")
    error = refused(f"{group}:\n  {name}: hunter2")
    assert "is a secret" in str(error)
    assert f"LAKEBED_{group}_{name}".upper() in str(error)
    assert "hunter2" not in str(error)


def test_a_password_in_an_address_is_refused() -> None:
    error = refused("catalog: {kind: postgres, url: 'postgresql://me:hunter2@db/lake'}")
    assert "LAKEBED_" in str(error)


def test_a_secret_from_the_environment_is_never_shown() -> None:
    settings = load(
        POSTGRES, LAKEBED_CATALOG_PASSWORD="hunter2", LAKEBED_FILES_SECRET_ACCESS_KEY="hunter3"
    )
    assert isinstance(settings.catalog, PostgresCatalog)
    assert settings.catalog.password is not None
    assert settings.catalog.password.get_secret_value() == "hunter2"
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert "hunter" not in shown


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("timezone: Mars/Base", "no time zone"),
        ("write: {compression: fast}", "'snappy'"),
        ("write: {target_file_size: 0}", "must be more than 0"),
        ("lease: {limit_seconds: 0}", "must be more than 0"),
        ("tables: {orders: {}}", "three parts"),
        ("namespaces: {Shop: {}}", "a-z"),
        ("catalog: {kind: mysql}", "sqlite"),
        ("assets: {namespace: a b}", "a-z"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason(text: str, reason: str) -> None:
    assert reason in str(refused(text))


def test_a_wrong_value_in_a_variable_names_the_variable() -> None:
    assert "LAKEBED_LEASE_LIMIT_SECONDS" in str(refused("", LAKEBED_LEASE_LIMIT_SECONDS="soon"))


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("", BUCKET),
        ("catalog: {kind: sqlite}", BUCKET),
        ("catalog: {kind: rest, url: 'http://rest'}", BUCKET),
        ("spark: {master: 'spark://host:7077'}", HERE),
        ("spark: {master: 'sc://host:15002'}", HERE),
        ("spark: {master: yarn}", HERE),
    ],
)
def test_what_several_machines_share_cannot_keep_sqlite(text: str, root: Root) -> None:
    error = refused(text, root)
    assert "cannot keep its catalog or state in SQLite" in str(error)
    assert "postgres" in error.next


@pytest.mark.parametrize("root", [BUCKET, HERE])
@pytest.mark.parametrize(
    "text",
    [POSTGRES, "catalog: {kind: rest, url: 'http://rest', state_url: 'postgresql://db/lake'}"],
)
def test_with_a_server_they_may(text: str, root: Root) -> None:
    load(text + "\nspark: {master: 'spark://host:7077'}", root)


def test_write_settings_come_from_the_nearest_level() -> None:
    settings = load(
        """
        write: {compression: zstd, target_file_size: 256MiB}
        namespaces: {shop: {write: {target_file_size: 64MiB}}}
        tables: {shop.silver.orders: {write: {row_group_size: 2MiB}}}
        """
    )
    orders = settings.write_for(TableName.parse("shop.silver.orders"))
    assert (orders.compression, orders.target_file_size, orders.row_group_size) == (
        "zstd",
        64 * 2**20,
        2 * 2**20,
    )
    other = settings.write_for(TableName.parse("other.silver.orders"))
    assert (other.target_file_size, other.row_group_size) == (256 * 2**20, 128 * 2**20)


def test_files_are_snappy_with_small_row_groups_only_where_sorted() -> None:
    table = TableName.parse("shop.silver.orders")
    assert Settings().write_for(table).compression == "snappy"
    assert Settings().write_for(table, is_sorted=True).row_group_size == 2**20
    assert Settings().write_for(table).row_group_size == 128 * 2**20


def test_a_bucket_is_reached_by_the_environment_alone() -> None:
    found = files_settings(
        {"LAKEBED_FILES_ENDPOINT": "http://host:1", "LAKEBED_SPARK_MASTR": "not looked at"}
    )
    assert found.endpoint == "http://host:1"


def test_pairs_become_a_tree() -> None:
    assert settings_tree(["spark.master=local[2]", "spark.quick=true"]) == {
        "spark": {"master": "local[2]", "quick": True}
    }
    with pytest.raises(BadSettings, match="KEY=VALUE"):
        settings_tree(["spark.master"])


def test_every_variable_leads_to_one_setting() -> None:
    paths = list(environment_variables().values())
    assert len(paths) == len(set(paths))
    assert ("catalog", "state_url") in paths


def test_parts_of_data_live_where_settings_say() -> None:
    cache = {"LAKEBED_CACHE": "/cache"}
    bucket = load(POSTGRES, BUCKET)
    assert str(logs_folder(load(), HERE, cache)) == "/lakes/shop/.data/logs"
    assert staging_place(load(), HERE, cache) == "/lakes/shop/.data/staging"
    assert str(logs_folder(bucket, BUCKET, cache)).startswith("/cache/lakes/")
    in_bucket = load(POSTGRES + "places: {staging: bucket, logs: /var/log/lake}", BUCKET)
    assert staging_place(in_bucket, BUCKET, cache) == "s3://bucket/lake/.data/staging"
    assert str(logs_folder(in_bucket, BUCKET, cache)) == "/var/log/lake"


def test_a_rest_catalog_keeps_its_credential_to_itself() -> None:
    text = "catalog: {kind: rest, url: 'http://rest', state_url: 'postgresql://db/lake'}"
    settings = load(text, LAKEBED_CATALOG_CREDENTIAL="me:hunter2")
    assert isinstance(settings.catalog, RestCatalog)
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (
            "",
            {
                "LAKEBED_CATALOG_PASSWORD": "hunter2",
                "LAKEBED_CATALOG_USER": "me",
                "LAKEBED_CATALOG_CREDENTIAL": "id:hunter2",
            },
        ),
        ("catalog: {kind: sqlite}", {"LAKEBED_CATALOG_PASSWORD": "hunter2"}),
        (POSTGRES, {"LAKEBED_CATALOG_CREDENTIAL": "id:hunter2"}),
    ],
)
def test_a_shell_with_the_credentials_of_another_lake_opens_this_one(
    text: str, given: dict[str, str]
) -> None:
    assert load_settings(text, given, root=HERE) == load(text)


def test_an_address_for_a_catalog_that_has_none_is_still_refused() -> None:
    with pytest.raises(BadSettings):
        load("", LAKEBED_CATALOG_URL="postgresql://db/lake")
