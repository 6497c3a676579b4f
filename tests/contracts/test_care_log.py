"""What a care log promises: entries come back as they were, newest first, until they are deleted by
age.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.ports import CareEntry, CareLog
from lakebed.testing import MemoryCareLog
from tests.support.benches import POSTGRES, SQLITE, _real

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(params=["memory", SQLITE, POSTGRES])
def log(request: pytest.FixtureRequest) -> Iterator[CareLog]:
    if request.param == "memory":
        yield MemoryCareLog()
        return
    for bench in _real(request.param, request):
        yield bench.stores.care


def test_what_care_did_is_kept_newest_first_and_deleted_by_age(log: CareLog) -> None:
    for number, subject in enumerate(("a", "b", "a")):
        at = NOW + timedelta(days=number)
        log.write(
            CareEntry("purge_logs", subject, "done", at, {"files": number}, 2**40, 1.5, "said")
        )
    found = log.entries()
    assert [entry.counts for entry in found] == [{"files": 2}, {"files": 1}, {"files": 0}]
    assert found[0] == CareEntry(
        "purge_logs", "a", "done", NOW + timedelta(days=2), {"files": 2}, 2**40, 1.5, "said"
    )
    assert log.entries(subject="a") == (found[0], found[2])
    assert log.entries(limit=1) == found[:1]
    assert log.entries(action="other") == ()
    assert log.delete(before=NOW + timedelta(days=1, hours=1)) == 2
    assert log.entries() == found[:1]
