"""How a table's layout follows what a pipeline says."""

import pytest

from lakebed.names import TableName
from lakebed.tables import (
    Arrangement,
    ArrangementChange,
    arrangement_of,
    arrangement_statements,
    parse_sort_field,
    plan_arrangement,
)

ORDERS = TableName("shop", "silver", "orders")
ALTER = "ALTER TABLE lake.`shop`.`silver`.`orders`"
GROUPS = {"write.parquet.row-group-size-bytes": "7"}


def planned(
    present: Arrangement, wanted: Arrangement
) -> tuple[list[str], list[str], list[str] | None]:
    change = plan_arrangement(present, wanted)
    return (
        [*map(str, change.drop)],
        [*map(str, change.add)],
        None if change.sort is None else [*map(str, change.sort)],
    )


def test_what_is_not_said_stays() -> None:
    assert not plan_arrangement(arrangement_of(["day(at)"], ["id asc"]), Arrangement())
    assert not plan_arrangement(
        arrangement_of(["day(at)"], ["id asc"]), arrangement_of(["days(AT)"], ["ID"])
    )


def test_fields_go_and_come_and_their_order_does_not_matter() -> None:
    present = arrangement_of(["day(at)", "c"], [])
    assert planned(present, arrangement_of(["c", "hours(at)", "bucket(8, id)"], [])) == (
        ["day(at)"],
        ["hour(at)", "bucket(8, id)"],
        None,
    )
    assert planned(present, arrangement_of(["c", "day(at)"], [])) == ([], [], None)
    assert planned(present, Arrangement(())) == (["day(at)", "c"], [], None)


def test_another_order_of_sorting_matters() -> None:
    present = arrangement_of([], ["id asc", "at desc"])
    assert planned(present, arrangement_of([], ["at desc", "id"]))[2] == ["at desc", "id asc"]
    assert planned(present, arrangement_of([], ["id nulls last", "at desc"]))[2] == [
        "id asc nulls last",
        "at desc",
    ]
    assert planned(present, arrangement_of([], []))[2] == []


@pytest.mark.parametrize(
    ("given", "spark"),
    [
        ("id", "`id` ASC NULLS FIRST"),
        ("a b DESC", "`a b` DESC NULLS LAST"),
        ("bucket(8, id) desc nulls first", "bucket(8, `id`) DESC NULLS FIRST"),
        ("`x`", "`x` ASC NULLS FIRST"),
    ],
)
def test_a_term_of_a_sort_order_is_quoted(given: str, spark: str) -> None:
    assert parse_sort_field(given).spark == spark


def test_columns_may_be_called_otherwise() -> None:
    said = arrangement_of(["day(seen)"], ["seen desc"]).with_renames((("seen", "at"),))
    assert said == arrangement_of(["day(at)"], ["at desc"])
    assert said.columns == ("at", "at")


def test_a_change_is_a_statement_each_and_row_groups_follow_the_order() -> None:
    change = plan_arrangement(arrangement_of(["c"], []), arrangement_of(["day(at)"], ["id"]))
    assert arrangement_statements(ORDERS, change, properties=GROUPS) == (
        f"{ALTER} DROP PARTITION FIELD `c`",
        f"{ALTER} ADD PARTITION FIELD days(`at`)",
        f"{ALTER} WRITE ORDERED BY `id` ASC NULLS FIRST",
        f"{ALTER} SET TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '7')",
    )
    assert arrangement_statements(ORDERS, ArrangementChange(sort=()), properties=GROUPS)[:2] == (
        f"{ALTER} WRITE UNORDERED",
        f"{ALTER} UNSET TBLPROPERTIES IF EXISTS ('write.distribution-mode')",
    )
