"""A canary in every place where an address could carry a secret: it is refused there, and printed
nowhere.
"""

from pathlib import Path

import pytest

from lakebed.app import create_lake
from lakebed.engines.database import Database
from lakebed.engines.spark.conf import redacted
from lakebed.engines.spark.jars.fetch import refusal
from lakebed.errors import BadSettings, CatalogUnreachable
from lakebed.settings import (
    Root,
    files_settings,
    load_settings,
    masked,
    secret_settings,
    settings_tree,
    without_secrets,
)

ROOT = Root("file:///lake")
POSTGRES = [
    "postgresql://me:hunter2@db/lake",
    "postgresql://me:hun/ter2@db/lake",
    "postgresql://db/lake?password=hunter2",
    "postgresql://db/lake?sslmode=require&PASSWORD=hunter2",
    "postgresql://db/lake?p%61ssword=hunter2",
    "postgresql://db/lake?sslpassword=hunter2&sslmode=require",
    "postgresql://db/lake?passwd=hunter2",
    "postgresql://db/lake?oauth_client_secret=hunter2",
]
WEB = [
    "http://key:hunter2@server:8333",
    "https://hunter2@server/catalog",
    "http://server/catalog?token=hunter2",
    "http://s/?api_key=hunter2",
]
FINE = [
    "postgresql://db:5432/lake?sslmode=verify-full&passfile=/run/pgpass&connect_timeout=3",
    "postgresql://me@db/lake",
    "http://catalog:8181/v1/oauth/tokens",
    "http://catalog:8181/who/me@home",
    "sc://spark:15002/;use_ssl=true;user_id=me",
    "s3://bucket/secret/lake",
]


def settings(**places: str) -> str:
    kind = "postgres" if set(places) == {"url"} and places["url"].startswith("post") else "rest"
    given = {"kind": kind, **({"url": "http://catalog:8181"} if kind == "rest" else {}), **places}
    return (
        "timezone: UTC\ncatalog: {"
        + ", ".join(f"{name}: '{value}'" for name, value in given.items())
        + "}\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        *(settings(url=address) for address in (*POSTGRES, *WEB)),
        *(settings(state_url=address) for address in POSTGRES),
        *(settings(oauth2_server_uri=address) for address in WEB),
        *(f"files:\n  endpoint: {address}" for address in WEB),
        "spark: {master: 'sc://spark:15002/;use_ssl=true;token=hunter2'}",
        "spark:\n  repositories: ['https://me:hunter2@maven/repo']",
        "spark:\n  repositories: 5\n  conf: {spark.hadoop.fs.s3a.secret.key: hunter2, x: [",
        "spark: {conf: {spark.hadoop.fs.s3a.secret.key: hunter2}, mastr: 5}",
    ],
)
def test_a_secret_in_the_settings_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(BadSettings) as error:
        load_settings(text, {}, root=ROOT)
    assert "hunter2" not in str(error.value)
    assert "ter2" not in str(error.value)


def test_a_secret_in_an_address_given_by_the_environment_is_not_repeated() -> None:
    with pytest.raises(BadSettings, match="LAKEBED_CATALOG_URL") as error:
        load_settings(
            "", {"LAKEBED_CATALOG_KIND": "postgres", "LAKEBED_CATALOG_URL": POSTGRES[2]}, root=ROOT
        )
    with pytest.raises(BadSettings, match="LAKEBED_FILES_ENDPOINT") as endpoint:
        files_settings({"LAKEBED_FILES_ENDPOINT": WEB[0]})
    assert "hunter2" not in f"{error.value} {endpoint.value}"


def test_a_new_lake_takes_no_secret_and_errors_repeat_none(tmp_path: Path) -> None:
    for pairs in (
        ["catalog.kind=postgres", f"catalog.url={POSTGRES[2]}"],
        ["catalog.kind=postgres", "catalog.password=hunter2"],
    ):
        with pytest.raises(BadSettings) as error:
            create_lake(tmp_path / "lake", settings=settings_tree(pairs))
        assert "hunter2" not in str(error.value)
        assert not list(tmp_path.rglob("lakebed.yaml"))
    with pytest.raises(BadSettings) as misspelt:
        settings_tree(["catalog.password:hunter2"])
    assert "hunter2" not in str(misspelt.value)


def test_a_token_for_spark_connect_may_come_by_the_environment_and_is_not_repeated() -> None:
    with pytest.raises(BadSettings, match="SQLite") as error:
        load_settings("", {"LAKEBED_SPARK_MASTER": "sc://spark:15002/;token=hunter2"}, root=ROOT)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("address", [*POSTGRES, *WEB])
def test_addresses_in_errors_and_in_sparks_settings_are_masked(address: str) -> None:
    assert "hunter2" not in masked(f"cannot reach '{address}' today")
    assert "hunter2" not in str(redacted({"spark.sql.catalog.lake.uri": f"jdbc:{address}"}))
    assert "hunter2" not in refusal(
        f"Server access error at url {address} (java.io.IOException: 401)"
    )


def test_a_database_that_does_not_answer_is_named_without_its_password() -> None:
    database = Database.postgres(
        "postgresql://127.0.0.1:1/lake?password=hunter2", user="me", password="hunter2"
    )
    with pytest.raises(CatalogUnreachable) as error:
        database.prepare()
    assert "127.0.0.1" in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("address", FINE)
def test_an_address_without_a_secret_stays_as_it_is(address: str) -> None:
    assert masked(address) == address


def test_processes_that_are_started_get_no_secret_by_their_surroundings() -> None:
    fine = {"PATH": "/bin", "LAKEBED_SPARK_MASTER": "local[2]", "AWS_PROFILE": "mine"}
    secret = {f"LAKEBED_{'_'.join(path).upper()}": "hunter2" for path in secret_settings()}
    address = {"LAKEBED_SPARK_REPOSITORIES": "['https://me:hunter2@maven/repo']"}
    assert len(secret) >= 4
    assert without_secrets(fine | secret | address) == fine
