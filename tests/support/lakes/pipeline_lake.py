"""Small lakes for tests: pipelines and landing files by a line each, rows read without Spark."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.app.stores import Stores
from lakebed.names import TableName
from lakebed.ports import RunRecord
from tests.support.tables import snapshots_of

Rows = list[dict[str, Any]]


class TestLake:
    """A lake in a folder, in the namespace `shop`."""

    __test__ = False

    def __init__(self, folder: Path, *, settings: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self._made = create_lake(folder, settings=settings or {})
        self.lake: Lake = open_lake(folder)

    @contextmanager
    def over(self, stores: Stores) -> Iterator[None]:
        """The lake over other stores, for a while; its Spark session stays."""
        former = self.lake
        self.lake = Lake(former.root, former.settings, environment=os.environ)
        self.lake.stores, self.lake.spark = stores, former.spark
        try:
            yield
        finally:
            self.lake = former

    def pipeline(
        self, name: str, source: str, config: str = "", *, gates: Mapping[str, str] | None = None
    ) -> None:
        """`silver.orders`, and its files; Python if the source begins like it."""
        layer, _, table = name.partition(".")
        folder = self.folder / "shop" / "pipelines" / layer / table
        is_python = any(word in source for word in ("def run(", "result ="))
        (folder / "tests" / "quality").mkdir(parents=True, exist_ok=True)
        (folder / ("pipeline.py" if is_python else "pipeline.sql")).write_text(source)
        if config:
            (folder / "config.yaml").write_text(config)
        for gate, query in (gates or {}).items():
            (folder / "tests" / "quality" / f"{gate}.sql").write_text(query)

    def land(self, zone: str, name: str, data: str | bytes, *, age: float = 60.0) -> Path:
        """A file of a zone; it came some time ago, so that no run waits to see whether it still
        grows.
        """
        file = self.folder / "shop" / "landing" / zone / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        then = time.time() - age
        os.utime(file, (then, then))
        return file

    def run(self, *selectors: str, **options: Any) -> dict[str, RunRecord]:
        """Records by `layer.name`."""
        result = self.lake.run(*selectors, **options)
        return {f"{record.table.layer}.{record.table.name}": record for record in result.records}

    def run_one(self, name: str, **options: Any) -> RunRecord:
        """The record of one pipeline that must succeed."""
        record = self.run(name, **options)[name]
        assert record.state == "success", record.error
        return record

    def table(self, name: str) -> TableName:
        return TableName("shop", *name.split("."))

    def rows(self, name: str, *, columns: tuple[str, ...] = ("*",)) -> Rows:
        """What a reader sees now, sorted; through PyIceberg."""
        found = (
            self.lake.iceberg.load_table(self.table(name).parts)
            .scan(selected_fields=columns)
            .to_arrow()
            .to_pylist()
        )
        return sorted(found, key=repr)

    def snapshots(self, name: str) -> int:
        """How many snapshots led to what readers see."""
        return len(snapshots_of(self.lake, self.table(name)))

    def files(self) -> set[str]:
        """Every file below the namespace, by path."""
        return {
            path.relative_to(self.folder).as_posix()
            for path in (self.folder / "shop").rglob("*")
            if path.is_file()
        }

    def hidden(self) -> list[TableName]:
        return [table for table in self.lake.stores.catalog.pointers() if table.hidden]

    def refs(self, name: str) -> set[str]:
        return set(self.lake.tables.describe(self.table(name)).refs)


@pytest.fixture
def shop(tmp_path: Path, spark_home: Path) -> Iterator[TestLake]:
    """An empty lake, on the Spark that all tests share."""
    made = TestLake(tmp_path / "lake")
    yield made
    made.lake.close()
