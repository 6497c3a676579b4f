"""A change of strategy: from every one to every other it works, or is refused with the reason."""

import json
from datetime import UTC, datetime

import pytest

from lakebed.errors import BadBatch
from lakebed.names import TableName
from lakebed.ports import MAIN, OWN_COLUMNS, Column, Field, Snapshot, SnapshotRef, TableMetadata
from lakebed.tables.columns.schema import SchemaPolicy
from lakebed.tables.merging.owned_columns import (
    guess_owned_columns,
    own_columns_summary,
    owned_columns,
    require_compatible_strategy,
)
from lakebed.tables.merging.strategies import STRATEGIES, Scd2, Strategy

TABLE, NOW = TableName("shop", "silver", "a"), datetime(2026, 11, 15, tzinfo=UTC)
RESULT = (Field("id", "bigint"), Field("day", "date"))
SETTINGS = {name: {"unique_key": ("id",), "partition_column": "day"} for name in STRATEGIES}


def strategy(name: str) -> Strategy:
    fields = STRATEGIES[name].model_fields
    return STRATEGIES[name].model_validate(
        {key: value for key, value in SETTINGS[name].items() if key in fields}
    )


def own(name: str) -> list[str]:
    return [column for column, _ in strategy(name).own_columns]


def refusal(
    to: Strategy,
    owned: list[str],
    result: tuple[Field, ...] = RESULT,
    *,
    policy: SchemaPolicy = "append",
) -> str:
    there = [*(field.name for field in RESULT), *owned]
    try:
        require_compatible_strategy(to, owned, result, policy=policy, there=there, table=TABLE)
    except BadBatch as error:
        return error.what
    return ""


# From a strategy that adds columns only --full-refresh leads away; to one that adds some, `append`
# or `sync` does.
PLAIN = tuple(name for name in STRATEGIES if name not in {"scd2", "soft_delete"})


@pytest.mark.parametrize("to", STRATEGIES)
@pytest.mark.parametrize("former", STRATEGIES)
def test_from_every_strategy_to_every_other_it_works_or_the_reason_is_said(
    former: str, to: str
) -> None:
    said = refusal(strategy(to), own(former))
    if former in PLAIN or former == to:
        assert said == ""
    else:
        assert all(column in said for column in own(former))
        assert to in said
    replaced = refusal(
        strategy(to), []
    )  # --full-refresh: no row stays, so nothing is owned any more
    assert replaced == ""


@pytest.mark.parametrize("to", STRATEGIES)
def test_columns_of_the_strategy_come_only_where_columns_may_come(to: str) -> None:
    said = refusal(strategy(to), [], policy="fail")
    assert all(column in said for column in own(to))
    assert bool(said) == bool(own(to))
    assert refusal(strategy(to), own(to), policy="fail") == ""


def test_a_history_whose_columns_have_other_names_from_now_on_is_refused() -> None:
    other = Scd2(unique_key=("id",), scd_valid_from="since", scd_valid_to="until")
    assert "valid_from and valid_to" in refusal(other, ["valid_from", "valid_to"])


def test_versions_may_be_appended_with_their_own_times() -> None:
    versions = (*RESULT, Field("valid_from", "timestamp"), Field("valid_to", "timestamp"))
    assert refusal(strategy("append_only"), own("scd2"), versions) == ""
    assert refusal(strategy("incremental"), own("scd2"), versions) != ""


def table(
    *columns: str, stamps: tuple[list[str] | None, ...], at_first: tuple[str, ...] = ()
) -> TableMetadata:
    """A table of these columns, whose snapshots say so of those that its strategy added; the first
    one had others.
    """
    now, then = (
        tuple(Column(name, "timestamptz", False, id=i) for i, name in enumerate(names))
        for names in (columns, at_first)
    )
    summaries = [
        {} if stamp is None else {OWN_COLUMNS: own_columns_summary(stamp)} for stamp in stamps
    ]
    snapshots = {
        number: Snapshot(
            number, number - 1 or None, NOW, "append", summary, schema=0 if number == 1 else 1
        )
        for number, summary in enumerate(summaries, 1)
    }
    refs = {MAIN: SnapshotRef(MAIN, len(stamps), "branch")}
    return TableMetadata(
        "u",
        "l",
        2,
        NOW,
        now,
        (),
        (),
        {},
        snapshots,
        refs,
        schema=1,
        schemas={0: then if at_first else now, 1: now},
    )


def test_the_last_snapshot_that_says_so_tells_which_columns_the_strategy_added() -> None:
    said = table("id", "a", "b", stamps=(["a", "b"], None, None))
    assert owned_columns(said, 3) == ("a", "b")
    assert owned_columns(table("id", "a", "b", stamps=(["a", "b"], [], None)), 3) == ()
    assert owned_columns(table("id", "a", "b", stamps=(None, None)), 2) is None
    assert json.loads(said.snapshots[1].summary[OWN_COLUMNS]) == ["a", "b"]


def test_a_renamed_column_is_known_by_its_new_name_and_a_dropped_one_ends_the_history() -> None:
    assert owned_columns(
        table("id", "since", "b", stamps=(["a", "b"],), at_first=("id", "a", "b")), 1
    ) == ("since", "b")
    assert owned_columns(table("id", "a", stamps=(["a", "b"],), at_first=("id", "a", "b")), 1) == ()


def test_of_an_older_table_the_usual_names_tell_unless_the_result_has_them() -> None:
    assert guess_owned_columns(table("id", "valid_from", "valid_to", stamps=(None,)), RESULT) == (
        "valid_from",
        "valid_to",
    )
    assert guess_owned_columns(table("id", "_deleted_at", stamps=(None,)), RESULT) == (
        "_deleted_at",
    )
    versions = (*RESULT, Field("valid_from", "timestamp"), Field("valid_to", "timestamp"))
    assert (
        guess_owned_columns(table("id", "valid_from", "valid_to", stamps=(None,)), versions) == ()
    )
