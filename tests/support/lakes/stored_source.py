"""A source of many formats in any store, its table in any lake, and the rows that it must have."""

import gzip
import io
import json
from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.app import Lake
from lakebed.names import TableName
from lakebed.ports import Files, RunRecord
from tests.support.tables import snapshots_of

Row = dict[str, Any]
FORMATS = ("json", "json.gz", "ndjson", "csv", "csv.gz", "parquet")


class StoredSource:
    """The table `{namespace}.bronze.events`, a batch a year, from `raw/year=*/{name}`.

    `place` is what the source's pattern begins with if the files are outside of the lake.
    """

    def __init__(
        self, lake: Lake, *, namespace: str = "shop", files: Files | None = None, place: str = ""
    ) -> None:
        self.lake, self.table = lake, TableName(namespace, "bronze", "events")
        self.files = files or lake.stores.files
        self.rows: dict[str, list[Row]] = {}
        config = (
            f'source: "{place}raw/year=*/{{name}}"\nbatch_by: year\nmax_retries: 0\n'
            "columns: {id: BIGINT, v: VARCHAR, year: INTEGER}\n"
        )
        lake.stores.files.write(f"{self.table.pipeline_folder}/config.yaml", config.encode())

    def put(self, year: int, name: str, *rows: Row) -> None:
        """A file; its format is that of its name."""
        path = f"raw/year={year}/{name}"
        self.files.write(path, encoded(name, rows))
        self.rows[path] = [{**row, "year": year, "name": name} for row in rows]

    def put_all(self, year: int) -> None:
        """A file of each format, under names that stores and Spark spell differently."""
        for number, format_ in enumerate(FORMATS):
            self.put(year, f"a b+%41 {number}.{format_}", {"id": number, "v": f"é {format_}"})

    def delete(self, path: str) -> None:
        self.files.delete(path)
        del self.rows[path]

    def run(self, **options: Any) -> RunRecord:
        (record,) = self.lake.run(str(self.table), **options).records
        return record

    def ran(self, **options: Any) -> dict[str, str]:
        """Why each batch ran that did; all must succeed, and the table have the rows of all files."""
        record = self.run(**options)
        assert record.state == "success", record.error
        self.check()
        return {batch.label: batch.reason for batch in record.batches}

    def check(self) -> None:
        found = self.lake.iceberg.load_table(self.table.parts).scan().to_arrow().to_pylist()
        wanted = [row for rows in self.rows.values() for row in rows]
        assert _counted(found) == _counted(wanted)

    def check_records(self) -> None:
        """Each batch that was published has one line of one record, and one snapshot."""
        records = self.lake.stores.records.runs(table=self.table)
        assert [record for record in records if record.state == "running"] == []
        lines = [line.snapshot for record in records for line in record.batches]
        published = [one.id for one in snapshots_of(self.lake, self.table)]
        assert sorted(line for line in lines if line) == sorted(published)
        assert set(self.lake.tables.describe(self.table).refs) == {"main"}

    def batches(self, **options: Any) -> dict[str, int]:
        """What a query shows: rows of each batch."""
        found = self.lake.query(
            f'SELECT batch, rows FROM {self.table.namespace}.bronze."events$batches"', **options
        )
        return {row["batch"]: row["rows"] for row in found.to_arrow().to_pylist()}


def encoded(name: str, rows: tuple[Row, ...]) -> bytes:
    """Rows in the format of a file's name."""
    plain = name.removesuffix(".gz")
    if plain.endswith("parquet"):
        out = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(list(rows)), out)
        data = out.getvalue()
    elif plain.endswith("csv"):
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        data = "\n".join(lines).encode()
    elif plain.endswith("ndjson"):
        data = "\n".join(map(json.dumps, rows)).encode()
    else:
        data = json.dumps(list(rows)).encode()
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


def _counted(rows: list[Row]) -> Counter[str]:
    told = ({k: v for k, v in row.items() if v is not None} for row in rows)
    return Counter(json.dumps(row, sort_keys=True) for row in told)
