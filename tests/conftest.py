"""Fixtures every test may ask for."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support.durations import Durations
from tests.support.scale import SEED

pytest_plugins = [
    "tests.servers.fixtures",
    "tests.support.benches",
    "tests.support.spark_sessions",
    "tests.support.lakes.pipeline_lake",
    "tests.support.lakes.rest_lake",
    "tests.support.lakes.kept_lake",
    "tests.support.lakes.care_lakes",
]

# Tests start Spark with many sets of jars; an archive made in the background for each would only
# slow them down.
os.environ.setdefault("LAKEBED_TEST_NO_ARCHIVE", "1")
# Tests of the worker have one; no other test leaves one behind.
os.environ["LAKEBED_WORKER"] = "off"

# How fast the machine makes up values says nothing about Lakebed: on a loaded one these checks fail
# at random.
settings.register_profile("lakebed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lakebed")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations())


def pytest_report_header() -> str:
    return (
        f"LAKEBED_TEST_SEED={SEED} draws the part of the largest matrices that runs; make test-long"
        " runs all of them"
    )
