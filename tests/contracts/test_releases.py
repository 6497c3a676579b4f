"""What the store of releases promises: versions follow each other, and only what was judged is
forgotten.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.errors import Conflict
from lakebed.names import TableName
from lakebed.ports import Draft, Release, Releases
from lakebed.testing import MemoryReleases
from tests.support.benches import POSTGRES, SQLITE, _real

NOW = datetime(2026, 11, 15, 12, 30, 15, 123457, tzinfo=UTC)
ORDERS, RATES = TableName("shop", "silver", "orders"), TableName("shop", "bronze", "rates")


@pytest.fixture(params=["memory", SQLITE, POSTGRES])
def releases(request: pytest.FixtureRequest) -> Iterator[Releases]:
    if request.param == "memory":
        yield MemoryReleases()
        return
    for bench in _real(request.param, request):
        yield bench.stores.releases


def a_release(version: int, table: TableName = ORDERS) -> Release:
    return Release(
        table,
        version,
        f"{version:064x}",
        NOW,
        "ünal@host",
        "why\nnot",
        {"pipeline.sql": "aa", "tests/ü.sql": "bb"},
    )


def a_draft(digest: str, table: TableName = ORDERS, *, at: datetime = NOW) -> Draft:
    return Draft(table, digest, at, {"pipeline.sql": digest})


def test_versions_come_back_as_they_were_newest_first(releases: Releases) -> None:
    for made in (a_release(1), a_release(2), a_release(1, RATES)):
        releases.add(made)
    assert releases.versions(ORDERS) == (a_release(2), a_release(1))
    assert releases.newest() == {RATES: a_release(1, RATES), ORDERS: a_release(2)}
    assert set(map(repr, releases.all())) == {
        repr(made) for made in (a_release(1), a_release(2), a_release(1, RATES))
    }


@pytest.mark.parametrize("version", [1, 3])
def test_a_version_that_is_not_the_next_is_refused(releases: Releases, version: int) -> None:
    releases.add(a_release(1))
    with pytest.raises(Conflict, match="another process has released"):
        releases.add(replace(a_release(version), message="mine"))
    assert releases.versions(ORDERS) == (a_release(1),)


def test_versions_are_dropped_with_the_one_that_replaces_them(releases: Releases) -> None:
    releases.add(a_release(1))
    releases.add(a_release(1, RATES))
    releases.add(a_release(2), drop=[1])
    assert [one.version for one in releases.versions(ORDERS)] == [2]
    assert [one.version for one in releases.versions(RATES)] == [1]


def test_a_draft_saved_again_is_one_and_counts_as_of_the_later_time(releases: Releases) -> None:
    later = NOW + timedelta(days=1)
    for draft in (a_draft("aa"), a_draft("bb"), a_draft("aa", at=later), a_draft("aa", RATES)):
        releases.save_draft(draft)
    assert releases.drafts(ORDERS) == (a_draft("aa", at=later), a_draft("bb"))
    assert len(releases.drafts()) == 3


def test_a_draft_that_was_saved_anew_is_not_forgotten(releases: Releases) -> None:
    releases.save_draft(a_draft("aa"))
    (seen,) = releases.drafts()
    releases.save_draft(a_draft("aa", at=NOW + timedelta(seconds=1)))
    assert not releases.delete_draft(seen)
    assert releases.delete_draft(releases.drafts()[0])
    assert releases.drafts() == ()


def test_a_deleted_pipeline_is_remembered_until_it_is_back(releases: Releases) -> None:
    releases.mark_deleted(ORDERS, at=NOW)
    releases.mark_deleted(ORDERS, at=NOW + timedelta(days=1))
    assert releases.deleted() == {ORDERS: NOW + timedelta(days=1)}
    releases.mark_present([ORDERS, RATES])
    assert releases.deleted() == {}


@pytest.mark.parametrize("back", ["saved", "released"])
def test_a_pipeline_that_is_saved_or_released_is_back(releases: Releases, back: str) -> None:
    releases.mark_deleted(ORDERS, at=NOW)
    if back == "saved":
        releases.save_draft(a_draft("aa"))
    else:
        releases.add(a_release(1))
    assert releases.deleted() == {}


def test_purging_forgets_one_pipeline_and_not_if_it_was_deleted_anew(releases: Releases) -> None:
    for table in (ORDERS, RATES):
        releases.add(a_release(1, table))
        releases.save_draft(a_draft("aa", table))
    assert not releases.purge(ORDERS, deleted_at=NOW)
    releases.mark_deleted(ORDERS, at=NOW + timedelta(days=1))
    assert not releases.purge(ORDERS, deleted_at=NOW)
    assert releases.purge(ORDERS, deleted_at=NOW + timedelta(days=1))
    assert (releases.versions(ORDERS), releases.drafts(ORDERS), releases.deleted()) == ((), (), {})
    assert (len(releases.versions(RATES)), len(releases.drafts(RATES))) == (1, 1)
