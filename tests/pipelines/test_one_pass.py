"""Runs that check landing files while they write their rows: each row arrives once, and what is bad
is found and set aside as if it had been checked before.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lakebed.engines.spark.landing.landing_reader import SparkLandingReader
from lakebed.names import ZoneName
from lakebed.ports import FileGroup
from tests.support.kills import killed
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import in_turn

pytestmark = pytest.mark.spark

ORDERS = "SELECT * FROM {{ landing_zone('orders') }}"
APPEND = "merge_strategy: append_only\narchive_landing_zones: true\n"
KEYED = "merge_strategy: incremental\nunique_key: id\n"


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that read whole files before a run writes."""
    noted: list[str] = []

    def noting(name: str) -> None:
        ask = getattr(SparkLandingReader, name)

        def asked(self: Any, groups: FileGroup | Sequence[FileGroup], *more: Any) -> Any:
            noted.append(name)
            return ask(self, groups, *more)

        monkeypatch.setattr(SparkLandingReader, name, asked)

    for name in ("infer", "check"):
        noting(name)
    return noted


def ids(shop: TestLake, name: str) -> list[Any]:
    return [row["id"] for row in shop.rows(name, columns=("id",))]


def reasons(shop: TestLake) -> dict[str, str]:
    files = shop.lake.zones.show(ZoneName("shop", "orders")).files
    return {file.path: file.reason for file in files if file.state == "quarantined"}


def test_a_first_file_without_a_header_is_refused_with_what_to_set_and_loses_no_row(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.csv", "1,a,2.5\n2,b,3.5\n")
    record = shop.run("bronze.orders")["bronze.orders"]
    assert "no file could be read" in record.error["what"]
    (reason,) = reasons(shop).values()
    assert "set header: false in zone.yaml" in reason
    (shop.folder / "shop/landing/orders/zone.yaml").write_text("header: false\n")
    shop.land("orders", "1.csv", "1,a,2.5\n2,b,3.5\n")
    assert shop.run_one("bronze.orders").rows["result"] == 2


def test_good_files_are_read_once_and_a_bad_one_is_set_aside_as_ever(
    shop: TestLake, passes: list[str]
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.csv", "id,v\n1,a\n2,b\n")
    first = shop.run_one("bronze.orders")
    assert (first.rows["result"], passes) == (2, ["infer"])

    shop.land("orders", "2.csv", "id,v\n3,c\n")
    shop.land("orders", "3.csv", "id,v\n4,d\n")
    passes.clear()
    second = shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), second.rows["result"]) == ([1, 2, 3, 4], 2)
    assert (passes, second.files) == ([], {"shop.orders": 2})

    shop.land("orders", "4.csv", "id,v\n5,e\n")
    shop.land("orders", "5.csv", "id,v\n6,f\nseven,g\n")
    third = shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), third.rows["result"]) == ([1, 2, 3, 4, 5], 1)
    ((path, reason),) = reasons(shop).items()
    assert path.endswith("5.csv")
    assert reason.startswith("1 of 2 rows does not fit: 'seven,g' (line 3) has 'seven' in the")
    phases = [phase.name for phase in second.phases]
    assert [phase.name for phase in third.phases] == ["CheckFirst", *phases]
    assert (third.files, len(third.set_aside)) == ({"shop.orders": 1}, 1)
    assert (shop.refs("bronze.orders"), shop.hidden()) == ({"main"}, [])
    assert shop.snapshots("bronze.orders") == 3


def test_a_first_run_whose_sample_misleads_creates_the_table_with_the_types_of_all_values(
    shop: TestLake, passes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("propose.SMALL", 0), ("sample._HEAD", 32)):
        monkeypatch.setattr(f"lakebed.landing.checking.{name}", size)
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    rows = "".join(f"{number},a\n" for number in range(20))
    shop.land("orders", "1.csv", f"id,v\n{rows}{2**40},b\n")
    shop.land("orders", "2.csv", "id,v\n77,\n")
    record = shop.run_one("bronze.orders")
    assert sorted(ids(shop, "bronze.orders")) == [*range(20), 77, 2**40]
    assert (record.rows["result"], "check" in passes) == (22, True)
    types = {one.column: one.type for one in shop.lake.zones.show(ZoneName("shop", "orders")).types}
    assert types == {"id": "bigint", "v": "string"}
    assert shop.hidden() == []
    assert not list((shop.folder / ".data").glob("staging/*/samples/*"))


