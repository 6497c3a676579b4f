"""A layout is read where it certainly has the same rows and is clearly cheaper; every other one has
its reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from lakebed.derived import Freshness
from lakebed.derived.freshness import StaleReason
from lakebed.ports import Column, Scan, ScanFile
from lakebed.query.layouts.arms import Arms, LayoutFiles, restricted, split_files
from lakebed.query.layouts.choose import LayoutDecision, LayoutOffer, choose, refusal
from lakebed.query.layouts.cost import file_costs
from lakebed.query.layouts.known_labels import KnownLabels
from lakebed.query.layouts.verdict import LAYOUT_REASONS, LayoutReason
from tests.query.layouts.scans import (
    COLUMNS,
    MIB,
    SCANNED,
    file,
    metadata,
    scan,
    state,
    without_head,
)

SOURCE = scan([file("s19", year=2019), file("s20", year=2020), file("s20b", year=2020)])
LAYOUT = scan([file("l19", year=2019), file("l20", year=2020)], total=90)
COSTS = file_costs(SCANNED, None, sort_by=(), predicate=None, open_cost=MIB)


def split(
    layout: Scan = LAYOUT,
    source: Scan = SOURCE,
    *,
    fresh: Iterable[str] = (),
    stale: Mapping[str, StaleReason] | None = None,
    covers: bool = False,
    only_plain_parts: bool = True,
) -> Arms | LayoutReason:
    label = KnownLabels().of(COLUMNS, ["year"])
    files = LayoutFiles(layout, Freshness(frozenset(fresh), stale or {}, covers), label, label)
    return split_files(files, source, only_plain_parts=only_plain_parts)


def places(files: Iterable[ScanFile]) -> list[str]:
    return [one.location for one in files]


def test_a_layout_with_all_rows_is_read_as_a_whole_whatever_its_files_are() -> None:
    mixed = scan([file("l")])
    found = split(mixed, scan([file("s")]), fresh=["year=2019"], covers=True)
    assert found == Arms(mixed.files, whole=True)


def test_fresh_batches_come_from_the_layout_and_others_from_the_source() -> None:
    found = split(fresh=["year=2019"], stale={"year=2020": "changed"}, covers=True)
    assert isinstance(found, Arms)
    assert places(found.layout) == ["l19"]
    assert places(found.source) == ["s20", "s20b"]
    assert set(found.batches) == {"year=2019"}
    assert set(found.source_batches) == {"year=2020"}


def test_a_batch_that_the_layout_never_had_comes_from_the_source() -> None:
    source = scan([*SOURCE.files, file("null", year=None)])
    found = split(source=source, fresh=["year=2019", "year=2020"])
    assert isinstance(found, Arms)
    assert places(found.source) == ["null"]


def test_a_batch_that_the_source_no_longer_has_is_left_out_if_it_is_not_fresh() -> None:
    layout = scan([*LAYOUT.files, file("l21", year=2021)])
    found = split(layout, fresh=["year=2019", "year=2020"], stale={"year=2021": "changed"})
    assert isinstance(found, Arms)
    assert places(found.layout) == ["l19", "l20"]


def test_a_file_with_rows_of_several_batches_can_be_told_apart_on_neither_side() -> None:
    source = scan([*SOURCE.files, file("s")])
    assert split(source=source, fresh=["year=2019", "year=2020"]) == "MIXED_FILES"
    layout = scan([*LAYOUT.files, file("l")])
    assert split(layout, fresh=["year=2019", "year=2020"]) == "MIXED_FILES"


def test_without_a_fresh_batch_that_the_query_reads_there_is_nothing_to_read() -> None:
    assert split(fresh=["year=1999"], stale={"year=2019": "changed"}) == "STALE"


def test_a_source_whose_files_cannot_be_left_out_is_not_mixed_with_a_layout() -> None:
    deleted = scan(SOURCE.files, plain=False)
    assert split(source=deleted, fresh=["year=2019"]) == "STALE"
    assert isinstance(split(source=deleted, fresh=["year=2019"], only_plain_parts=False), Arms)
    assert isinstance(split(source=deleted, fresh=["year=2019", "year=2020"]), Arms)


def test_a_layout_whose_files_cannot_be_left_out_is_read_as_a_whole_or_not() -> None:
    layout = scan(LAYOUT.files, plain=False)
    assert split(layout, fresh=["year=2019"], stale={"year=2020": "changed"}) == "STALE"
    assert split(layout, fresh=["year=2019", "year=2020"], covers=True) == Arms(
        layout.files, whole=True
    )


def test_a_scan_of_some_files_keeps_their_groups_and_no_empty_one() -> None:
    first, second, third = SOURCE.files
    groups = (
        replace(SOURCE.groups[0], files=(first, second)),
        replace(SOURCE.groups[0], names=("year", None, "amount"), files=(third,)),
    )
    whole = replace(SOURCE, groups=groups)
    found = restricted(whole, [second])
    assert found.files == (second,)
    assert found.groups == (replace(groups[0], files=(second,)),)
    assert restricted(whole, SOURCE.files) is whole


def offer(name: str, files: Iterable[ScanFile], rest: Iterable[ScanFile] = ()) -> LayoutOffer:
    return LayoutOffer(state(name), Arms(tuple(files), tuple(rest)), COSTS, prunes=True)


def decide(*offers: LayoutOffer, forced: tuple[str, ...] = ()) -> LayoutDecision:
    return choose(COSTS.measure(SOURCE.files), COSTS, offers, forced=forced)


def reasons(decision: LayoutDecision) -> list[str]:
    return [f"{one.layout} {one.verdict} {one.reason}" for one in decision.verdicts]


def test_the_cheapest_is_read_if_it_is_clearly_cheaper() -> None:
    found = decide(offer("a", LAYOUT.files), offer("b", LAYOUT.files[:1]))
    assert found.taken == 1
    assert reasons(found) == ["a possible COST_HIGHER", "b chosen CHOSEN"]
    assert found.verdicts[1].cost == 2 * MIB


def test_the_source_is_read_unless_a_fifth_of_the_cost_is_saved() -> None:
    size = int(3 * 2 * MIB * 0.8) - MIB
    just = offer("a", [file("l", size=size)])
    assert decide(just).taken == 0
    found = decide(offer("a", [file("l", size=size + 2)]))
    assert found.taken is None
    assert reasons(found) == ["a possible COST_HIGHER"]
    assert decide(offer("a", SOURCE.files)).taken is None


def test_a_query_that_reads_no_file_reads_no_layout() -> None:
    assert choose(COSTS.measure([]), COSTS, [offer("a", [])]).taken is None


def test_files_of_both_count() -> None:
    found = decide(offer("a", LAYOUT.files[:1], SOURCE.files[:1]))
    assert reasons(found) == ["a chosen HYBRID"]
    assert (found.verdicts[0].files, found.verdicts[0].source_files) == (2, 1)
    assert decide(offer("a", LAYOUT.files, SOURCE.files[:1])).taken is None


def test_a_layout_of_which_no_file_is_skipped_has_no_gain() -> None:
    found = decide(replace(offer("a", SOURCE.files), prunes=False))
    assert reasons(found) == ["a possible NO_PRUNING_GAIN"]


def test_a_layout_that_was_asked_for_is_read_whatever_it_costs() -> None:
    dear = offer("Dear", [*SOURCE.files, *SOURCE.files])
    found = decide(offer("a", LAYOUT.files[:1]), dear, forced=("dear",))
    assert found.taken == 1
    assert reasons(found) == ["a possible COST_HIGHER", "Dear chosen CHOSEN"]


def test_a_layout_that_was_asked_for_is_not_read_where_it_is_not_right() -> None:
    stale = LayoutOffer(state("dear"), "STALE")
    found = decide(offer("a", LAYOUT.files[:1]), stale, forced=("dear",))
    assert found.taken is None
    assert reasons(found) == ["a possible COST_HIGHER", "dear refused STALE"]


def test_why_a_layout_is_right_for_no_query() -> None:
    source = metadata()
    assert refusal(state(), source) is None
    assert refusal(state(fresh=["year=2019"], stale={"a": "drift"}), source) is None
    assert refusal(state(fresh=()), source) == "NOT_BUILT"
    assert refusal(without_head(state()), source) == "NOT_BUILT"
    assert refusal(state(fresh=(), stale={"a": "changed", "b": "lost"}), source) == "STALE"
    assert refusal(state(fresh=(), stale={"a": "drift"}), source) == "SCHEMA_DRIFT"
    assert refusal(state(stale={"": "tainted"}), source) == "TAINTED"


@pytest.mark.parametrize(
    "columns",
    [
        (*COLUMNS, Column("more", "int", required=False, id=4)),
        (replace(COLUMNS[0], type="long"), *COLUMNS[1:]),
        (replace(COLUMNS[0], name="Year"), *COLUMNS[1:]),
    ],
)
def test_a_layout_without_a_column_of_the_source_is_not_read(columns: tuple[Column, ...]) -> None:
    assert refusal(state(), replace(metadata(), columns=columns)) == "SCHEMA_DRIFT"


def test_every_reason_is_explained() -> None:
    assert all(LAYOUT_REASONS.values())
    assert len(set(LAYOUT_REASONS.values())) == len(LAYOUT_REASONS)
