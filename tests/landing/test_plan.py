"""Which files are read, and which may be archived."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lakebed.errors import BadName
from lakebed.landing import (
    Move,
    ZoneSpec,
    data_files,
    matches_pattern,
    not_consumed,
    plan_archive,
    replaced_files,
)
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo

ZONE = ZoneName("shop", "orders")
ORDERS, AUDIT = TableName("shop", "bronze", "orders"), TableName("shop", "bronze", "audit")


def file(below: str, etag: str = "1", *, size: int = 10) -> FileInfo:
    return FileInfo(f"shop/landing/orders/{below}", size, etag, datetime(2026, 1, 1, tzinfo=UTC))


def took(table: TableName, below: str, etag: str = "1", run_id: str = "r1") -> ConsumedFile:
    return ConsumedFile(table, ZONE, f"shop/landing/orders/{below}", etag, 10, run_id)


@pytest.mark.parametrize(
    ("below", "counts"),
    [
        ("a.csv", True),
        ("2026/01/a.csv", True),
        ("unknown.xyz", True),
        ("sub/zone.yaml", True),
        ("zone.yaml", False),
        ("_samples/a.csv", False),
        ("_processed/r1/a.csv", False),
        ("_quarantine/r1/a.csv", False),
        ("sub/_temporary/a.csv", False),
        (".hidden.csv", False),
        ("a.csv.tmp", False),
        ("a.csv.PART", False),
        ("a.crdownload", False),
        ("a.partial", False),
        ("a.csv~", False),
    ],
)
def test_hidden_unfinished_and_reserved_names_do_not_count(below: str, counts: bool) -> None:
    assert (data_files([file(below)], ZONE) != ()) is counts


def test_files_of_another_zone_do_not_count() -> None:
    other = FileInfo("shop/landing/orders2/a.csv", 1, "1", datetime(2026, 1, 1, tzinfo=UTC))
    assert data_files([other], ZONE) == ()


@pytest.mark.parametrize(
    ("pattern", "below", "fits"),
    [
        ("*.csv", "a.csv", True),
        ("*.csv", "deep/er/a.csv", True),  # by its bare name
        ("*.csv", "a.csv.gz", False),
        ("orders_*", "orders_1.csv", True),
        ("2026/*.csv", "2026/a.csv", True),
        ("2026/*.csv", "2026/01/a.csv", False),
        ("2026/**/*.csv", "2026/01/02/a.csv", True),
        ("2026/**/*.csv", "2026/a.csv", True),
        ("2026/**", "2026/01/a.csv", True),
        ("a?.csv", "ab.csv", True),
        ("a?.csv", "a/b.csv", False),
        ("a[0-9].csv", "a5.csv", True),
        ("a[!0-9].csv", "a5.csv", False),
        ("a[[]1].csv", "a[1].csv", True),
        ("a[1].csv", "a[1].csv", False),
        ("a.csv", "axcsv", False),
        ("A.csv", "a.csv", False),
        ("(a+).csv", "(a+).csv", True),
    ],
)
def test_a_pattern_fits_the_path_below_the_zone_or_the_bare_name(
    pattern: str, below: str, fits: bool
) -> None:
    assert matches_pattern(below, pattern) is fits


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(BadName, match="brackets"):
        matches_pattern("a.csv", "[z-a].csv")


def test_the_zones_own_pattern_and_the_pipelines_must_both_fit() -> None:
    files = [file("eu_1.csv"), file("eu_1.json"), file("us_1.csv")]
    assert data_files(files, ZONE, pattern="eu_*", spec=ZoneSpec(pattern="*.csv")) == (files[0],)


def test_a_replaced_file_is_a_new_file() -> None:
    files = [file("a.csv", "1"), file("b.csv", "2")]
    assert not_consumed(files, [took(ORDERS, "a.csv", "1"), took(ORDERS, "b.csv", "1")]) == (
        files[1],
    )


def test_a_file_that_was_replaced_in_place_is_told_from_a_further_one_of_its_name() -> None:
    consumed = [
        took(ORDERS, "same.csv", "1"),
        took(ORDERS, "corrected.csv", "1"),
        replace(took(ORDERS, "archived.csv", "1"), archived="_processed/r1/archived.csv"),
        replace(took(ORDERS, "excluded.csv", "1"), state="held"),
        replace(took(ORDERS, "often.csv", "1"), taken_at=1.0),
        replace(took(ORDERS, "often.csv", "2"), taken_at=2.0, archived="_processed/r2/often.csv"),
    ]
    names = ("corrected.csv", "archived.csv", "excluded.csv", "often.csv", "new.csv")
    files = [file("same.csv", "1"), *(file(name, "3") for name in names)]
    assert replaced_files(files, consumed) == (file("corrected.csv", "3"),)


def test_a_file_is_archived_when_all_its_readers_have_it() -> None:
    readers = [(ORDERS, None), (AUDIT, "*.csv")]
    files = [file("sub/a.csv"), file("b.csv"), file("c.json"), file("d.csv")]
    consumed = [took(ORDERS, name) for name in ("sub/a.csv", "b.csv", "c.json")] + [
        took(AUDIT, "sub/a.csv", run_id="r2")
    ]
    assert plan_archive(files, consumed, readers) == (
        Move("shop/landing/orders/sub/a.csv", "1", "shop/landing/orders/_processed/r2/sub/a.csv"),
        Move(
            "shop/landing/orders/c.json", "1", "shop/landing/orders/_processed/r1/c.json"
        ),  # AUDIT does not read JSON
    )


def test_a_file_that_was_replaced_or_has_no_reader_any_more_stays() -> None:
    assert plan_archive([file("a.csv", "2")], [took(ORDERS, "a.csv", "1")], [(ORDERS, None)]) == ()
    assert plan_archive([file("a.csv")], [took(ORDERS, "a.csv")], []) == ()
    assert plan_archive([file("a.csv")], [took(ORDERS, "a.csv")], [(ORDERS, "*.json")]) == ()


def test_what_was_archived_is_not_archived_again() -> None:
    assert (
        plan_archive(
            [file("_processed/r1/a.csv")], [took(ORDERS, "_processed/r1/a.csv")], [(ORDERS, None)]
        )
        == ()
    )
