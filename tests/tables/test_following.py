"""What a follower finds changed: nothing that differs is missed, whoever changed it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lakebed.names import TableName
from lakebed.tables import TableChange, TableChangeKind, TableState, find_changes, states_after

ORDERS, SUMS = TableName("shop", "silver", "orders"), TableName("shop", "gold", "sums")
SEEN = TableState("u1", ORDERS, "metadata/1.json", 1, 0)


def only_change(present: TableState | None, *, dropped: str = "") -> TableChange | None:
    changes = find_changes([SEEN], [present] if present else [], dropped={dropped} - {""})
    assert len(changes) <= 1
    return changes[0] if changes else None


def kinds(present: TableState | None, *, dropped: str = "") -> tuple[TableChangeKind, ...]:
    change = only_change(present, dropped=dropped)
    return change.kinds if change else ()


def test_a_table_that_is_as_it_was_has_not_changed() -> None:
    assert only_change(SEEN) is None


def test_every_difference_is_told() -> None:
    later = replace(SEEN, location="metadata/2.json")
    assert kinds(replace(later, snapshot=2)) == ("moved",)
    assert kinds(replace(later, snapshot=None)) == ("moved",)
    assert kinds(replace(later, schema=1)) == ("schema_changed",)
    assert kinds(replace(SEEN, table=SUMS)) == ("renamed",)
    assert kinds(replace(later, table=SUMS, snapshot=2, schema=1)) == (
        "renamed",
        "moved",
        "schema_changed",
    )
    assert kinds(later) == ("amended",)


def test_a_dropped_table_is_not_gone_until_it_is_purged() -> None:
    dropped = only_change(None, dropped="u1")
    assert dropped == TableChange(SEEN, replace(SEEN, dropped=True), ("dropped",))
    assert dropped.now
    assert find_changes([dropped.now], [], dropped={"u1"}) == ()
    assert find_changes([dropped.now], [SEEN])[0].kinds == ("restored",)
    renamed = replace(SEEN, table=SUMS, snapshot=3)
    assert find_changes([dropped.now], [renamed])[0].kinds == ("restored", "renamed", "moved")
    assert find_changes([dropped.now], []) == (TableChange(dropped.now, None, ("gone",)),)
    assert only_change(None) == TableChange(SEEN, None, ("gone",))


def test_a_table_made_again_under_an_old_name_is_another_table() -> None:
    new = replace(SEEN, uuid="u2", location="metadata/9.json")
    assert find_changes([SEEN], [new]) == (
        TableChange(SEEN, None, ("gone",)),
        TableChange(None, new, ("appeared",)),
    )


def test_two_tables_that_swap_names_are_both_renamed() -> None:
    other = TableState("u2", SUMS, "metadata/8.json", 8, 0)
    swapped = [replace(SEEN, table=SUMS), replace(other, table=ORDERS)]
    found = find_changes([SEEN, other], swapped)
    assert {(change.before, change.now) for change in found} == {
        (SEEN, swapped[0]),
        (other, swapped[1]),
    }
    assert all(change.kinds == ("renamed",) for change in found)


def test_nothing_counts_as_gone_while_a_table_cannot_be_read() -> None:
    assert find_changes([SEEN], [], unreadable=[ORDERS]) == ()
    assert find_changes([SEEN], [], unreadable=[SUMS]) == ()  # it may have been renamed
    new = TableState("u2", SUMS, "metadata/8.json", 8, 0)
    assert find_changes([SEEN], [new], unreadable=[ORDERS])[0].kinds == ("appeared",)


def test_a_table_that_a_foreign_writer_registered_twice_is_followed_under_both_names() -> None:
    twice = replace(SEEN, table=SUMS)
    assert find_changes([SEEN], [twice, SEEN]) == (TableChange(None, twice, ("appeared",)),)
    assert find_changes([SEEN, twice], [SEEN]) == (TableChange(twice, None, ("gone",)),)
    assert find_changes([SEEN, twice], [twice, SEEN]) == ()


STATES = st.builds(
    TableState,
    uuid=st.sampled_from("abc"),
    table=st.sampled_from([ORDERS, SUMS, TableName("shop", "silver", "other")]),
    location=st.sampled_from(["1.json", "2.json"]),
    snapshot=st.sampled_from([None, 1, 2]),
    schema=st.integers(0, 1),
)
TABLES = st.lists(STATES, max_size=5, unique_by=lambda state: state.table)


@given(TABLES, TABLES, st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")))
def test_who_handles_every_change_has_the_tables_as_they_are(
    seen: list[TableState], present: list[TableState], were: set[str], dropped: set[str]
) -> None:
    seen = [replace(state, dropped=state.uuid in were) for state in seen]
    changes = find_changes(seen, present, dropped=dropped)
    after = states_after(seen, changes)
    assert {state for state in after if not state.dropped} == set(present)
    assert {state.uuid for state in after if state.dropped} <= dropped
    assert find_changes(after, present, dropped=dropped) == ()
