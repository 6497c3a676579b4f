"""Fixtures every test may ask for."""

import os

pytest_plugins = [
    "tests.servers.fixtures",
    "tests.contracts.benches",
    "tests.spark_sessions",
    "tests.pipelines.lakes",
    "tests.care.fsck.kept",
    "tests.care.lakes",
]

# Tests start Spark with many sets of jars; an archive made in the background for each would only slow them down.
os.environ.setdefault("LAKEBED_TEST_NO_ARCHIVE", "1")

SCALE = int(os.environ.get("LAKEBED_TEST_SCALE", "1"))