def test_staged_rows_are_checked_while_they_are_staged(shop: TestLake, passes: list[str]) -> None:
    shop.pipeline("bronze.orders", ORDERS, f"{KEYED}on_schema_change: append\n")
    shop.land("orders", "1.csv", "id,v\n1,a\n2,b\n")
    shop.run_one("bronze.orders")
    passes.clear()
    shop.land("orders", "2.csv", "id,v\n2,c\n3,d\n")
    shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), passes) == ([1, 2, 3], [])

    # a new column is added for files of which one then turns out to be bad
    shop.land("orders", "3.csv", "id,v,more\n4,e,1\n")
    shop.land("orders", "4.csv", "id,v\nx,f\n")
    record = shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), len(record.set_aside)) == ([1, 2, 3, 4], 1)
    assert [one.name for one in shop.lake.tables.describe("bronze.orders").columns] == [
        "id",
        "v",
        "more",
    ]
    assert (shop.refs("bronze.orders"), shop.hidden()) == ({"main"}, [])


def test_a_text_with_a_line_break_deep_in_a_file_does_not_become_two_rows(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.csv", "id,note\na1,a note\n")
    shop.run_one("bronze.orders")
    beyond_what_is_sniffed = "".join(f"a{number},a note\n" for number in range(2, 8_000))
    two_lines = 'a8000,"Hello\nDear Bob, bye"\n'
    shop.land("orders", "2.csv", f"id,note\n{beyond_what_is_sniffed}{two_lines}a8001,b\n")
    shop.land("orders", "3.csv", 'id,note\na9000,a pipe of 5"\na9001,"7"""\n')
    shop.run_one("bronze.orders")
    assert ids(shop, "bronze.orders") == ["a1", "a9000", "a9001"]
    ((path, reason),) = reasons(shop).items()
    assert path.endswith("2.csv")
    assert reason.startswith("the quotes of line 8000 are not closed; if its fields hold line")


def test_a_text_with_the_digits_of_a_long_number_takes_no_second_reading(
    shop: TestLake, passes: list[str]
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.ndjson", '{"id": 1, "amount": 0.5, "note": "a"}\n')
    shop.run_one("bronze.orders")
    passes.clear()
    note = "sha1 4001234567890123456e35 0.12345678901234567890"
    shop.land("orders", "2.ndjson", f'{{"id": 2, "amount": 0.25, "note": "{note}"}}\n')
    shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), "check" in passes) == ([1, 2], False)
    shop.land("orders", "3.ndjson", '{"id": 3, "amount": 0.12345678901234567890, "note": "b"}\n')
    shop.run("bronze.orders")
    assert "check" in passes


def test_a_query_that_fails_on_a_row_of_a_bad_file_publishes_the_good_files(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.orders", ORDERS, APPEND)
    shop.land("orders", "1.csv", "id,v\n1,a\n")
    shop.run_one("bronze.orders")
    failing = "SELECT id, if(v = '\ufffd', raise_error('odd'), v) AS v FROM"
    shop.pipeline("bronze.orders", f"{failing} {{{{ landing_zone('orders') }}}}", APPEND)
    shop.land("orders", "2.csv", b"id,v\n2,\xff\n")
    shop.land("orders", "3.csv", "id,v\n3,c\n")
    record = shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), len(record.set_aside)) == ([1, 3], 1)


@in_turn(0, of=3)
def test_a_run_killed_after_it_has_taken_back_unproved_rows_is_healed_by_the_next(
    tmp_path: Path, spark_home: Path
) -> None:
    shop = TestLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    shop.pipeline("bronze.orders", ORDERS, f"{APPEND}on_schema_change: append\n")
    shop.land("orders", "1.csv", "id,v\n1,a\n")
    shop.run_one("bronze.orders")
    shop.land("orders", "2.csv", "id,v,more\n2,b,1\n")
    shop.land("orders", "3.csv", "id,v\nx,c\n")
    killed(shop.folder, "after", "OpenBranch", "second")
    assert ids(shop, "bronze.orders") == [1]
    record = shop.run_one("bronze.orders")
    assert (ids(shop, "bronze.orders"), record.rows["result"]) == ([1, 2], 1)
    assert (shop.refs("bronze.orders"), shop.hidden()) == ({"main"}, [])
    shop.lake.close()
