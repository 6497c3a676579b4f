"""Answers that get lost around a publication: what was published is never published again, nor
called failed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lakebed.errors import CatalogUnreachable
from lakebed.ports import RunRecord
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = pytest.mark.spark

APPEND = "merge_strategy: append_only\nmax_retries: 3\nretry_delay_seconds: 0"
ROW = "SELECT 1 AS id"


class _Flaky:
    """A store whose answers get lost; what is asked of it is done first, or not at all."""

    def __init__(self, store: Any, **loses: Callable[[], bool]) -> None:
        self._store, self._loses = store, loses

    def __getattr__(self, name: str) -> Any:
        return self._losing(name) if name in self._loses else getattr(self._store, name)

    def _losing(self, name: str) -> Callable[..., Any]:
        def ask(*given: Any, **options: Any) -> Any:
            if self._loses[name]():
                getattr(self._store, name)(*given, **options)
                raise CatalogUnreachable("here", "the answer was lost")
            return getattr(self._store, name)(*given, **options)

        return ask


class Doubt:
    """A lake in which the second run of an append meets trouble."""

    def __init__(self, shop: TestLake, *names: str) -> None:
        self.shop, self.names, self.stores = shop, names, shop.lake.stores
        for name in names:
            shop.pipeline(name, ROW, APPEND)
        shop.run(together=True)

    def run(self, *, together: bool = False, **flaky: Any) -> tuple[RunRecord, ...]:
        """Run with these stores instead."""
        with self.shop.over(replace(self.stores, **flaky)):
            return tuple(self.shop.run(together=together).values())

    def runs(self, name: str) -> list[str]:
        return [run.state for run in self.stores.records.runs(table=self.shop.table(name))]


def always() -> bool:
    return True


@pytest.mark.parametrize("together", [False, True])
def test_a_published_append_is_not_appended_again_because_its_lease_or_its_books_gave_no_answer(
    shop: TestLake, together: bool
) -> None:
    names = ("silver.a", "silver.b") if together else ("silver.a",)
    doubt = Doubt(shop, *names)
    for number, flaky in enumerate(
        [
            {"leases": _Flaky(doubt.stores.leases, release=always)},
            {"records": _Flaky(doubt.stores.records, unpin=always)},
        ],
        start=2,
    ):
        records = doubt.run(together=together, **flaky)
        assert [(record.state, record.attempt) for record in records] == [("success", 1)] * len(
            names
        )
        for name in names:
            assert doubt.runs(name) == ["success"] * number
            assert shop.snapshots(name) == len(shop.rows(name)) == number


def test_an_append_of_which_nobody_can_say_whether_it_was_published_is_not_repeated_and_its_record_says_so(
    shop: TestLake,
) -> None:
    doubt = Doubt(shop, "silver.a")
    asked: list[bool] = []

    def asks() -> bool:
        asked.append(True)
        return True

    catalog = _Flaky(doubt.stores.catalog, commit=asks, published=lambda: bool(asked))
    (record,) = doubt.run(catalog=catalog)
    assert (record.state, record.attempt, record.error["kind"]) == ("failed", 1, "OutcomeUnknown")
    assert f"lakebed runs show {record.run_id[:16]}" in record.error["next"]
    assert len(shop.rows("silver.a")) == shop.snapshots("silver.a") == 2
    assert doubt.runs("silver.a") == ["success", "success"]  # written by the publication itself
    assert shop.lake.pipelines.retry().records == ()
