"""Fixtures every test may ask for."""

import os

pytest_plugins = ["tests.servers.fixtures", "tests.contracts.benches"]

SCALE = int(os.environ.get("LAKEBED_TEST_SCALE", "1"))
