"""What reading files costs: the bytes of needed columns in the row groups that are read, and
something for each file.
"""

import json

from lakebed.ports import Always, And, Comparison, In, IsNull, Or, Predicate, ScanColumn
from lakebed.query.layouts.cost import FileCosts, file_costs, wanted_values
from tests.query.layouts.scans import MIB, SCANNED, file

OPEN = 100


def costs(
    *needed: str, sort_by: tuple[str, ...] = (), predicate: Predicate | None = None
) -> FileCosts:
    return file_costs(SCANNED, needed or None, sort_by=sort_by, predicate=predicate, open_cost=OPEN)


def test_only_the_bytes_of_needed_columns_count_and_each_file_is_opened() -> None:
    files = [file("a", columns={1: 10, 2: 20, 3: 70}), file("b", columns={1: 1, 2: 2, 3: 7})]
    found = costs("GEO", "amount").measure(files)
    assert (found.files, found.bytes, found.needed) == (2, 2 * MIB, 99)
    assert found.cost == 99 + 2 * OPEN


def test_without_known_columns_the_whole_files_count() -> None:
    assert costs().measure([file("a", columns={1: 10})]).needed == MIB


def test_a_file_without_sizes_of_columns_counts_by_its_share_of_columns() -> None:
    assert costs("geo").measure([file("a", size=300)]).needed == 100


def test_a_count_needs_no_column() -> None:
    found = file_costs(SCANNED, (), sort_by=(), predicate=None, open_cost=OPEN)
    assert found.measure([file("a", columns={1: 10})]).cost == OPEN


def test_a_nested_column_counts_by_what_is_inside_it() -> None:
    inside = {"type": "map", "key-id": 8, "key": "string", "value-id": 9, "value": "long"}
    struct = {
        "type": "struct",
        "fields": [
            {"id": 6, "name": "a", "type": "int", "required": False},
            {"id": 7, "name": "m", "type": inside, "required": False},
        ],
    }
    listed = {"type": "list", "element-id": 5, "element": struct, "element-required": False}
    columns = [ScanColumn(4, "l", json.dumps(listed), required=False), *SCANNED]
    found = file_costs(columns, ("l",), sort_by=(), predicate=None, open_cost=0)
    assert found.needed == frozenset({4, 5, 6, 7, 8, 9})
    assert found.measure([file("a", columns={1: 100, 6: 3, 8: 4, 9: 5})]).needed == 12


def test_rows_of_one_value_are_in_two_row_groups_at_most_if_files_are_sorted_by_it() -> None:
    one = Comparison("geo", "=", "DE")
    sorted_ = costs("amount", sort_by=("geo asc", "year asc"), predicate=one)
    files = [file("a", columns={3: 1000}, groups=10)]
    assert sorted_.measure(files).needed == 200
    assert costs("amount", sort_by=("year asc",), predicate=one).measure(files).needed == 1000
    assert costs("amount", predicate=one).measure(files).needed == 1000


def test_a_file_has_no_fewer_row_groups_than_all() -> None:
    few = In("geo", tuple("abcdefgh"))
    found = costs("amount", sort_by=("geo",), predicate=few)
    assert found.measure([file("a", columns={3: 900}, groups=3)]).needed == 900
    assert found.measure([file("a", columns={3: 900}, groups=1)]).needed == 900


def test_how_many_values_of_a_column_a_condition_wants() -> None:
    one, other = Comparison("geo", "=", "a"), Comparison("year", "=", 1)
    assert wanted_values(one, "geo") == 1
    assert wanted_values(In("Geo", ("a", "b")), "geo") == 2
    assert wanted_values(IsNull("geo"), "geo") == 1
    assert wanted_values(And((one, other)), "geo") == 1
    assert wanted_values(Or((one, In("geo", ("b", "c")))), "geo") == 3
    assert wanted_values(Always(False), "geo") == 0


def test_a_condition_that_wants_any_number_of_values() -> None:
    one, other = Comparison("geo", "=", "a"), Comparison("year", "=", 1)
    for predicate in (
        other,
        Comparison("geo", "<", "a"),
        In("geo", ("a",), negated=True),
        IsNull("geo", negated=True),
        Or((one, other)),
        And(()),
        Always(True),
    ):
        assert wanted_values(predicate, "geo") is None


def test_a_sort_order_that_cannot_be_read_is_none() -> None:
    found = costs("geo", sort_by=("",), predicate=Comparison("geo", "=", "a"))
    assert found.values is None
