"""A lake with tables that PyIceberg wrote, to be damaged and mended."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import lakebed
from lakebed.care.fsck import FsckReport
from lakebed.names import TableName
from lakebed.ports import SOURCE_UUID, RemoveSnapshots, SetProperties, SetRef
from lakebed.settings import Root
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket
from tests.support.benches import RealBench, postgres_bench, sqlite_bench


class Kept:
    """A lake, and the bench that writes its tables."""

    def __init__(self, lake: lakebed.Lake, bench: RealBench) -> None:
        self.lake, self.bench = lake, bench

    def table(self, name: str = "orders", *batches: range) -> TableName:
        """A table with a commit for each batch."""
        made = self.bench.table(name)
        for batch in batches or (range(10), range(10, 20)):
            self.bench.write(made, batch)
        return made

    def derived(self, source: TableName, *batches: range) -> TableName:
        """A hidden table that says it was computed from another."""
        made = self.table(f"mv_{uuid4().hex}", *batches)
        uuid = self.lake.tables.describe(source).uuid
        self.lake.stores.catalog.amend(made, [SetProperties({SOURCE_UUID: uuid})])
        return made

    def tag(self, table: TableName, name: str) -> None:
        head = self.lake.tables.describe(table).head()
        assert head
        self.lake.stores.catalog.amend(table, [SetRef(name, head.id, "tag")])

    def forget_snapshot(self, table: TableName, snapshot: int) -> None:
        self.lake.stores.catalog.amend(table, [RemoveSnapshots((snapshot,))])

    def state(self) -> dict[TableName, dict[str, list[int]]]:
        """Every row of every ref of every table, hidden ones included."""
        catalog = self.lake.stores.catalog
        tables = catalog.metadata(catalog.pointers().values())
        return {
            table: {ref: self.bench.rows(table, ref) for ref in metadata.refs}
            for table, metadata in tables.items()
        }

    def pointed(self, table: TableName) -> Path:
        """The present metadata file."""
        return Path(
            self.lake.stores.catalog.pointers([table])[table].location.removeprefix("file://")
        )

    def files(self, table: TableName, pattern: str) -> list[Path]:
        return sorted((self.lake.root.folder / table.folder).glob(pattern))

    def check(self, *, repair: bool = False, sample: int | None = None) -> FsckReport:
        return self.lake.fsck(repair=repair, sample=sample)

    def kinds(self, severity: str = "problem", **options: bool) -> list[str]:
        return [
            found.kind for found in self.check(**options).findings if found.severity == severity
        ]


def flip(file: Path, at: int) -> None:
    """One bit is not what it was; size and place are. Negative places count from the end."""
    data = bytearray(file.read_bytes())
    data[at] ^= 0x04
    file.write_bytes(data)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    root = Root.parse(tmp_path / "lake")
    lakebed.create(root, environment={})
    bench = sqlite_bench(root.folder)
    with lakebed.open(root.folder, environment={}) as lake:
        yield Kept(lake, bench)
    bench.close()


@pytest.fixture
def on_server(database: Database, bucket: Bucket) -> Iterator[Kept]:
    """A lake in a bucket, with PostgreSQL."""
    bench = postgres_bench(database, bucket)
    with lakebed.Lake(bucket.root, bench.settings, environment={}) as lake:
        yield Kept(lake, bench)
    bench.close()
