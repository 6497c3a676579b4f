"""A lake whose tables PyIceberg writes: no JVM, and time is what the test says."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake, create_lake, open_lake
from lakebed.care import CareResult
from lakebed.names import TableName
from lakebed.ports import MAIN, CareEntry, TableMetadata
from lakebed.settings import Root
from tests.support.benches import ids
from tests.support.tables import new_location


class CareLake:
    """A lake in the namespace `shop`; a table is given as `silver.orders`."""

    def __init__(
        self,
        root: Root,
        *,
        settings: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.environment = {**os.environ, **(environment or {})}
        create_lake(root, settings=settings or {}, environment=self.environment)
        self.lake: Lake = open_lake(str(root), environment=self.environment)

    @property
    def folder(self) -> Path:
        return self.lake.root.folder

    def name(self, table: str) -> TableName:
        return TableName("shop", *table.split("."))

    def make(
        self, table: str, rows: Sequence[int] = (), *, properties: dict[str, str] | None = None
    ) -> TableName:
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField

        name = self.name(table)
        place = new_location(self.lake, name)
        self.lake.iceberg.create_table(
            name.parts,
            Schema(NestedField(1, "id", LongType())),
            location=place,
            properties=properties or {},
        )
        if rows:
            self.append(table, rows)
        return name

    def append(self, table: str, rows: Sequence[int], *, branch: str = MAIN) -> int:
        loaded = self.lake.iceberg.load_table(self.name(table).parts)
        if branch != MAIN and branch not in loaded.metadata.refs:
            head = self.meta(table).refs[MAIN].snapshot
            loaded.manage_snapshots().create_branch(head, branch).commit()
        loaded.append(ids(rows), branch=branch)
        return self.meta(table).refs[branch].snapshot

    def overwrite(self, table: str, rows: Sequence[int]) -> int:
        """All rows replaced: the former files are needed by the former snapshot only."""
        self.lake.iceberg.load_table(self.name(table).parts).overwrite(ids(rows))
        return self.meta(table).refs[MAIN].snapshot

    def rows(self, table: str, at: int | str = MAIN) -> list[int]:
        loaded = self.lake.iceberg.load_table(self.name(table).parts)
        snapshot = at if isinstance(at, int) else self.meta(table).refs[at].snapshot
        return sorted(loaded.scan(snapshot_id=snapshot).to_arrow()["id"].to_pylist())

    def meta(self, table: str) -> TableMetadata:
        return self.lake.tables.describe(self.name(table))

    def care(self, *tables: str, days: float = 0.0, **options: Any) -> CareResult:
        """Care as it would be after so many days."""
        return self.lake.care(*tables, now=datetime.now(UTC) + timedelta(days=days), **options)

    def files(self, below: str = "shop/warehouse") -> set[str]:
        return {info.path for info in self.lake.stores.files.list(below)}

    def reached(self) -> set[str]:
        """Everything that tables need now."""
        stores = self.lake.stores
        found = (
            file
            for pointer in stores.catalog.pointers().values()
            for file in stores.reach.files(pointer)
        )
        return {self.lake.root.relative(file.location) or "" for file in found}

    def age(self, path: str, *, days: float) -> None:
        then = datetime.now(UTC).timestamp() - days * 86400
        os.utime(self.folder / path, (then, then))


def states(result: CareResult) -> dict[tuple[str, str], str]:
    """How each action ended, by action and subject."""
    return {(entry.action, entry.subject): entry.state for entry in result.entries}


def entry(result: CareResult, action: str) -> CareEntry:
    """The one entry of this action."""
    found = [one for one in result.entries if one.action == action]
    assert len(found) == 1, result.entries
    return found[0]


@pytest.fixture
def cared(tmp_path: Path) -> Iterator[CareLake]:
    made = CareLake(Root.parse(tmp_path / "lake"))
    yield made
    made.lake.close()
