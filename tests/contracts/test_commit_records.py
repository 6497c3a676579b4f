"""What a commit records is stored by every catalog: each field, whichever method commits."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime

from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import (
    BatchRun,
    ChangeRecords,
    ColumnTypeChange,
    ConsumedFile,
    Descent,
    Event,
    FileState,
    FileStateChange,
    PublicationRecords,
    RunRecord,
    SetProperties,
    ZoneTypes,
)
from lakebed.tables import PublishRequest, publish
from tests.support.benches import Bench


def a_file(bench: Bench, table: TableName, run_id: str) -> ConsumedFile:
    return ConsumedFile(
        table, ZoneName(bench.namespace, "orders"), f"{run_id}.csv", "etag", 12, run_id
    )


def test_every_field_of_a_publications_records_is_stored(bench: Bench) -> None:
    table, zone, run_id = bench.table("orders"), ZoneName(bench.namespace, "flights"), new_run_id()
    bench.write(table, [1], branch="run_1")
    given = PublicationRecords(
        runs=(RunRecord(run_id, "build", table, "success", datetime(2026, 11, 15, tzinfo=UTC)),),
        consumed=(replace(a_file(bench, table, run_id), snapshot=7),),
        types=(ZoneTypes(zone, "*.csv", (ColumnTypeChange("a", "", "int"),)),),
    )
    publish(bench.catalog, [PublishRequest(table, "run_1")], run_id=run_id, records=given)
    stored: Mapping[str, object] = {
        "runs": bench.records.runs(table=table),
        "consumed": bench.records.ledger(table),
        "types": bench.records.zone_types(zone),
    }
    expected = {field.name: getattr(given, field.name) for field in fields(given)}
    assert stored == expected | {"types": {"*.csv": {"a": "int"}}}
    assert [file.snapshot for file in bench.records.ledger(table)] == [7]
    told = bench.events.since(table=table)
    assert [(one.event.kind, one.event.detail["run"]) for one in told] == [("published", run_id)]


def test_a_run_that_goes_on_after_a_publication_is_running_and_keeps_what_it_has_done(
    bench: Bench,
) -> None:
    """Killed later, it is healed like any other; its batches are known."""
    table, run_id = bench.table("orders"), new_run_id()
    bench.write(table, [1], branch="run_1")
    line = BatchRun("year=2020", "success", "new", files=3, rows=5, snapshot=7)
    started = datetime(2026, 11, 15, tzinfo=UTC)
    record = RunRecord(run_id, "build", table, "running", started, batches=(line,))
    bench.records.write(replace(record, batches=()))
    asked = [PublishRequest(table, "run_1")]
    publish(bench.catalog, asked, run_id=f"{run_id}-1", records=PublicationRecords((record,)))
    found = bench.records.run(run_id)
    assert found is not None
    assert found.state == "running"
    assert found.batches == (line,)
    bench.records.write(replace(record, state="failed"))
    assert [one.state for one in bench.records.runs(table=table)] == ["failed"]


Commit = Callable[[Bench, TableName, ChangeRecords], object]


def _rename(bench: Bench, table: TableName, records: ChangeRecords) -> None:
    bench.catalog.rename(
        table, TableName(bench.namespace, "silver", f"{table.name}_2"), records=records
    )


def _restore(bench: Bench, table: TableName, records: ChangeRecords) -> None:
    gone = bench.catalog.drop(table)
    assert gone
    bench.catalog.restore(gone, table, records=records)


def _register(bench: Bench, table: TableName, records: ChangeRecords) -> None:
    location = bench.catalog.pointers([table])[table].location
    bench.catalog.register(
        TableName(bench.namespace, "silver", f"{table.name}_2"), location, records=records
    )


def _clone(bench: Bench, table: TableName, records: ChangeRecords) -> None:
    pointer = bench.catalog.pointers([table])[table]
    metadata = bench.catalog.metadata([pointer])[table]
    head = metadata.head()
    assert head
    to = TableName(bench.namespace, "silver", f"{table.name}_2")
    bench.catalog.clone(
        pointer, to, snapshot=head.id, location=f"{metadata.location}_2", records=records
    )


CHANGES: dict[str, Commit] = {
    "amend": lambda bench, table, records: bench.catalog.amend(
        table, [SetProperties({"a": "b"})], records=records
    ),
    "rename": _rename,
    "drop": lambda bench, table, records: bench.catalog.drop(table, records=records),
    "restore": _restore,
    "register": _register,
    "clone": _clone,
}
OF_SHARED_FILES = {"register", "clone"}  # a catalog that owns its tables' files offers neither


def test_every_field_of_a_changes_records_is_stored_by_every_method(bench: Bench) -> None:
    owner, run_id = TableName(bench.namespace, "silver", "owner"), new_run_id()
    publish(
        bench.catalog,
        [],
        run_id=run_id,
        records=PublicationRecords(consumed=(a_file(bench, owner, run_id),)),
    )
    offered = [
        name for name in CHANGES if not (bench.catalog.owns_files and name in OF_SHARED_FILES)
    ]
    for number, name in enumerate(offered):
        table = bench.table(f"t_{name}")
        state: FileState = "held" if number % 2 == 0 else "waiting"
        bench.write(table, [1])
        event = Event("altered", table, detail={"by": name})
        given = ChangeRecords(
            file_states=(FileStateChange(owner, ((f"{run_id}.csv", run_id),), state),),
            events=(event,),
            descents=(Descent(f"uuid-{number}", 2, 1, run_id), Descent(f"uuid-{number}", 1, None)),
        )
        CHANGES[name](bench, table, given)
        stored = {
            "file_states": tuple(file.state for file in bench.records.ledger(owner)),
            "events": tuple(one.event for one in bench.events.since(table=table)),
            "descents": bench.records.descents(f"uuid-{number}"),
        }
        expected = {"file_states": (state,), "events": (event,), "descents": given.descents[::-1]}
        assert stored == expected, name
        assert set(stored) == {field.name for field in fields(given)}
