"""Statements of strategies: compared as text, or parsed."""

import pytest
import sqlglot
from sqlglot import exp

from lakebed.ports import Field
from lakebed.tables.merging.merge import newest_rows, write_statement
from lakebed.tables.merging.strategies import (
    AppendOnly,
    DeleteInsert,
    FullRefresh,
    Incremental,
    InsertOverwrite,
    Scd2,
    SoftDelete,
    Strategy,
)

NOW = "TIMESTAMP '2026-11-15 12:00:00.123456'"
FIELDS = (Field("id", "bigint"), Field("at", "timestamp"), Field("name", "string"))
ODD = (
    Field("a.b`c#", "bigint"),
    Field("select", "timestamp"),
    Field("Straße 1", "map<string,int>"),
    Field("_mark", "string"),
)


def written(
    strategy: Strategy, columns: tuple[Field, ...] = FIELDS, *, repeats: bool = True
) -> str:
    text = write_statement(
        strategy, target="T", staged="S", columns=columns, now=NOW, repeats=repeats
    )
    assert text
    return text


@pytest.mark.parametrize("strategy", [FullRefresh(), AppendOnly()])
def test_whole_frames_need_no_statement(strategy: Strategy) -> None:
    assert write_statement(strategy, target="T", staged="S", columns=FIELDS, now=NOW) is None


def test_an_incremental_run_updates_and_inserts() -> None:
    assert (
        written(Incremental(unique_key=("id", "name")))
        == "MERGE INTO T t USING (SELECT `id`, `at`, `name` FROM S) s ON t.`id` = s.`id` AND"
        " t.`name` = s.`name`\nWHEN MATCHED THEN UPDATE SET t.`id` = s.`id`, t.`at` = s.`at`,"
        " t.`name` = s.`name`\nWHEN NOT MATCHED THEN INSERT (`id`, `at`, `name`) VALUES (s.`id`,"
        " s.`at`, s.`name`)"
    )


def test_with_an_order_the_newest_row_is_merged_unless_it_is_late() -> None:
    text = written(Incremental(unique_key=("id",), watermark_column="at"))
    assert (
        "row_number() OVER (PARTITION BY `id` ORDER BY `at` DESC NULLS LAST) AS `_place` FROM S)"
        " WHERE `_place` = 1" in text
    )
    assert (
        "WHEN MATCHED AND NOT (t.`at` IS NOT NULL AND (s.`at` IS NULL OR s.`at` < t.`at`)) THEN"
        " UPDATE" in text
    )


def test_no_newest_row_is_sought_where_no_key_repeats() -> None:
    strategy = Incremental(unique_key=("id",), watermark_column="at")
    assert "row_number" not in written(strategy, repeats=False)
    assert "AND NOT (t.`at`" in written(strategy, repeats=False)
    assert (
        newest_rows(Incremental(unique_key=("id",)), staged="S", columns=FIELDS)
        == "SELECT `id`, `at`, `name` FROM S"
    )


def test_a_soft_delete_marks_absent_keys_only_once_and_unmarks_returning_ones() -> None:
    text = written(SoftDelete(unique_key=("id",)))
    assert (
        "WHEN NOT MATCHED BY SOURCE AND t.`_deleted_at` IS NULL THEN UPDATE SET t.`_deleted_at` ="
        f" {NOW}" in text
    )
    assert "t.`name` = s.`name`, t.`_deleted_at` = NULL\n" in text
    assert "IS NOT NULL THEN UPDATE" not in text


def test_a_returning_key_loses_its_mark_though_its_row_is_late() -> None:
    text = written(SoftDelete(unique_key=("id",), watermark_column="at"))
    assert (
        "WHEN MATCHED AND t.`_deleted_at` IS NOT NULL THEN UPDATE SET t.`_deleted_at` = NULL\nWHEN"
        " NOT MATCHED THEN" in text
    )


def test_null_is_a_partition_and_no_key() -> None:
    assert "ON t.`at` <=> s.`at` AND" in written(InsertOverwrite(partition_column="at"))
    assert "ON t.`id` = s.`id` AND" in written(DeleteInsert(unique_key=("id",)))


def test_the_rows_of_a_partition_are_divided_by_columns_that_can_be_hashed() -> None:
    columns = (Field("day", "date"), Field("tags", "map<string,int>"), Field("id", "bigint"))
    assert "pmod(hash(t.`id`), 16) = s.`_mark`" in written(
        InsertOverwrite(partition_column="DAY"), columns
    )
    assert "pmod(hash(t.`day`), 16) = s.`_mark`" in written(
        InsertOverwrite(partition_column="day"), columns[:2]
    )


def test_history_closes_and_opens_at_one_time() -> None:
    text = written(Scd2(unique_key=("id",), scd_valid_from="since", scd_valid_to="until"))
    assert f"WHEN MATCHED THEN UPDATE SET t.`until` = {NOW}\n" in text
    assert text.endswith(
        f"INSERT (`id`, `at`, `name`, `since`, `until`) VALUES (s.`id`, s.`at`, s.`name`, {NOW},"
        " NULL)"
    )
    assert "SELECT DISTINCT" not in text


def test_rows_that_were_there_before_the_history_get_a_beginning() -> None:
    strategy, then = Scd2(unique_key=("id",)), "TIMESTAMP '2026-11-01 00:00:00+00:00'"
    text = write_statement(strategy, target="T", staged="S", columns=FIELDS, now=NOW, since=then)
    assert text
    assert f"WHEN MATCHED THEN UPDATE SET t.`valid_to` = {NOW}, t.`valid_from` = {then}\n" in text
    assert text.endswith(f"WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.`valid_from` = {then}")
    assert "BY SOURCE" not in written(strategy)


def test_history_compares_all_columns_but_the_key_however_it_is_spelt() -> None:
    assert (
        "h.`ID` = b.`ID` AND h.`valid_to` IS NULL AND least(TRUE, h.`at` <=> b.`at`, h.`name` <=>"
        " b.`name`))" in written(Scd2(unique_key=("ID",)))
    )


def test_history_closes_absent_keys_only_if_asked() -> None:
    text = written(Scd2(unique_key=("id",), scd_close_absent=True))
    assert (
        "UNION ALL SELECT `id`, NULL, NULL, 0 FROM (SELECT DISTINCT `id` FROM T h\nLEFT ANTI"
        " JOIN S b" in text
    )
    assert "SEMI" not in text
    assert "LEFT SEMI JOIN" in written(
        Scd2(unique_key=("id",), watermark_column="at", scd_close_absent=True)
    )


@pytest.mark.parametrize(
    "strategy",
    [
        Incremental(unique_key=("a.b`c#",), watermark_column="select"),
        DeleteInsert(unique_key=("a.b`c#",)),
        Scd2(unique_key=("a.b`c#",), watermark_column="select", scd_close_absent=True),
        InsertOverwrite(partition_column="a.b`c#"),
        SoftDelete(unique_key=("a.b`c#",), watermark_column="select"),
    ],
    ids=lambda strategy: strategy.strategy,
)
def test_names_are_quoted_wherever_they_stand(strategy: Strategy) -> None:
    (tree,) = sqlglot.parse(written(strategy, ODD), read="spark")
    assert isinstance(tree, exp.Merge)
    named = {identifier.name for identifier in tree.find_all(exp.Identifier) if identifier.quoted}
    bare = {
        identifier.name for identifier in tree.find_all(exp.Identifier) if not identifier.quoted
    }
    assert {field.name for field in ODD} <= named
    assert bare <= {"T", "S", "t", "s", "b", "h", "x0", "key", "value"}
