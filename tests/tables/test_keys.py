"""Checks of keys as text, their refusals, and what is counted."""

from typing import Any

import pytest

from lakebed.errors import BadBatch
from lakebed.ports import Field
from lakebed.tables.merging.keys import (
    key_check_query,
    offending_keys_query,
    require_strategy_columns,
    require_valid_keys,
    row_counts,
    tie_check_query,
    violations,
)
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

FIELDS = (
    Field("id", "bigint"),
    Field("day", "date"),
    Field("at", "int"),
    Field("tags", "map<string,int>"),
)
ALONE = Incremental(unique_key=("id", "day"))
IN_ORDER = Incremental(unique_key=("id",), watermark_column="at")


@pytest.mark.parametrize(
    "strategy", [FullRefresh(), AppendOnly(), InsertOverwrite(partition_column="day")]
)
def test_without_keys_there_is_nothing_to_check(strategy: Strategy) -> None:
    assert key_check_query(strategy, staged="s") is None
    assert tie_check_query(strategy, {}, staged="s", columns=FIELDS) is None
    assert violations(strategy, {}) == {}


def test_where_several_rows_a_key_are_welcome_only_nulls_are_counted() -> None:
    text = key_check_query(DeleteInsert(unique_key=("id", "a`b")), staged="s")
    assert text == "SELECT count(*) AS rows, count(*) - count(`id`, `a``b`) AS null_keys FROM s"


def test_repeated_keys_are_found_by_sorting_them() -> None:
    text = key_check_query(ALONE, staged="s") or ""
    assert "row_number() OVER (PARTITION BY `id`, `day` ORDER BY `id`, `day`)" in text
    assert "`id` IS NULL OR `day` IS NULL" in text


@pytest.mark.parametrize(
    ("strategy", "counts", "asked"),
    [
        (IN_ORDER, {"repeated": 1}, True),
        (IN_ORDER, {"repeated": 0}, False),
        (ALONE, {"repeated": 1}, False),
        (
            Incremental(unique_key=("ID", "day", "tags"), watermark_column="AT"),
            {"repeated": 1},
            False,
        ),
    ],
)
def test_ties_are_looked_for_only_where_there_can_be_any(
    strategy: Strategy, counts: dict[str, int], asked: bool
) -> None:
    assert bool(tie_check_query(strategy, counts, staged="s", columns=FIELDS)) is asked


def test_a_map_among_the_values_does_not_hinder_the_search_for_ties() -> None:
    assert "map_entries(`tags`)" in (
        tie_check_query(IN_ORDER, {"repeated": 1}, staged="s", columns=FIELDS) or ""
    )


@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        (ALONE, {"null_keys": 1, "repeated": 2}),
        (IN_ORDER, {"null_keys": 1, "tied": 3}),
    ],
)
def test_an_order_turns_repeated_keys_from_an_offence_into_rows_to_choose_from(
    strategy: Strategy, found: dict[str, int]
) -> None:
    counts = {"rows": 9, "keys": 5, "null_keys": 1, "repeated": 2, "tied": 3}
    assert violations(strategy, counts) == found
    text = offending_keys_query(strategy, counts, staged="s", columns=FIELDS)
    assert [kind for kind in ("null_keys", "repeated", "tied") if f"'{kind}'" in text] == list(
        found
    )


def test_a_fit_batch_is_not_refused() -> None:
    require_valid_keys(
        ALONE, {"rows": 3, "null_keys": 0, "keys": 3, "repeated": 0}, [], table="shop.silver.t"
    )


