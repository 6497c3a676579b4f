"""What the lake's state promises to a check: every pin, what the ledger counts, and checksums as
they were saved.
"""

from dataclasses import replace
from datetime import UTC, datetime

from lakebed.engines.database.state.audit import DatabaseAudit
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import (
    Audit,
    Checksum,
    ConsumedFile,
    InputPin,
    PinRow,
    PublicationRecords,
    RunRecord,
)
from lakebed.tables import publish
from tests.support.benches import RealBench

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ORDERS, SUMS = TableName("shop", "silver", "orders"), TableName("shop", "gold", "sums")


def test_a_check_sees_every_pin_file_and_checksum(atomic_bench: RealBench) -> None:
    audit: Audit = DatabaseAudit(atomic_bench.stores.database)
    records = atomic_bench.records
    assert (audit.database_fault(), audit.pins(), audit.consumed_counts(), audit.checksums()) == (
        "",
        (),
        {},
        {},
    )

    running = RunRecord("1" * 32, "build", ORDERS, "running", NOW)
    records.write(running)
    records.write(replace(running, run_id="2" * 32, state="failed"))
    for run_id in (
        "1" * 32,
        "2" * 32,
        "3" * 32,
    ):  # a run that goes on, one that failed, one that is unknown
        records.pin(run_id, [InputPin(SUMS, 2**62)])
    assert audit.pins() == tuple(PinRow(digit * 32, SUMS, 2**62, digit == "1") for digit in "123")

    run_id, zone = new_run_id(), ZoneName("shop", "orders")
    files = tuple(ConsumedFile(ORDERS, zone, path, "etag", 1, run_id) for path in ("a", "b"))
    publish(atomic_bench.catalog, [], run_id=run_id, records=PublicationRecords(consumed=files))
    assert audit.consumed_counts() == {ORDERS: 2}

    known = [Checksum(f"ü/{number}", "a" * 64, 2**40, NOW) for number in range(1001)]
    audit.save_checksums(known)
    audit.save_checksums([replace(known[0], sha256="b" * 64)])
    assert audit.checksums()["ü/0"].sha256 == "b" * 64
    audit.delete_checksums([one.path for one in known[1:]])
    assert audit.checksums() == {"ü/0": replace(known[0], sha256="b" * 64)}
