"""What a role that may only read can do: read the past, check the lake, be told what it lacks."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from psycopg import sql

import lakebed
from lakebed.app import DoctorFinding, examine
from lakebed.errors import CatalogRefused, UnprotectedRead
from lakebed.names import TableName
from lakebed.settings import Root, Settings
from tests.servers.postgres import Database
from tests.support.benches import RealBench
from tests.support.database_roles import owner_of, reader_of

pytestmark = pytest.mark.postgres


@dataclass
class Shared:
    """A lake of one table with three snapshots, and its reader."""

    bench: RealBench
    table: TableName
    snapshots: list[int]
    reader: lakebed.Lake
    owner: Database

    def back_in_time(self, days: float) -> None:
        """Make all that the table's metadata tells happen so much earlier."""
        location = self.bench.iceberg.load_table(self.table.parts).metadata_location
        path = Path(location.removeprefix("file://"))
        metadata = json.loads(path.read_text())
        for entry in (metadata, *metadata["snapshots"], *metadata["snapshot-log"]):
            for name in {"timestamp-ms", "last-updated-ms"} & entry.keys():
                entry[name] -= int(days * 86_400_000)
        path.write_text(json.dumps(metadata))


@pytest.fixture
def shared(database: Database, tmp_path: Path) -> Iterator[Shared]:
    with owner_of(database) as owner:
        bench = RealBench(Settings(catalog=owner.catalog), Root.parse(tmp_path / "lake"), "shop")
        bench.stores.ownership.claim_new()
        table = bench.table("orders")
        for row in range(3):
            bench.write(table, [row])
        loaded = bench.iceberg.load_table(table.parts)
        with reader_of(owner, database) as role:
            settings = Settings(catalog=role.catalog)
            with lakebed.Lake(bench.root, settings, environment={}) as reader:
                snapshots = [entry.snapshot_id for entry in loaded.metadata.snapshot_log]
                yield Shared(bench, table, snapshots, reader, owner)
        bench.close()


def test_a_role_that_may_only_read_reads_the_recent_past(shared: Shared) -> None:
    first, reader = shared.snapshots[0], shared.reader
    assert reader.table("shop.silver.orders", at=first).to_arrow().num_rows == 1
    for asked in (
        f"SELECT id FROM shop.silver.orders AT (VERSION => {first})",
        f"SELECT id FROM shop.silver.orders AT (VERSION => '{first}')",
    ):
        assert reader.query(asked).fetchall() == [(0,)]
    assert reader.query("SELECT id FROM shop.silver.orders", at=str(first)).fetchall() == [(0,)]


def test_what_may_expire_while_it_is_read_is_refused_by_name_and_one_grant_allows_it(
    shared: Shared,
) -> None:
    first, reader = shared.snapshots[0], shared.reader
    shared.back_in_time(days=2)
    present = reader.table("shop.silver.orders")  # needs no protection
    assert present.to_arrow().num_rows == 3
    with pytest.raises(UnprotectedRead, match=f"snapshot {first} of") as refused:
        reader.table("shop.silver.orders", at=first).to_arrow()
    assert "ON ALL" not in refused.value.next
    shared.bench.iceberg.load_table(shared.table.parts).manage_snapshots().create_tag(
        shared.snapshots[1], "kept"
    ).commit()
    tagged = "SELECT id FROM shop.silver.orders ORDER BY id"
    assert reader.query(tagged, at="kept").fetchall() == [(0,), (1,)]
    (grant,) = re.findall(r"GRANT [^;]*;", refused.value.next)
    with shared.owner.connect() as owner:
        owner.execute(sql.SQL(grant))
    with reader.table("shop.silver.orders", at=first).to_arrow_batches() as rows:
        assert rows.read_all()["id"].to_pylist() == [0]


def test_a_role_that_may_only_read_checks_the_lake(shared: Shared) -> None:
    checked = shared.reader.fsck(sample=None)
    assert {(found.kind, found.severity) for found in checked.findings} == {
        ("table without pipeline", "warning"),
        ("unstored digests", "info"),
    }
    assert checked.looked.read == checked.looked.files > 0
    findings = examine(shared.reader, {"PATH": os.environ["PATH"]})
    assert not [found for found in findings if found.state == "problem"]
    assert [found.detail for found in findings if "may only read" in found.detail]


def test_a_role_that_may_only_read_is_not_advised_to_be_granted_everything(shared: Shared) -> None:
    with pytest.raises(CatalogRefused) as refused:
        shared.reader.tables.tag("shop.silver.orders", "mine")
    assert f'GRANT "{shared.owner.user}" TO' in refused.value.next
    assert "ALL TABLES" not in refused.value.next


def test_doctor_finds_tables_that_another_role_owns_and_says_how_they_are_given_back(
    shared: Shared, database: Database
) -> None:
    def catalog() -> DoctorFinding:
        findings = examine(shared.reader, {"PATH": os.environ["PATH"]})
        return next(found for found in findings if found.component == "catalog")

    with database.connect() as admin:
        admin.execute("ALTER TABLE lakebed_descents OWNER TO CURRENT_USER")
        assert (catalog().state, "lakebed_descents" in catalog().detail) == ("problem", True)
        admin.execute(sql.SQL(catalog().fix))
    assert catalog().state == "ok"


def test_upgrade_says_first_what_it_would_do(shared: Shared, database: Database) -> None:
    with database.connect() as admin:
        admin.execute("DROP TABLE lakebed_appending_zones")
        admin.execute("UPDATE lakebed_schema SET version = 10")
    with lakebed.Lake(shared.bench.root, shared.bench.settings, environment={}) as lake:
        assert [lake.upgrade(check=True).is_due for _ in range(2)] == [True, True]
        done = lake.upgrade()
        assert (done.before, done.done, done.is_due) == (10, True, False)
        assert not lake.upgrade(check=True).is_due
