"""The table of a walk and the zone that feeds it, opened wherever the lake is now."""

import os
import time
from pathlib import Path

from lakebed.errors import RunFailed
from lakebed.names import TableName
from lakebed.ports import RunRecord, Snapshot
from tests.support.lakes.fed_lake import ZONE, Fed
from tests.support.lakes.kept_lake import Kept

TABLE = TableName("shop", "silver", "orders")
_QUERY = b"SELECT CAST(id AS BIGINT) AS id FROM {{ landing_zone('orders') }}\n"
AGE = 60.0  # seconds ago that files came, so that no run waits to see whether they still grow


class Feed(Fed):
    """Runs without an engine. The table need not be made anew: the lake may be a copy."""

    def __init__(self, kept: Kept, *, archive: bool, strategy: str) -> None:
        self.kept, self.archive, self.strategy = kept, archive, strategy
        self.table = TABLE

    def write_pipeline(self) -> None:
        files = self.kept.lake.stores.files
        config = f"merge_strategy: {self.strategy}\narchive_landing_zones: {self.archive}\n"
        files.write(f"{TABLE.pipeline_folder}/pipeline.sql", _QUERY)
        files.write(f"{TABLE.pipeline_folder}/config.yaml", config.lower().encode())
        files.write(f"{ZONE.folder}/zone.yaml", b"settle_seconds: 0\n")

    def land_row(self, row: int) -> None:
        """A file of one row, named after it."""
        file = self.landing / f"{row}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"id\n{row}\n")
        then = time.time() - AGE
        os.utime(file, (then, then))

    @property
    def landing(self) -> Path:
        return self.kept.lake.root.folder / ZONE.folder

    def _row(self, path: str) -> int:
        return int(self.kept.lake.stores.files.read(path).split()[1])


class SparkFeed(Feed):
    """Runs on Spark, as users start them."""

    def run(self, *, full_refresh: bool = False) -> Snapshot | None:
        (record,) = self.kept.lake.run("silver.orders", full_refresh=full_refresh).records
        if record.state != "success":
            raise RunFailed(str(record.error))
        self._require_one_snapshot(record)
        return self.head()

    def _require_one_snapshot(self, record: RunRecord) -> None:
        same = [run for run in self.tools.ports.records.runs() if run.run_id == record.run_id]
        assert len(same) == 1
        snapshots = self.kept.lake.tables.describe(TABLE).snapshots.values()
        assert len([one for one in snapshots if one.run_id == record.run_id]) <= 1
