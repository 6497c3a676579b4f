"""What the store of records promises: what a publication records is stored if and only if it
happened.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.engines.database.state.run_documents import from_text, to_text
from lakebed.errors import Diverged, TypesChanged
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import (
    ChangeRecords,
    ColumnTypeChange,
    ConsumedFile,
    FileState,
    FileStateChange,
    InputPin,
    MovedFile,
    Phase,
    PublicationRecords,
    QuarantinedFile,
    RunRecord,
    RunState,
    SetProperties,
    Verdict,
    ZoneTypes,
)
from lakebed.tables import PublishRequest, publish
from tests.support.benches import Bench

ZONE = ZoneName("shop", "orders")


def a_record(table: TableName, **given: object) -> RunRecord:
    record = RunRecord(
        new_run_id(), "build-1", table, "running", datetime(2026, 11, 15, 12, tzinfo=UTC)
    )
    return replace(record, **given)  # type: ignore[arg-type]  # fields by name


def a_file(table: TableName, run_id: str, path: str = "shop/landing/orders/a.csv") -> ConsumedFile:
    return ConsumedFile(table, ZONE, path, "etag", 12, run_id)


def test_a_record_comes_back_as_it_was_written(bench: Bench) -> None:
    table = TableName(bench.namespace, "silver", "orders")
    record = a_record(
        table,
        phases=(Phase("Write", 1.5),),
        rows={"inserted": 3},
        inputs=(InputPin(table, 7), InputPin(table, None)),
        set_aside=(QuarantinedFile("a.csv", "_quarantine/a.csv", "torn"),),
        verdicts=(
            Verdict(
                "no_nulls",
                "warn",
                False,
                2,
                sample=({"namespace": "x", "layer": 1, "name": None},),
                tags=("pii",),
            ),
        ),
        error={"what": "it broke"},
        schema=3,
    )
    bench.records.write(record)
    assert bench.records.run(record.run_id) == record
    assert bench.records.run("nobody") is None


def test_a_record_from_before_there_were_releases_is_of_a_draft() -> None:
    record = a_record(TableName("shop", "silver", "orders"), release="r1", version=3)
    document = json.loads(to_text(record))
    assert from_text(to_text(record), state="running").version == 3
    del document["version"]
    assert from_text(json.dumps(document), state="running") == replace(record, version=None)


def test_records_are_found_by_table_build_and_state_newest_first(bench: Bench) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    old = a_record(
        table,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        state="failed",
        invocation=f"old-{bench.namespace}",
    )
    new = a_record(table, started_at=datetime(2026, 2, 1, tzinfo=UTC))
    for record in (new, old):
        records.write(record)
    assert records.runs(table=table) == (new, old)
    assert records.runs(table=table, limit=1) == (new,)
    assert records.runs(invocation=f"old-{bench.namespace}") == (old,)
    assert records.runs(table=table, state="failed") == (old,)


def test_what_a_publication_records_is_stored_once_it_happened(bench: Bench) -> None:
    records, table = bench.records, bench.table("orders")
    bench.write(table, [1], branch="run_1")
    record = a_record(table, release="r1")
    records.write(record)
    assert records.consumed(ZONE, table=table) == ()
    kept = PublicationRecords((replace(record, state="success"),), (a_file(table, record.run_id),))
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=record.run_id, records=kept)
    assert records.consumed(ZONE, table=table) == kept.consumed
    found = records.run(record.run_id)
    assert found is not None
    assert found.state == "success"
    assert records.last_digests()[table] == "r1"


def test_what_a_publication_records_is_absent_if_it_is_refused(bench: Bench) -> None:
    records, table = bench.records, bench.table("orders")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    bench.write(table, [3])
    record = a_record(table)
    records.write(record)
    kept = PublicationRecords((replace(record, state="success"),), (a_file(table, record.run_id),))
    with pytest.raises(Diverged):
        publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=record.run_id, records=kept)
    assert records.consumed(ZONE, table=table) == ()
    found = records.run(record.run_id)
    assert found is not None
    assert found.state == "running"


def test_of_two_runs_that_take_a_column_for_different_types_the_first_to_publish_wins(
    bench: Bench,
) -> None:
    records, zone = bench.records, ZoneName(bench.namespace, "flights")

    def learn(*columns: ColumnTypeChange, pattern: str = "") -> None:
        publish(
            bench.catalog,
            [],
            run_id=new_run_id(),
            records=PublicationRecords(types=(ZoneTypes(zone, pattern, columns),)),
        )

    assert records.zone_types(zone) == {}
    learn(ColumnTypeChange("b", "", "int"), ColumnTypeChange("A", "", "string"))
    learn(
        ColumnTypeChange("a", "", "string"), ColumnTypeChange("c", "", "date")
    )  # the same once more, and one that is new
    learn(ColumnTypeChange("b", "", "double"), pattern="*.json")
    with pytest.raises(
        TypesChanged, match="read the column b as int meanwhile, this one as string"
    ):
        learn(ColumnTypeChange("d", "", "int"), ColumnTypeChange("b", "", "string"))
    learn(ColumnTypeChange("b", "int", "double"))
    learn(ColumnTypeChange("b", "int", "bigint"))  # which is wider already
    with pytest.raises(TypesChanged, match="read the column b as double meanwhile"):
        learn(ColumnTypeChange("b", "int", "string"))
    assert records.zone_types(zone) == {
        "": {"b": "double", "A": "string", "c": "date"},
        "*.json": {"b": "double"},
    }


def test_what_a_run_learned_of_a_zone_is_forgotten_if_its_publication_is_refused(
    bench: Bench,
) -> None:
    records, table, zone = (
        bench.records,
        bench.table("orders"),
        ZoneName(bench.namespace, "flights"),
    )
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    bench.write(table, [3])
    kept = PublicationRecords(types=(ZoneTypes(zone, "", (ColumnTypeChange("a", "", "int"),)),))
    with pytest.raises(Diverged):
        publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=new_run_id(), records=kept)
    assert records.zone_types(zone) == {}


def test_a_success_is_never_turned_into_a_failure(bench: Bench) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    record = a_record(table, state="success")
    records.write(record)
    records.write(replace(record, state="failed"))
    assert records.run(record.run_id) == record


def test_a_file_read_again_is_taken_by_the_later_run(bench: Bench) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    for run_id in (new_run_id(), new_run_id()):
        publish(
            bench.catalog,
            [],
            run_id=run_id,
            records=PublicationRecords((), (a_file(table, run_id),)),
        )
    assert [file.run_id for file in records.consumed(ZONE, table=table)] == [run_id]


def test_many_files_are_taken_at_once(bench: Bench) -> None:
    records, table, run_id = (
        bench.records,
        TableName(bench.namespace, "silver", "orders"),
        new_run_id(),
    )
    files = tuple(
        a_file(table, run_id, f"shop/landing/orders/{number:05d} ü'.csv") for number in range(1201)
    )
    publish(bench.catalog, [], run_id=run_id, records=PublicationRecords((), files))
    assert records.consumed(ZONE, table=table) == files


def test_a_new_zone_does_not_append_what_replaces_a_file(bench: Bench) -> None:
    assert not bench.records.appends_replaced(ZoneName("shop", "orders"))


def test_pins_count_while_their_run_is_running(bench: Bench) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    record = a_record(table)
    records.write(record)
    records.pin(
        record.run_id,
        (InputPin(table, 5), InputPin(table, None), InputPin(table, 5), InputPin(table, 6)),
    )
    assert records.pinned()[table] == {5, 6}
    records.write(replace(record, state="failed"))
    assert table not in records.pinned()
    records.unpin([record.run_id])


def took(bench: Bench, *files: ConsumedFile) -> None:
    """Each file by a publication of its own, in this order."""
    for file in files:
        publish(bench.catalog, [], run_id=file.run_id, records=PublicationRecords((), (file,)))


def test_a_file_whose_rows_are_visible_is_not_held_because_another_run_that_took_it_was_undone(
    bench: Bench,
) -> None:
    records, table = bench.records, bench.table("orders")
    first, second = a_file(table, new_run_id()), a_file(table, new_run_id())
    took(bench, first, second)

    def undo(file: ConsumedFile, state: FileState) -> list[tuple[str, str]]:
        kept = ChangeRecords(
            file_states=(FileStateChange(table, ((file.path, file.run_id),), state),)
        )
        pointer = bench.catalog.pointers([table])[table]
        bench.catalog.amend(
            table,
            [SetProperties({"n": state + file.run_id})],
            expected=pointer,
            leases=[],
            records=kept,
        )
        return [(found.run_id, found.state) for found in records.consumed(ZONE, table=table)]

    assert undo(second, "held") == [(first.run_id, "taken")]
    assert undo(first, "waiting") == [(second.run_id, "held")]
    assert undo(second, "waiting") == []
    assert undo(first, "held") == [(first.run_id, "held")]
    assert undo(second, "taken") == [(second.run_id, "taken")]


def test_the_ledger_knows_where_a_file_lies_and_in_which_order_files_were_taken(
    bench: Bench,
) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    other, path, place = (
        replace(table, name="other"),
        "shop/landing/orders/a.csv",
        "shop/landing/orders/_processed/r/a.csv",
    )
    first = replace(a_file(table, new_run_id()), digest="d" * 64)
    took(
        bench,
        first,
        a_file(other, new_run_id()),
        a_file(table, new_run_id(), "shop/landing/orders/b.csv"),
    )
    records.record_moves([MovedFile(path, "etag", place, "archived")])
    moved = replace(first, archived=place, archived_etag="archived")
    found, later = records.ledger(table)
    assert (found, later.archived) == (moved, "")
    assert found.taken_at < later.taken_at
    assert [file.archived for file in records.ledger(other)] == [place]
    records.record_moves([MovedFile(path, "etag", path, "back")])
    back = replace(first, etag="back")
    assert records.ledger(table)[0] == records.consumed(ZONE, table=table)[0] == back
    assert [(file.etag, file.archived) for file in records.ledger(other)] == [("back", "")]
    records.record_moves(
        [MovedFile(path, "back", path, "back"), MovedFile("unknown", "e", "nowhere", "f")]
    )
    assert records.ledger(table)[0] == back


def test_runs_can_be_summarized_and_deleted_once_they_ended(bench: Bench) -> None:
    records, table = bench.records, TableName(bench.namespace, "silver", "orders")
    start = datetime(2026, 6, 1, tzinfo=UTC)
    for number in range(3):
        state: RunState = "running" if number == 0 else "failed"
        records.write(
            replace(
                a_record(table),
                run_id=f"{number:032}",
                state=state,
                started_at=start + timedelta(hours=number),
            )
        )
    summaries = records.summaries()
    assert [summary.run_id[-1] for summary in summaries] == ["2", "1", "0"]
    assert (summaries[0].table, summaries[0].state, summaries[0].started_at) == (
        table,
        "failed",
        start + timedelta(hours=2),
    )
    assert records.delete_runs([summary.run_id for summary in summaries[::2]]) == 1
    assert [summary.run_id[-1] for summary in records.summaries()] == ["1", "0"]
