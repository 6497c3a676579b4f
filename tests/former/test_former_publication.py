"""A publication that an earlier Lakebed's death divided is completed by this one, with all that
goes along with it.

It can be divided on a REST catalog only: others move all tables in one transaction.
"""

import json
from pathlib import Path
from typing import Any

from lakebed.names import ZoneName
from lakebed.tables import settle_publications
from tests.servers.postgres import Database
from tests.support.benches import RealBench

PACKED = Path(__file__).with_name("publication.json")
FIRST, SECOND = "01a1e369b9b05fe9f5308b334c13bb2a", "01a1e369b9b15fe9f5308b334c13bb2b"


def test_the_second_table_moves_and_the_runs_and_files_are_known(
    rest_only_bench: RealBench, database: Database
) -> None:
    bench = rest_only_bench
    tables = [bench.table(name) for name in ("a", "b")]
    values = {"NAMESPACE": bench.namespace}
    for table, run_id in zip(tables, (FIRST, SECOND), strict=True):
        bench.write(table, [0])
        bench.write(table, [1], branch=f"run_{run_id}")
        refs = bench.iceberg.load_table(table.parts).metadata.refs
        values |= {
            f"BASE_OF_{table.name.upper()}": str(refs["main"].snapshot_id),
            f"HEAD_OF_{table.name.upper()}": str(refs[f"run_{run_id}"].snapshot_id),
        }
    moved = bench.iceberg.load_table(tables[0].parts)
    moved.manage_snapshots().set_current_snapshot(int(values["HEAD_OF_A"])).commit()
    moved.refresh().manage_snapshots().remove_branch(f"run_{FIRST}").commit()
    put(database, values)
    assert [bench.rows(table) for table in tables] == [[0, 1], [0]]
    assert list(settle_publications(bench.catalog)) == [FIRST]
    assert [bench.rows(table) for table in tables] == [[0, 1], [0, 1]]
    assert bench.catalog.published(FIRST) is not None
    assert [record.state for record in bench.stores.records.runs()] == ["success", "success"]
    (file,) = bench.stores.records.consumed(ZoneName(bench.namespace, "orders"))
    assert (file.path, file.state) == (f"{bench.namespace}/landing/orders/day1.csv", "taken")


def put(database: Database, values: dict[str, str]) -> None:
    """The former rows, about the tables that are there now."""
    text = PACKED.read_text()
    for name, value in values.items():
        text = text.replace(name, value)
    told: dict[str, list[dict[str, Any]]] = json.loads(text)
    with database.connect() as connection:
        for table, rows in told.items():
            for row in rows if table.startswith("lakebed_") else ():
                names, places = ", ".join(f'"{name}"' for name in row), ", ".join(["%s"] * len(row))
                connection.execute(
                    f"INSERT INTO {table} ({names}) VALUES ({places})".encode(), list(row.values())
                )
