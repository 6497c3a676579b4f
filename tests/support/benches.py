"""Workbenches: a catalog behind its port, with an engine beside it that makes and fills tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pytest

from lakebed.app.stores import Stores, open_stores
from lakebed.engines.iceberg import catalog_properties
from lakebed.names import TableName
from lakebed.ports import MAIN, Catalog, Events, Leases, Records
from lakebed.settings import RestCatalog, Root, Settings, SqliteCatalog
from lakebed.tables import COMMIT_RETRIES
from lakebed.testing import MemoryCatalog
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog as IcebergCatalog


class Bench(Protocol):
    """What the contract suites work with."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def records(self) -> Records: ...
    @property
    def events(self) -> Events: ...
    @property
    def namespace(self) -> str: ...
    def table(self, name: str) -> TableName: ...
    def write(self, table: TableName, rows: Sequence[int], *, branch: str = MAIN) -> None: ...
    def rows(self, table: TableName, ref: str = MAIN) -> list[int]: ...


class MemoryBench:
    """The catalog in memory."""

    def __init__(self) -> None:
        self._catalog = MemoryCatalog()
        self.catalog: Catalog = self._catalog
        self.leases: Leases = self._catalog.leases
        self.records: Records = self._catalog.records
        self.events: Events = self._catalog.events
        self.namespace = "shop"

    def table(self, name: str) -> TableName:
        table = TableName("shop", "silver", name)
        self._catalog.create(table)
        return table

    def write(self, table: TableName, rows: Sequence[int], *, branch: str = MAIN) -> None:
        self._catalog.write(table, rows, branch=branch)

    def rows(self, table: TableName, ref: str = MAIN) -> list[int]:
        return self._catalog.rows(table, ref)


@dataclass
class RealBench:
    """Real stores; PyIceberg writes and reads. Can be sent to another process."""

    settings: Settings
    root: Root
    namespace: str

    @cached_property
    def stores(self) -> Stores:
        return open_stores(self.settings, self.root)

    @cached_property
    def iceberg(self) -> "IcebergCatalog":
        from pyiceberg.catalog import load_catalog

        return load_catalog("lake", **catalog_properties(self.settings, self.root))

    @property
    def catalog(self) -> Catalog:
        return self.stores.catalog

    @property
    def leases(self) -> Leases:
        return self.stores.leases

    @property
    def records(self) -> Records:
        return self.stores.records

    @property
    def events(self) -> Events:
        return self.stores.events

    def __getstate__(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in ("settings", "root", "namespace")}

    def table(self, name: str) -> TableName:
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField

        table = TableName(self.namespace, "silver", name)
        self.catalog.create_namespace(table.namespace, table.layer)
        location = (
            None if isinstance(self.settings.catalog, RestCatalog) else self.root.at(table.folder)
        )
        self.iceberg.create_table(
            table.parts,
            Schema(NestedField(1, "id", LongType())),
            location=location,
            properties=COMMIT_RETRIES,
        )
        return table

    def write(self, table: TableName, rows: Sequence[int], *, branch: str = MAIN) -> None:
        loaded = self.iceberg.load_table(table.parts)
        head = loaded.current_snapshot()
        if branch == MAIN or branch in loaded.metadata.refs:
            loaded.append(ids(rows), branch=branch)
        elif head:
            loaded.manage_snapshots().create_branch(head.snapshot_id, branch).commit()
            loaded.append(ids(rows), branch=branch)
        else:
            self._write_first(table, rows, branch)

    def _write_first(self, table: TableName, rows: Sequence[int], branch: str) -> None:
        """PyIceberg, unlike Spark, cannot begin a table on a branch: begin it on main, then give
        the snapshot to the branch.
        """
        from pyiceberg.table.update import RemoveSnapshotRefUpdate, SetSnapshotRefUpdate

        loaded = self.iceberg.load_table(table.parts)
        loaded.append(ids(rows))
        head = loaded.metadata.current_snapshot_id
        assert head is not None
        kept = {"max_ref_age_ms": None, "max_snapshot_age_ms": None, "min_snapshots_to_keep": None}
        to_branch = SetSnapshotRefUpdate(ref_name=branch, type="branch", snapshot_id=head, **kept)
        self.iceberg.commit_table(loaded, (), (to_branch, RemoveSnapshotRefUpdate(ref_name=MAIN)))

    def rows(self, table: TableName, ref: str = MAIN) -> list[int]:
        loaded = self.iceberg.load_table(table.parts)
        snapshot = loaded.snapshot_by_name(ref)
        if snapshot is None:
            return []
        return sorted(loaded.scan(snapshot_id=snapshot.snapshot_id).to_arrow()["id"].to_pylist())

    def close(self) -> None:
        self.stores.database.close()
        if "iceberg" in vars(self):
            self.iceberg.close()
            del self.iceberg  # opened again by whoever asks for it next


def ids(rows: Sequence[int]) -> "pa.Table":
    import pyarrow as pa

    return pa.table({"id": pa.array(list(rows), pa.int64())})


def sqlite_bench(folder: Path) -> RealBench:
    (folder / ".data").mkdir(parents=True, exist_ok=True)
    return _prepared(RealBench(Settings(catalog=SqliteCatalog()), Root.parse(folder), "shop"))


def postgres_bench(database: Database, bucket: Bucket) -> RealBench:
    return _prepared(
        RealBench(Settings(catalog=database.catalog, files=bucket.settings), bucket.root, "shop")
    )


def rest_bench(server: SeaweedServer, database: Database, bucket: Bucket) -> RealBench:
    state = {"state_url": database.url, "user": database.user, "password": database.password}
    catalog = RestCatalog.model_validate(server.rest_catalog.model_dump() | state)
    settings = Settings(catalog=catalog, files=bucket.settings)
    return _prepared(RealBench(settings, bucket.root, f"n{uuid4().hex[:8]}"))


def _prepared(bench: RealBench) -> RealBench:
    bench.stores.database.prepare()
    return bench


SQLITE = "folder and SQLite"
POSTGRES = pytest.param("SeaweedFS and PostgreSQL", marks=[pytest.mark.s3, pytest.mark.postgres])
REST = pytest.param("SeaweedFS's REST catalog", marks=[pytest.mark.s3, pytest.mark.postgres])


def _real(kind: str, request: pytest.FixtureRequest) -> Iterator[RealBench]:
    if kind == SQLITE:
        bench = sqlite_bench(request.getfixturevalue("tmp_path") / "lake")
    elif kind == POSTGRES.values[0]:
        bench = postgres_bench(
            request.getfixturevalue("database"), request.getfixturevalue("bucket")
        )
    else:
        bench = rest_bench(
            *(request.getfixturevalue(name) for name in ("seaweed", "database", "bucket"))
        )
    yield bench
    bench.close()


@pytest.fixture(params=["memory", SQLITE, POSTGRES, REST])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Every catalog there is."""
    if request.param == "memory":
        yield MemoryBench()
    else:
        yield from _real(request.param, request)


@pytest.fixture(params=[SQLITE, POSTGRES, REST])
def real_bench(request: pytest.FixtureRequest) -> Iterator[RealBench]:
    """Every catalog that several processes can share."""
    yield from _real(request.param, request)


@pytest.fixture(params=[SQLITE, POSTGRES])
def atomic_bench(request: pytest.FixtureRequest) -> Iterator[RealBench]:
    """Every catalog that publishes several tables in one step."""
    yield from _real(request.param, request)


@pytest.fixture(params=[REST])
def rest_only_bench(request: pytest.FixtureRequest) -> Iterator[RealBench]:
    """The catalog that commits one table at a time."""
    yield from _real(request.param, request)
