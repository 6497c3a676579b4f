"""Columns that get another name."""

import pytest

from lakebed.errors import BadPipeline
from lakebed.tables import (
    STRATEGIES,
    Renames,
    apply_renames,
    pending_renames,
    rename_conflict,
    rename_strategy_columns,
)


@pytest.mark.parametrize(
    ("renames", "said"),
    [
        ((("a", "b"),), ""),
        ((("a", "b"), ("c", "d")), ""),
        ((("a", "A"),), "a is renamed to itself"),
        ((("a", "b"), ("a", "c")), "a gets two new names"),
        ((("a", "c"), ("b", "C")), "two columns become c"),
        ((("a", "b"), ("b", "c")), "b is renamed and is itself the new name of another column"),
        ((("a", "b"), ("B", "a")), "a is renamed and is itself the new name of another column"),
    ],
)
def test_chains_swaps_and_clashes_are_told(renames: Renames, said: str) -> None:
    assert rename_conflict(renames) == said


def test_a_rename_is_due_until_it_was_done() -> None:
    declared = (("CUST", "customer"),)
    assert pending_renames(["id", "Cust"], declared, where="x") == (("Cust", "customer"),)
    assert pending_renames(["id", "customer"], declared, where="x") == ()


@pytest.mark.parametrize(
    ("present", "said"), [(["cust", "customer"], "both"), (["custs"], "neither")]
)
def test_a_rename_that_the_table_contradicts_is_refused(present: list[str], said: str) -> None:
    with pytest.raises(BadPipeline, match=said) as refused:
        pending_renames(present, (("cust", "customer"),), where="x")
    assert said == "both" or "Did you mean custs" in refused.value.next


def test_names_and_strategies_follow() -> None:
    assert apply_renames(["A", "b"], (("a", "x"),)) == ("x", "b")
    merge = STRATEGIES["incremental"].model_validate(
        {"unique_key": ("id", "k"), "watermark_column": "at"}
    )
    moved = rename_strategy_columns(merge, (("id", "key"), ("at", "seen")))
    assert (moved.keys, moved.order, moved.strategy) == (("key", "k"), "seen", "incremental")
