"""How a table's columns follow a result's."""

import pytest

from lakebed.errors import BadBatch
from lakebed.names import TableName
from lakebed.ports import ColumnAlias, Field
from lakebed.tables import SchemaChange, SchemaPolicy, alter_statements, plan_schema
from lakebed.tables.columns.fitting import NestedChange

ORDERS = TableName("shop", "silver", "orders")
ID, AMOUNT, NOTE = Field("id", "bigint"), Field("amount", "decimal(12,2)"), Field("note", "string")


def change(
    present: list[Field], result: list[Field], policy: SchemaPolicy, **options: object
) -> SchemaChange:
    return plan_schema(ORDERS, present, result, policy=policy, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["fail", "append", "sync"])
def test_the_same_columns_need_no_change(policy: SchemaPolicy) -> None:
    assert change([ID, NOTE], [ID, NOTE], policy) == SchemaChange()


def test_a_new_column_is_added_under_append_and_sync_and_refused_under_fail() -> None:
    assert change([ID], [ID, NOTE], "append") == SchemaChange(add=(NOTE,))
    assert change([ID], [ID, NOTE], "sync") == SchemaChange(add=(NOTE,))
    with pytest.raises(BadBatch, match="new: note string"):
        change([ID], [ID, NOTE], "fail")


def test_a_missing_column_stays_under_append_goes_under_sync_and_is_refused_under_fail() -> None:
    assert change([ID, NOTE], [ID], "append") == SchemaChange()
    assert change([ID, NOTE], [ID], "sync") == SchemaChange(final=("id",))
    with pytest.raises(BadBatch, match="missing: note string"):
        change([ID, NOTE], [ID], "fail")


def test_another_order_of_columns_is_taken_over_by_sync_when_publishing() -> None:
    assert change([ID, NOTE], [NOTE, ID], "sync") == SchemaChange(final=("note", "id"))
    assert change([ID, NOTE], [NOTE, ID], "fail") == SchemaChange()


def test_the_strategys_own_columns_are_never_missing_and_stay_last() -> None:
    own = Field("valid_from", "timestamp")
    assert change([ID, own], [ID], "fail", own=["valid_from"]) == SchemaChange()
    assert change([ID, own], [ID, NOTE], "sync", own=["valid_from"]) == SchemaChange(
        add=(NOTE,), final=("id", "note", "valid_from")
    )


def test_a_column_the_table_is_partitioned_by_cannot_go() -> None:
    with pytest.raises(BadBatch, match="partitioned or sorted"):
        change([ID, NOTE], [ID], "sync", fixed=["note"])


@pytest.mark.parametrize(
    ("present", "arriving"),
    [("int", "bigint"), ("float", "double"), ("decimal(12,2)", "decimal(14,2)")],
)
def test_a_wider_type_widens_the_table_unless_the_policy_is_fail(
    present: str, arriving: str
) -> None:
    assert change([Field("x", present)], [Field("x", arriving)], "append") == SchemaChange(
        widen=(Field("x", arriving),)
    )
    with pytest.raises(BadBatch, match="wider"):
        change([Field("x", present)], [Field("x", arriving)], "fail")


@pytest.mark.parametrize(
    ("present", "arriving"),
    [
        ("bigint", "int"),
        ("int", "smallint"),
        ("double", "float"),
        ("decimal(14,2)", "decimal(12,2)"),
        ("decimal(20,2)", "int"),
        ("timestamp", "date"),
        ("string", "varchar(10)"),
    ],
)
def test_a_narrower_type_fits_as_it_is(present: str, arriving: str) -> None:
    assert change([Field("x", present)], [Field("x", arriving)], "fail") == SchemaChange()


@pytest.mark.parametrize(
    ("present", "arriving"),
    [
        ("bigint", "string"),
        ("string", "bigint"),
        ("timestamp", "string"),
        ("decimal(12,2)", "decimal(12,4)"),
        ("decimal(5,2)", "int"),
    ],
)
@pytest.mark.parametrize("policy", ["fail", "append", "sync"])
def test_a_type_that_does_not_fit_is_refused_with_a_cast(
    present: str, arriving: str, policy: SchemaPolicy
) -> None:
    with pytest.raises(BadBatch) as refused:
        change([Field("x", present)], [Field("x", arriving)], policy)
    assert f"CAST(x AS {present})" in refused.value.next


def test_columns_that_differ_only_in_case_are_one() -> None:
    assert change([ID], [Field("ID", "bigint")], "fail") == SchemaChange()
    with pytest.raises(BadBatch, match="have the same name"):
        change([ID], [ID, Field("Id", "bigint")], "append")


