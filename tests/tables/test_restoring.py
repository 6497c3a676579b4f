"""After a run that failed: its own columns go, nobody else's."""

from datetime import UTC, datetime

import pytest

from lakebed.ports import Column, TableMetadata
from lakebed.tables import schema_to_restore

NOW = datetime(2026, 11, 15, tzinfo=UTC)


def columns(**named: str) -> tuple[Column, ...]:
    """By name: id and type."""
    return tuple(
        Column(name, text.split()[1], required=False, id=int(text.split()[0]))
        for name, text in named.items()
    )


BEFORE = columns(id="1 int", v="2 int")


def table(present: tuple[Column, ...]) -> TableMetadata:
    return TableMetadata(
        "u", "l", 2, NOW, present, (), (), {}, {}, {}, schema=7, schemas={0: BEFORE, 7: present}
    )


@pytest.mark.parametrize(
    ("present", "touched"),
    [
        (columns(id="1 int", v="2 int", note="3 string"), ["note"]),
        (columns(id="1 int", v="2 long"), ["v"]),
        (columns(id="1 int", v="2 struct<3:a,4:b>"), ["v"]),
    ],
)
def test_what_the_run_has_done_to_the_columns_is_set_back(
    present: tuple[Column, ...], touched: list[str]
) -> None:
    assert schema_to_restore(table(present), 0, touched=touched) == 0


@pytest.mark.parametrize(
    "present",
    [
        columns(id="1 int", v="2 int", note="3 string", theirs="4 string"),
        columns(id="1 int", value="2 int", note="3 string"),
        columns(id="1 int", note="3 string"),
        columns(id="1 int", v="2 long", note="3 string"),
    ],
)
def test_columns_that_somebody_else_has_added_renamed_dropped_or_widened_since_stay(
    present: tuple[Column, ...],
) -> None:
    assert schema_to_restore(table(present), 0, touched=["note"]) is None


def test_a_run_that_was_half_published_and_taken_back_may_have_dropped_and_renamed() -> None:
    present = columns(id="1 int", value="2 int", note="3 string")
    assert schema_to_restore(table(present), 0, touched=["note"], reshaped=True) == 0
    theirs = columns(id="1 int", value="2 int", note="3 string", theirs="4 string")
    assert schema_to_restore(table(theirs), 0, touched=["note"], reshaped=True) is None


def test_nothing_is_set_back_where_nothing_was_changed() -> None:
    assert schema_to_restore(table(BEFORE), None, touched=[]) is None
    assert schema_to_restore(table(BEFORE), 7, touched=[]) is None
