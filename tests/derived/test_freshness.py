"""Which batches are fresh follows from comparing snapshots, whoever has written them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from lakebed.batches.state import BatchState, BatchStates
from lakebed.derived.freshness import (
    Freshness,
    columns_digest,
    compare_batches,
    source_digest,
    source_snapshot,
)
from lakebed.derived.identity import COVERS, Layout, layout_properties
from lakebed.derived.labels import FileLabels, PartitionValues
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.ports import Column, Pointer, TableMetadata

SOURCE = TableName("econ", "silver", "income")
HIDDEN = TableName("econ", "silver", "_mv_" + "a" * 32)
COLUMNS = (Column("year", "int", False, id=1), Column("geo", "string", False, id=2))
SPEC = LayoutSpec.model_validate({"partition_by": ["geo"], "batch_by": ["year"]})


def metadata(uuid: str, properties: Mapping[str, str]) -> TableMetadata:
    return TableMetadata(
        uuid, "s3://x", 2, datetime(2026, 1, 1, tzinfo=UTC), COLUMNS, (), (), properties, {}, {}
    )


INCOME = metadata("src", {})


def layout(covers: int | None = 1) -> Layout:
    told = layout_properties(SPEC, HIDDEN, "src")
    if covers is not None:
        told[COVERS] = str(covers)
    return Layout(Pointer(HIDDEN, "there"), metadata("mv", told), SPEC)


def built(label: str, snapshot: int = 1, uuid: str = "src", **other: str) -> BatchState:
    state = BatchState(
        label, source_digest(uuid, snapshot), SPEC.digest, schema=columns_digest(INCOME)
    )
    return replace(state, **other)  # type: ignore[arg-type]


def compared(
    *states: BatchState,
    changed: Mapping[int, Iterable[PartitionValues] | None],
    foreign: tuple[int, ...] = (),
    covers: int | None = 1,
) -> Freshness:
    known = BatchStates({state.label: state for state in states}, foreign)
    return compare_batches(layout(covers), known, INCOME, lambda since: changed.get(since))


def year(value: object) -> PartitionValues:
    return {(1, "identity"): value, (2, "truncate[2]"): "x"}


def test_a_batch_is_stale_once_a_file_of_it_was_added_or_removed() -> None:
    found = compared(built("year=2019"), built("year=2020"), changed={1: [year(2020)]})
    assert found.fresh == {"year=2019"}
    assert found.stale == {"year=2020": "changed"}
    assert not found.covers


def test_without_a_change_all_are_fresh_and_all_rows_are_covered() -> None:
    found = compared(built("year=2019"), built("year=2020"), changed={1: []})
    assert found == Freshness(frozenset({"year=2019", "year=2020"}), {}, covers=True)
    assert found.whole


def test_batches_of_different_snapshots_are_compared_each_with_its_own() -> None:
    found = compared(
        built("year=2019", 1), built("year=2020", 2), changed={1: [year(2020)], 2: []}, covers=2
    )
    assert found.whole


def test_a_file_of_unknown_batch_makes_all_stale() -> None:
    found = compared(built("year=2019"), changed={1: [{(2, "identity"): "x"}]})
    assert found.stale == {"year=2019": "changed"}


def test_a_missing_value_is_a_batch_of_its_own() -> None:
    missing = FileLabels(COLUMNS, ["year"]).label(year(None))
    assert missing is not None
    found = compared(built("year=2019"), built(missing), changed={1: [year(None)]})
    assert found.stale == {missing: "changed"}


def test_a_snapshot_that_expired_or_was_rolled_back_tells_nothing() -> None:
    assert compared(built("year=2019", 7), changed={}).stale == {"year=2019": "lost"}


def test_other_columns_another_spec_and_another_table_are_stale() -> None:
    found = compared(
        built("a", schema="other"),
        built("b", config="other"),
        built("c", uuid="x"),
        changed={1: []},
    )
    assert found.stale == {"a": "drift", "b": "spec", "c": "lost"}


def test_a_layout_whose_batch_column_the_source_has_lost_has_drifted() -> None:
    states = BatchStates({"year=2019": built("year=2019")})
    without = replace(INCOME, columns=COLUMNS[1:])
    found = compare_batches(layout(), states, without, lambda since: [])
    assert found == Freshness(stale={"year=2019": "drift"})


def test_what_others_wrote_into_a_layout_taints_all_of_it() -> None:
    found = compared(built("year=2019"), changed={1: []}, foreign=(5,))
    assert found.stale == {"year=2019": "tainted"}
    assert found.tainted
    assert compared(changed={1: []}, foreign=(5,)).tainted


def test_a_layout_that_never_had_all_rows_covers_nothing() -> None:
    found = compared(built("year=2019"), changed={1: []}, covers=None)
    assert found.fresh == {"year=2019"}
    assert not found.whole


def test_a_batch_made_from_another_table_has_no_snapshot_of_this_one() -> None:
    assert source_snapshot(built("a", 9), "src") == 9
    assert source_snapshot(built("a", 9), "other") is None


def test_values_that_have_several_spellings_tell_no_batch() -> None:
    labels = FileLabels(COLUMNS, ["year"])
    assert labels.label(year(1.5)) is None
    assert labels.label({}) is None
    assert FileLabels(COLUMNS, []).label({}) == ""