@pytest.mark.parametrize("type_", ["void", "interval day to second"])
def test_a_column_without_a_type_a_table_can_keep_is_refused(type_: str) -> None:
    with pytest.raises(BadBatch, match="no table can store"):
        change([ID], [ID, Field("x", type_)], "append")


def test_alterations_are_statements_that_only_add() -> None:
    wanted = SchemaChange(
        add=(NOTE, Field("a b", "int")), widen=(Field("id", "bigint"),), final=("id",)
    )
    assert alter_statements(ORDERS, wanted) == (
        "ALTER TABLE lake.`shop`.`silver`.`orders` ADD COLUMNS (`note` string, `a b` int)",
        "ALTER TABLE lake.`shop`.`silver`.`orders` ALTER COLUMN `id` TYPE bigint",
    )


@pytest.mark.parametrize("policy", ["fail", "append", "sync"])
def test_a_declared_rename_is_meant_under_every_policy_and_waits_for_publishing(
    policy: SchemaPolicy,
) -> None:
    renames = (("note", "remark"),)
    wanted = change([ID, NOTE], [ID, Field("REMARK", "string")], policy, renames=renames)
    assert wanted == SchemaChange(renames=renames)
    assert (wanted.before_gates, wanted.at_publishing) == (False, True)
    assert wanted.aliases(["id", "note"]) == (
        ColumnAlias("id", "id"),
        ColumnAlias("remark", "note"),
    )


def test_a_rename_goes_with_other_changes() -> None:
    result = [Field("remark", "string"), AMOUNT, ID]
    assert change([ID, NOTE], result, "sync", renames=(("note", "remark"),)) == SchemaChange(
        add=(AMOUNT,), final=("note", "amount", "id"), renames=(("note", "remark"),)
    )


def test_the_strategys_own_column_may_be_renamed() -> None:
    present = [ID, Field("valid_from", "timestamp")]
    wanted = change(present, [ID], "fail", own=["since"], renames=(("valid_from", "since"),))
    assert wanted == SchemaChange(renames=(("valid_from", "since"),))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([ID, NOTE, Field("remark", "string")], "still has a column 'note'"),
        ([ID], "no column 'remark'"),
    ],
)
def test_a_rename_that_the_result_contradicts_is_refused(result: list[Field], said: str) -> None:
    with pytest.raises(BadBatch, match=said):
        change([ID, NOTE], result, "append", renames=(("note", "remark"),))


def test_a_type_that_does_not_fit_is_replaced_under_sync_where_no_row_stays() -> None:
    present, result = [ID, NOTE], [Field("id", "string"), NOTE]
    assert change(present, result, "sync", replaces=True) == SchemaChange(
        add=(Field("__new_id", "string"),),
        final=("__new_id", "note"),
        renames=(("__new_id", "id"),),
    )
    for policy in ("fail", "append"):
        with pytest.raises(BadBatch, match="bigint in the table and string"):
            change(present, result, policy, replaces=True)
    with pytest.raises(BadBatch, match="partitioned or sorted"):
        change(present, result, "sync", replaces=True, fixed=["id"])


def test_a_column_may_be_renamed_and_replaced_at_once() -> None:
    result = [Field("key", "string"), Field("__new_id", "int")]
    assert change([ID], result, "sync", replaces=True, renames=(("id", "key"),)) == SchemaChange(
        add=(Field("__new_id", "int"), Field("__new_id_", "string")),
        final=("__new_id_", "__new_id"),
        renames=(("__new_id_", "key"),),
    )


def test_a_struct_gains_fields_as_a_table_gains_columns() -> None:
    present, result = [Field("s", "struct<`a`:int>")], [Field("s", "struct<`b`:string,`a`:bigint>")]
    inside = (
        NestedChange(("s", "b"), "string", is_new=True),
        NestedChange(("s", "a"), "bigint", is_new=False),
    )
    wanted = change(present, result, "append")
    assert wanted == SchemaChange(nested=inside)
    assert alter_statements(ORDERS, wanted) == (
        "ALTER TABLE lake.`shop`.`silver`.`orders` ADD COLUMNS (`s`.`b` string)",
        "ALTER TABLE lake.`shop`.`silver`.`orders` ALTER COLUMN `s`.`a` TYPE bigint",
    )
    with pytest.raises(BadBatch, match=r"new: s.b string; wider: s.a bigint"):
        change(present, result, "fail")
