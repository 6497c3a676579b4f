"""How a table's layout follows what a pipeline says."""

import pytest

from lakebed.names import TableName
from lakebed.tables import Arrangement, ArrangementChange, layout_of, layout_statements, plan_layout, sort_field

ORDERS = TableName("shop", "silver", "orders")
ALTER = "ALTER TABLE lake.`shop`.`silver`.`orders`"
GROUPS = {"write.parquet.row-group-size-bytes": "7"}


def planned(present: Arrangement, wanted: Arrangement) -> tuple[list[str], list[str], list[str] | None]:
    change = plan_layout(present, wanted)
    return [*map(str, change.drop)], [*map(str, change.add)], None if change.sort is None else [*map(str, change.sort)]


def test_what_is_not_said_stays() -> None:
    assert not plan_layout(layout_of(["day(at)"], ["id asc"]), Arrangement())
    assert not plan_layout(layout_of(["day(at)"], ["id asc"]), layout_of(["days(AT)"], ["ID"]))


def test_fields_go_and_come_and_their_order_does_not_matter() -> None:
    present = layout_of(["day(at)", "c"], [])
    assert planned(present, layout_of(["c", "hours(at)", "bucket(8, id)"], [])) == (
        ["day(at)"],
        ["hour(at)", "bucket(8, id)"],
        None,
    )
    assert planned(present, layout_of(["c", "day(at)"], [])) == ([], [], None)
    assert planned(present, Arrangement(())) == (["day(at)", "c"], [], None)


def test_another_order_of_sorting_matters() -> None:
    present = layout_of([], ["id asc", "at desc"])
    assert planned(present, layout_of([], ["at desc", "id"]))[2] == ["at desc", "id asc"]
    assert planned(present, layout_of([], ["id nulls last", "at desc"]))[2] == ["id asc nulls last", "at desc"]
    assert planned(present, layout_of([], []))[2] == []


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
    assert sort_field(given).spark == spark


def test_columns_may_be_called_otherwise() -> None:
    said = layout_of(["day(seen)"], ["seen desc"]).under((("seen", "at"),))
    assert said == layout_of(["day(at)"], ["at desc"])
    assert said.columns == ("at", "at")


def test_a_change_is_a_statement_each_and_row_groups_follow_the_order() -> None:
    change = plan_layout(layout_of(["c"], []), layout_of(["day(at)"], ["id"]))
    assert layout_statements(ORDERS, change, properties=GROUPS) == (
        f"{ALTER} DROP PARTITION FIELD `c`",
        f"{ALTER} ADD PARTITION FIELD days(`at`)",
        f"{ALTER} WRITE ORDERED BY `id` ASC NULLS FIRST",
        f"{ALTER} SET TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '7')",
    )
    assert layout_statements(ORDERS, ArrangementChange(sort=()), properties=GROUPS)[:2] == (
        f"{ALTER} WRITE UNORDERED",
        f"{ALTER} UNSET TBLPROPERTIES IF EXISTS ('write.distribution-mode')",
    )
