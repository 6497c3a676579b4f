"""A table that takes the files of a zone by runs without an engine: every file is one row, and all
books are the real ones.
"""

import os
from types import SimpleNamespace
from typing import Any, cast

from lakebed.landing import (
    ZoneRows,
    content_digests,
    data_files,
    each_once,
    known_files,
    list_zone,
    not_consumed,
)
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.pipelines.planning.pin_zones import pin_zones
from lakebed.pipelines.running.steps.archiving import archive_zones, taken
from lakebed.ports import RUN_ID, PublicationRecords, RunRecord, Snapshot
from lakebed.tables import HeldLease, PublishRequest, publish
from lakebed.tables.ledger.copies import write_copy
from tests.support.benches import ids
from tests.support.lakes.kept_lake import Kept

ZONE = ZoneName("shop", "orders")
_QUERY = b"SELECT id FROM {{ landing_zone('orders') }}\n"


class Fed:
    """`shop.silver.orders` and its zone, in a folder or a bucket."""

    def __init__(self, kept: Kept, *, archive: bool = False, strategy: str = "append_only") -> None:
        self.kept, self.archive, self.strategy = kept, archive, strategy
        self.table: TableName = kept.bench.table("orders")
        files = kept.lake.stores.files
        files.write(f"{self.table.pipeline_folder}/pipeline.sql", _QUERY)
        files.write(
            f"{self.table.pipeline_folder}/config.yaml", f"merge_strategy: {strategy}\n".encode()
        )
        files.write(f"{ZONE.folder}/zone.yaml", b"settle_seconds: 0\nreplaced: append\n")
        self.landed = 0

    @property
    def tools(self) -> Any:
        return self.kept.lake.pipelines.services

    def land(self, *, padded: int = 4) -> str:
        """A file of one row; its path."""
        self.landed += 1
        path = f"{ZONE.folder}/{self.landed}.csv"
        self.kept.lake.stores.files.write(path, f"{self.landed:<{padded}}".encode())
        return path

    def waits(self) -> set[int]:
        """What the next run would read, by row."""
        stores = self.kept.lake.stores
        present = data_files(list_zone(stores.files, ZONE), ZONE)
        known = known_files(ZONE, present, stores.files, stores.records, table=self.table)
        files = not_consumed(each_once(present, known), known)
        return {self._row(file.path) for file in files}

    def run(self, *, full_refresh: bool = False) -> Snapshot | None:
        """As a run does it: look whether the lake was moved, take the lease, pin, write on a
        branch, publish with the books, archive.

        None: there was nothing to read.
        """
        self.tools.placement.require_relocated(self.table)
        with self.kept.lake.tables.lease(self.table) as held:
            return self._run(held, full_refresh=full_refresh)

    def _run(self, held: HeldLease, *, full_refresh: bool) -> Snapshot | None:
        pins = self._pins(full_refresh=full_refresh)
        (pin,) = pins.values()
        if not pin.files:
            return None
        run_id, files, tools = new_run_id(), self.kept.lake.stores.files, self.tools
        self._write(
            sorted(self._row(file.path) for file in pin.files),
            run_id,
            replace=full_refresh or self.strategy == "full_refresh",
        )
        work = SimpleNamespace(
            context=SimpleNamespace(pins=SimpleNamespace(landing=pins)),
            spec=self._spec,
            progress=SimpleNamespace(
                landed={(ZONE, None): ZoneRows(None, pin.files)},
                digests=content_digests(files, pin.files, ()),
            ),
            services=tools,
            table=self.table,
            run_id=run_id,
        )
        rows = taken(cast("Any", work))
        record = RunRecord(run_id, "i", self.table, "running", tools.ports.now())
        write_copy(files, run_id, rows)
        publish(
            tools.ports.catalog,
            [PublishRequest(self.table, f"run_{run_id}")],
            run_id=run_id,
            leases=[held.require()],
            records=PublicationRecords((record,), rows),
        )
        if self.archive:
            archive_zones([ZONE], {self.table: self._spec}, tools)
        return self.head()

    def head(self) -> Snapshot | None:
        return self.kept.lake.tables.describe(self.table).head()

    def rows(self) -> list[int]:
        return self.kept.bench.rows(self.table)

    def states(self) -> dict[int, str]:
        """What the ledger says of each file that it does not let wait."""
        return {
            self._number(row.path): row.state
            for row in self.tools.ports.records.consumed(ZONE, table=self.table)
        }

    @property
    def _spec(self) -> Any:
        return self.kept.lake.pipelines.load().specs[self.table]

    def _pins(self, *, full_refresh: bool) -> Any:
        return pin_zones(self._spec, self.tools, full_refresh=full_refresh, absent=False)

    def _row(self, path: str) -> int:
        return int(self.kept.lake.stores.files.read(path, start=0, length=12))

    @staticmethod
    def _number(path: str) -> int:
        return int(os.path.splitext(os.path.basename(path))[0])

    def _write(self, rows: list[int], run_id: str, *, replace: bool) -> None:
        branch, loaded = f"run_{run_id}", self.kept.bench.iceberg.load_table(self.table.parts)
        head = loaded.current_snapshot()
        if head is None:
            loaded.append(ids([]))  # PyIceberg cannot begin a table on a branch
            head = loaded.refresh().current_snapshot()
        assert head
        loaded.manage_snapshots().create_branch(head.snapshot_id, branch).commit()
        write = loaded.overwrite if replace and self.rows() else loaded.append
        write(ids(rows), branch=branch, snapshot_properties={RUN_ID: run_id})
