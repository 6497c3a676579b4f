"""What doctor says of a Spark elsewhere; of files, catalog and tables see the commands' tests."""

import os
import socket
from pathlib import Path

import pytest

from lakebed.app import DoctorFinding, create_lake, examine, open_lake
from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK, free_ports

pytestmark = pytest.mark.postgres


def spark_of(folder: Path, database: Database, master: str) -> DoctorFinding:
    """What doctor finds of the Spark of a lake, made if need be."""
    environment = {
        "PATH": os.environ["PATH"],
        "LAKEBED_CATALOG_PASSWORD": database.password,
        "LAKEBED_SPARK_MASTER": master,
    }
    if not (folder / "lakebed.yaml").exists():
        values = {"catalog": {"kind": "postgres", "url": database.url, "user": database.user}}
        create_lake(folder, settings=values, environment=environment)
    with open_lake(str(folder), environment=environment) as lake:
        (found,) = [found for found in examine(lake, environment) if found.component == "spark"]
    return found


def test_a_spark_elsewhere_that_does_not_answer_is_a_problem_that_doctor_finds(
    database: Database, tmp_path: Path
) -> None:
    first, second = free_ports(2)
    for master in (
        f"sc://{LOOPBACK}:{first}/;token=hush-hush",
        f"spark://{LOOPBACK}:{first}",
        f"spark://{LOOPBACK}:{first},{LOOPBACK}:{second}",
    ):
        found = spark_of(tmp_path / "lake", database, master)
        assert (found.state, "no Spark" in found.detail, f"{LOOPBACK}:{first}" in found.detail) == (
            "problem",
            True,
            True,
        )
        assert "LAKEBED_SPARK_MASTER" in found.fix
        assert "hush-hush" not in str(found)


def test_one_of_several_masters_that_answers_is_enough(database: Database, tmp_path: Path) -> None:
    (silent,) = free_ports(1)
    with socket.create_server((LOOPBACK, 0)) as server:
        master = f"spark://{LOOPBACK}:{silent},{LOOPBACK}:{server.getsockname()[1]}"
        assert spark_of(tmp_path / "lake", database, master).state == "ok"


def test_a_master_that_has_no_address_to_ask_is_not_called_unreachable(
    database: Database, tmp_path: Path
) -> None:
    assert spark_of(tmp_path / "lake", database, "yarn").state == "ok"
