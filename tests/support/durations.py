"""How long each test file takes: the longest are started first, so that all workers end
together.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "durations.json"
KEEP_IN = os.environ.get("LAKEBED_TEST_DURATIONS", "")
_UNKNOWN = 1.0  # seconds, for a file that was never measured


class Durations:
    """Orders test files by their last known durations, and writes down new ones if asked to."""

    def __init__(self) -> None:
        self._known: dict[str, float] = json.loads(FILE.read_text())
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._partly_skipped: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The tests of a file stay together and in their order."""
        items.sort(key=lambda item: -self._known.get(_file_of(item.nodeid), _UNKNOWN))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = _file_of(report.nodeid)
        self._seconds[file] += report.duration
        if report.skipped:
            self._partly_skipped.add(file)

    def pytest_sessionfinish(self) -> None:
        if KEEP_IN and "PYTEST_XDIST_WORKER" not in os.environ:
            seconds = {file: self._expected(file) for file in sorted(self._seconds)}
            measured = {file: round(took, 1) for file, took in seconds.items() if took >= 1}
            Path(KEEP_IN).write_text(json.dumps(measured, indent=1) + "\n")

    def _expected(self, file: str) -> float:
        """A test that waits for its turn takes its time in another run."""
        former = self._known.get(file, 0) if file in self._partly_skipped else 0
        return max(self._seconds[file], former)


def _file_of(test: str) -> str:
    return test.partition("::")[0]
