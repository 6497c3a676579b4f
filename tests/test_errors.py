"""Errors: one tree, each drawn in its docstring, each with its facts."""

import inspect
import pickle

import pytest

from lakebed import errors
from lakebed.errors import (
    BadSettings,
    LakebedError,
    LeaseHeld,
    UnknownName,
    near,
    sentence,
    suggestion,
)

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, LakebedError)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_drawn_in_the_tree_and_says_what_it_means(kind: type[LakebedError]) -> None:
    assert errors.__doc__ is not None
    assert kind.__name__ in errors.__doc__
    assert kind.__doc__
    assert kind.exit_code in {1, 2}


def test_a_message_says_what_where_whether_data_is_safe_and_what_next() -> None:
    error = LakebedError("it broke.", where="here", next="Fix it.")
    assert str(error) == "here: it broke. Nothing was changed. Fix it."


def test_the_parts_of_a_message_have_names() -> None:
    parts = LeaseHeld("orders", "Alice", 3, 60).as_dict()
    assert list(parts) == ["kind", "what", "where", "safe", "next"]
    assert parts["kind"] == "LeaseHeld"
    assert "held by Alice" in parts["what"]


def test_an_unknown_name_suggests_near_ones() -> None:
    assert "Did you mean orders?" in str(UnknownName("table", "ordres", ["orders", "customers"]))
    assert near("ORDERS", ["orders"]) == ("orders",)
    assert suggestion(("a", "b", "c")) == "Did you mean a, b or c?"
    assert suggestion(()) == ""


def test_an_error_is_the_same_in_another_process() -> None:
    error = UnknownName("table", "sals", ["sales"])
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), vars(sent)) == (UnknownName, str(error), vars(error))


def test_only_what_is_near_is_suggested() -> None:
    tables = ["shop.silver.customers", "shop.silver.orders"]
    assert near("shop.silver.ordres", tables) == ("shop.silver.orders",)
    assert (
        near("shop.silver.payments", tables) == ()
    )  # a namespace in common makes no two tables alike
    assert near("shop.bronze.orders", tables) == ("shop.silver.orders",)
    assert near("zzz", ["a", "b"]) == ()


def test_a_sentence_ends_once() -> None:
    assert [sentence(text) for text in ("a", "a.", "Did you mean b?")] == [
        "a.",
        "a.",
        "Did you mean b?",
    ]


def test_a_setting_error_shows_its_line() -> None:
    shown = str(BadSettings("wrong.", where="lakebed.yaml", line=3, excerpt="  x: 1"))
    assert "lakebed.yaml:3" in shown
    assert "3 |   x: 1" in shown


def test_a_held_lease_says_by_whom_and_until_when() -> None:
    assert "held by Alice" in str(LeaseHeld("orders", "Alice", 3, 60))
    assert "60 s" in str(LeaseHeld("orders", "Alice", 3, 60))
