"""Fixtures every test may ask for."""

import os

pytest_plugins = ["tests.servers.fixtures", "tests.contracts.benches", "tests.spark_sessions"]

SCALE = int(os.environ.get("LAKEBED_TEST_SCALE", "1"))