@pytest.mark.parametrize(
    ("strategy", "counts", "said"),
    [
        (
            ALONE,
            {"repeated": 2},
            (
                "shop.silver.t: 2 keys occur in more than one row, and nothing says which is the"
                ' newest (id, day): {"id":1} (3×). The table is unchanged. Set watermark_column, so'
                " that the newest row of a key wins, or keep one row per key in the query."
            ),
        ),
        (
            ALONE,
            {"null_keys": 1},
            (
                'shop.silver.t: 1 row has NULL in unique_key (id, day): {"id":1} (3×). The table is'
                " unchanged. Leave such rows out in the query (WHERE id IS NOT NULL), or choose"
                " another unique_key."
            ),
        ),
        (
            IN_ORDER,
            {"tied": 1},
            (
                "shop.silver.t: 1 key occurs in rows that differ and are equally new by at (id):"
                ' {"id":1} (3×). The table is unchanged. Choose a watermark_column that tells them'
                " apart, or keep one row per key in the query."
            ),
        ),
    ],
)
def test_a_refusal_names_columns_counts_and_some_keys(
    strategy: Strategy, counts: dict[str, int], said: str
) -> None:
    (kind,) = counts
    examples: list[dict[str, Any]] = [
        {"offence": kind, "example": '{"id":1}', "rows": 3},
        {"offence": "another", "example": '{"id":2}', "rows": 1},
    ]
    with pytest.raises(BadBatch) as refused:
        require_valid_keys(strategy, counts, examples, table="shop.silver.t")
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("strategy", "what", "next"),
    [
        (Incremental(unique_key=("idd",)), "unique_key names the column 'idd'", "Did you mean id?"),
        (
            SoftDelete(unique_key=("id",), watermark_column="att"),
            "watermark_column names the column 'att'",
            "Did you mean at?",
        ),
        (
            InsertOverwrite(partition_column="days"),
            "partition_column names the column 'days'",
            "Did you mean day?",
        ),
        (DeleteInsert(unique_key=("tags",)), "which is map<string,int>", "Choose another column."),
        (
            Scd2(unique_key=("id",), scd_valid_to="AT"),
            "a column 'AT', which scd2 adds itself",
            "Leave it out",
        ),
    ],
)
def test_columns_that_do_not_fit_the_strategy_are_refused(
    strategy: Strategy, what: str, next: str
) -> None:
    with pytest.raises(BadBatch) as refused:
        require_strategy_columns(strategy, FIELDS, table="shop.silver.t")
    assert what in refused.value.what
    assert next in refused.value.next


def test_columns_that_fit_pass_in_any_case_of_letters() -> None:
    require_strategy_columns(
        SoftDelete(unique_key=("ID",), watermark_column="At"), FIELDS, table="shop.silver.t"
    )


def merged(**counts: int) -> dict[str, str]:
    return {
        f"spark.merge-into.num-target-rows-{word.replace('_', '-')}": str(count)
        for word, count in counts.items()
    }


@pytest.mark.parametrize(
    ("strategy", "summary", "keys", "counted"),
    [
        (
            FullRefresh(),
            {"added-records": "3", "deleted-records": "2"},
            None,
            {"inserted": 3, "deleted": 2},
        ),
        (IN_ORDER, {"added-records": "3"}, 3, {"inserted": 3, "deleted": 0, "superseded": 3}),
        (ALONE, merged(inserted=2, matched_updated=3), 5, {"inserted": 2, "updated": 3}),
        (
            IN_ORDER,
            merged(inserted=2, matched_updated=1),
            5,
            {"inserted": 2, "updated": 1, "late": 2, "superseded": 1},
        ),
        (IN_ORDER, merged(inserted=2, matched_updated=-1), 5, {"inserted": 2, "superseded": 1}),
        (
            InsertOverwrite(partition_column="day"),
            merged(inserted=6, deleted=4),
            None,
            {"inserted": 6, "deleted": 4},
        ),
        (
            SoftDelete(unique_key=("id",)),
            merged(inserted=1, updated=9, matched_updated=5, not_matched_by_source_updated=4),
            6,
            {"inserted": 1, "updated": 5, "deleted": 4},
        ),
        (
            Scd2(unique_key=("id",)),
            merged(inserted=2, matched_updated=1),
            6,
            {"inserted": 2, "updated": 1, "unchanged": 4},
        ),
    ],
)
def test_what_was_done_is_read_from_the_summary(
    strategy: Strategy, summary: dict[str, str], keys: int | None, counted: dict[str, int]
) -> None:
    met = (
        {"doubled": 0, "late": counted.get("late", 0), "gone": 0}
        if strategy.one_row_per_key
        else {}
    )
    assert row_counts(strategy, summary, staged_rows=6, distinct_keys=keys, met=met) == counted
