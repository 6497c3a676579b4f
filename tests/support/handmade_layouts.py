"""Layouts written by hand, with PyIceberg: what a build writes, without Spark."""

import json
import warnings
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.batches.keys import KeyValues, label
from lakebed.batches.sidecars import known_batches
from lakebed.batches.state import BATCH, BatchState, batch_summary
from lakebed.derived.freshness import columns_digest, source_digest
from lakebed.derived.identity import (
    COVERS,
    DERIVED_TABLES,
    layout_properties,
    listing,
    new_table_name,
)
from lakebed.derived.labels import batch_keys
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.ports import TableMetadata
from tests.support.benches import RealBench


class HandMadeLayout:
    """A layout of a table, empty at first."""

    def __init__(
        self,
        bench: RealBench,
        source: TableName,
        *,
        partition_by: Iterable[str] = (),
        sort_by: Iterable[str] = (),
        batch_by: Iterable[str] = (),
        name: str = "",
        **properties: str,
    ) -> None:
        self.bench, self.source = bench, source
        self.spec = LayoutSpec.model_validate(
            {
                "name": name,
                "partition_by": list(partition_by),
                "sort_by": list(sort_by),
                "batch_by": list(batch_by),
            }
        )
        self.table = new_table_name(source, underscore=True)
        self._make(properties)
        self._list()

    def _make(self, properties: dict[str, str]) -> None:
        from pyiceberg.schema import assign_fresh_schema_ids

        loaded = self.bench.iceberg.load_table(self.source.parts)
        made = self.bench.iceberg.create_table(
            self.table.parts,
            assign_fresh_schema_ids(loaded.schema()),
            location=self.bench.root.at(self.table.folder),
            properties={
                **layout_properties(self.spec, self.table, str(loaded.metadata.table_uuid)),
                **properties,
            },
        )
        with made.update_spec() as update:
            for field in self.spec.fields:
                update.add_identity(field.column)  # PyIceberg computes no other transform
        if self.spec.order:
            from pyiceberg.transforms import IdentityTransform

            with made.update_sort_order() as order:
                for term in self.spec.order:
                    order.asc(term.by.column, IdentityTransform())

    def _list(self) -> None:
        loaded = self.bench.iceberg.load_table(self.source.parts)
        listed = loaded.properties.get(DERIVED_TABLES, "[]")
        names = [*map(TableName.parse, json.loads(listed)), self.table]
        with loaded.transaction() as change:
            change.set_properties({DERIVED_TABLES: listing(names) or ""})

    @property
    def source_metadata(self) -> TableMetadata:
        pointers = self.bench.catalog.pointers([self.source])
        return self.bench.catalog.metadata(pointers.values())[self.source]

    @property
    def iceberg(self) -> Any:
        return self.bench.iceberg.load_table(self.table.parts)

    def build(self, *labels: str, covers: bool = True) -> None:
        """Write these batches as the source has them now, or all; with all of them it covers the
        source.
        """
        source = self.source_metadata
        head = source.head()
        if head is None:
            return
        rows = self.bench.iceberg.load_table(self.source.parts).scan().to_arrow()
        keys = batch_keys(source.columns, self.spec.batch_columns)
        names, at = [key.name for key in keys], datetime.now(UTC)
        made_from, schema = source_digest(source.uuid, head.id), columns_digest(source)
        batches = {label(keys, values): values for values in _distinct(rows, names)}
        states = {
            one: BatchState(one, made_from, self.spec.digest, schema, at=at) for one in batches
        }
        for one in labels:
            taken = _of(rows, names, batches[one])
            self._overwrite(taken, _filter(names, batches[one]), states[one])
        if not labels:  # in one commit, as several small batches are built
            gone = [BatchState(one, "", "") for one in self._known() if one not in batches]
            self._overwrite(rows, _filter((), ()), *states.values(), *gone)
        if covers and not labels:
            self.cover(head.id)

    def _known(self) -> Collection[str]:
        """The batches that the layout has."""
        pointers = self.bench.catalog.pointers([self.table])
        metadata = self.bench.catalog.metadata(pointers.values())[self.table]
        return known_batches(self.bench.stores.files, metadata).batches

    def labels(self) -> list[str]:
        """The batches that the source has."""
        rows = self.bench.iceberg.load_table(self.source.parts).scan().to_arrow()
        keys = batch_keys(self.source_metadata.columns, self.spec.batch_columns)
        return [label(keys, values) for values in _distinct(rows, [key.name for key in keys])]

    def again(self) -> "HandMadeLayout":
        """Another one of the same spec in its place, empty."""
        loaded = self.bench.iceberg.load_table(self.source.parts)
        names = json.loads(loaded.properties[DERIVED_TABLES])
        with loaded.transaction() as change:
            others = [TableName.parse(name) for name in names if name != str(self.table)]
            change.set_properties({DERIVED_TABLES: listing(others) or "[]"})
        return HandMadeLayout(
            self.bench,
            self.source,
            name=self.spec.name,
            partition_by=map(str, self.spec.partition_by),
            sort_by=self.spec.sort_by,
            batch_by=self.spec.batch_columns,
        )

    def cover(self, snapshot: int) -> None:
        """Say that it has all rows of the source as of a snapshot."""
        with self.iceberg.transaction() as change:
            change.set_properties({COVERS: str(snapshot)})

    def _overwrite(self, rows: pa.Table, where: Any, *states: BatchState) -> None:
        if self.spec.order:
            rows = rows.sort_by([(term.by.column, "ascending") for term in self.spec.order])
        with warnings.catch_warnings():  # PyIceberg warns if there was no such batch before
            warnings.simplefilter("ignore")
            self.iceberg.overwrite(
                rows,
                overwrite_filter=where,
                snapshot_properties={BATCH: batch_summary(*states)},
            )


def _distinct(rows: pa.Table, names: Collection[str]) -> list[KeyValues]:
    if not names:
        return [()]
    found = rows.select(list(names)).group_by(list(names)).aggregate([])
    return [tuple(row[name] for name in names) for row in found.to_pylist()]


def _of(rows: pa.Table, names: Collection[str], values: KeyValues) -> pa.Table:
    for name, value in zip(names, values, strict=True):
        column = rows[name]
        rows = rows.filter(column.is_null() if value is None else pc.equal(column, value))
    return rows


def _filter(names: Collection[str], values: KeyValues) -> Any:
    made: Any = import_module("pyiceberg.expressions")  # whose types know no positional arguments
    found = made.AlwaysTrue()
    for name, value in zip(names, values, strict=True):
        one = made.IsNull(name) if value is None else made.EqualTo(name, value)
        found = made.And(found, one)
    return found
