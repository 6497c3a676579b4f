"""Tables with layouts: made by a line each, compared with what plain PyIceberg reads of them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from lakebed.app import Lake
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BATCH, batch_summary
from lakebed.derived.building.steps import LayoutBuild
from lakebed.derived.identity import Layout, find_layouts
from lakebed.derived.summary import LayoutSummary
from lakebed.names import TableName
from lakebed.ports import ScanFile, TableMetadata

COLUMNS = "year INT, geo STRING, v BIGINT"
Row = tuple[int | None, str, int]


class LayoutTable:
    """A table of years, regions and values; by default partitioned by year."""

    def __init__(
        self,
        lake: Lake,
        name: str,
        *rows: Row,
        columns: str = COLUMNS,
        partition_by: str = "year",
        properties: str = "",
    ) -> None:
        self.lake, self.table = lake, TableName("shop", "silver", name)
        lake.stores.catalog.create_namespace("shop", "silver")
        divided = f"PARTITIONED BY ({partition_by})" if partition_by else ""
        told = f"TBLPROPERTIES ({properties})" if properties else ""
        self.sql(f"CREATE TABLE {self.table.spark} ({columns}) USING iceberg {divided} {told}")
        if rows:
            self.insert(*rows)

    def sql(self, text: str) -> list[Any]:
        """By a Spark that knows nothing of layouts."""
        return list(self.lake.spark.sql(text).collect())

    def insert(self, *rows: Row) -> None:
        listed = ", ".join(
            f"({'NULL' if year is None else year}, '{geo}', {v})" for year, geo, v in rows
        )
        self.sql(f"INSERT INTO {self.table.spark} (year, geo, v) VALUES {listed}")

    def append_elsewhere(self, table: TableName, *rows: Row) -> None:
        """By PyIceberg."""
        loaded = self.lake.iceberg.load_table(table.parts)
        schema = loaded.schema().as_arrow()
        columns = zip(*rows, strict=True)
        named = {
            field.name: pa.array(list(values), field.type)
            for field, values in zip(schema, columns, strict=False)
        }
        loaded.append(pa.table(named, schema=pa.schema([schema.field(name) for name in named])))

    def add(self, *partition_by: str, **given: Any) -> LayoutSummary:
        return self.lake.layouts.add(self.table, partition_by=partition_by, **given)

    def build(self, **given: Any) -> LayoutBuild:
        (done,) = self.lake.layouts.build(self.table, **given)
        assert not done.error, done.error
        return done

    @property
    def metadata(self) -> TableMetadata:
        return self.lake.tables.describe(self.table)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        return find_layouts(self.metadata, self.lake.stores.catalog)

    @property
    def layout(self) -> Layout:
        (layout,) = self.layouts
        return layout

    def state(self) -> LayoutSummary:
        (line,) = self.lake.layouts.list(self.table)
        return line

    @property
    def stamps(self) -> dict[str, int]:
        """The snapshot of the table that each batch is known to be of."""
        states = known_batches(self.lake.stores.files, self.layout.metadata).batches
        return {label: int(state.digest.partition("@")[2]) for label, state in states.items()}

    @property
    def commits(self) -> int:
        """How many snapshots have changed rows of the layout."""
        return sum(one.changes_rows for one in self.layout.metadata.snapshots.values())

    @property
    def files(self) -> tuple[ScanFile, ...]:
        _, pointer, metadata = self.lake.tables.look_up(self.table)
        head = metadata.head()
        return self.lake.stores.scans.plan(pointer, snapshot=head.id if head else None).files

    @contextmanager
    def told_as_built(self, label: str) -> Iterator[None]:
        """What Spark writes in this block says that it is a batch as the last build left it."""
        state = known_batches(self.lake.stores.files, self.layout.metadata).batches[label]
        key = f"spark.sql.iceberg.snapshot-property.{BATCH}"
        self.lake.spark.conf.set(key, batch_summary(state))
        try:
            yield
        finally:
            self.lake.spark.conf.unset(key)

    def check(self) -> None:
        """Every layout has exactly the rows of the table, as PyIceberg reads them."""
        same_rows(self.lake, self.table)


def same_rows(lake: Lake, table: TableName) -> None:
    """Every layout of a table has exactly its rows, as PyIceberg reads them."""
    expected = _rows(lake, table)
    for layout in find_layouts(lake.tables.describe(table), lake.stores.catalog):
        assert _rows(lake, layout.table) == expected


def _rows(lake: Lake, table: TableName) -> Counter[str]:
    rows = lake.iceberg.load_table(table.parts).scan().to_arrow().to_pylist()
    return Counter(str(sorted(row.items())) for row in rows)
