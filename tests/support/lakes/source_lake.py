"""A lake whose table is made from files in folders, and what it must hold: read by plain Python."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from lakebed.ports import RunRecord
from tests.support.lakes.pipeline_lake import TestLake

CONFIG = """\
source: "downloads/{table}_{year}_{set}.json"
partitions: {keys: [{name: year, type: INTEGER}, {name: geo, type: VARCHAR}]}
batch_partition_columns: [year]
columns: {geo: {from: GeoFips, type: VARCHAR}}
max_retries: 0
"""
NAME = "bronze.income"
_FILE = re.compile(r"([^/]+?)_(\d+)_([^/]+?)\.json")


class SourceLake(TestLake):
    """The table `shop.bronze.income`, by year."""

    def __init__(self, folder: Path, config: str = CONFIG, **options: Any) -> None:
        super().__init__(folder, **options)
        self.source = folder / "downloads"
        self.source.mkdir()
        self.configure(config)

    def configure(self, config: str) -> None:
        folder = self.folder / "shop" / "pipelines" / "bronze" / "income"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.yaml").write_text(config)

    def put(self, name: str, *rows: dict[str, Any]) -> Path:
        """A file of the source, such as `CA1_2020_COUNTY`."""
        file = self.source / f"{name}.json"
        file.write_text("\n".join(map(json.dumps, rows)))
        return file

    def put_values(self, name: str, *values: Any) -> Path:
        return self.put(name, *({"GeoFips": f"0{n}", "value": v} for n, v in enumerate(values)))

    def run_source(self, **options: Any) -> RunRecord:
        return self.run(NAME, **options)[NAME]

    def ran(self, **options: Any) -> dict[str, str]:
        """Why each batch ran that did; all must succeed."""
        record = self.run_source(**options)
        assert record.state == "success", record.error
        return {batch.label: batch.reason for batch in record.batches}

    def checked_first(self) -> int:
        """How many batches of the last run were taken back, since files were not what they
        seemed.
        """
        logs = sorted((self.folder / ".data/logs/runs").glob("*"))
        return logs[-1].read_text().count("checking all files before their rows are written")

    def check(self) -> None:
        """The table has exactly the rows of the source, batch by batch."""
        assert self.counted(self.rows(NAME)) == self.counted(self.expected())

    def counted(self, rows: list[dict[str, Any]]) -> Counter[str]:
        """Rows with their number; a column without a value counts as none."""
        told = ({k: v for k, v in row.items() if v is not None} for row in rows)
        return Counter(json.dumps(row, sort_keys=True, default=str) for row in told)

    def expected(self) -> list[dict[str, Any]]:
        found = []
        for file in self.source.glob("*.json"):
            parts = _FILE.fullmatch(file.name)
            assert parts, file
            keys = {"table": parts[1], "year": int(parts[2]), "set": parts[3]}
            for line in file.read_text().splitlines():
                row = json.loads(line)
                found.append({**keys, "geo": row.pop("GeoFips"), **row})
        return found
