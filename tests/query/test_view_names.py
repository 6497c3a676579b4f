"""A view's name is taken: no table gets it until the view is dropped, which needs no Spark."""

import json
from pathlib import Path

import pytest
from sqlalchemy import insert
from typer.testing import CliRunner

from lakebed.app import Lake
from lakebed.cli.main import app
from lakebed.engines.database.schema import iceberg_tables
from lakebed.errors import NameTaken, UnknownName
from tests.support.lakes.query_lakes import bench_of, make_lake
from tests.support.tables import new_location

SQL = "SELECT id FROM lake.shop.silver.orders WHERE id > 1"


def add_view(lake: Lake, name: str) -> None:
    """What Spark's CREATE VIEW leaves behind."""
    place = lake.root.folder / "shop" / "views" / f"{name}.metadata.json"
    place.parent.mkdir(parents=True)
    fields = [{"id": 0, "name": "id", "required": False, "type": "long"}]
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "default-namespace": [],
        "default-catalog": "lake",
    }
    document = {
        "view-uuid": "u", "format-version": 1, "location": str(place.parent), "current-version-id": 1,
        "versions": [version | {"representations": [{"type": "sql", "sql": SQL, "dialect": "spark"}]}],
        "schemas": [{"schema-id": 0, "type": "struct", "fields": fields}],
    }  # fmt: skip
    place.write_text(json.dumps(document))
    row = {
        "catalog_name": "lake",
        "table_namespace": "shop.silver",
        "table_name": name,
        "iceberg_type": "VIEW",
    }
    with lake.stores.database.writing() as connection:
        connection.execute(insert(iceberg_tables).values(**row, metadata_location=place.as_uri()))


def test_no_table_takes_the_place_of_a_view_until_it_is_dropped(tmp_path: Path) -> None:
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        bench.write(bench.table("orders"), [1, 2])
        add_view(lake, "few")
        assert lake.query("SELECT * FROM few").fetchall() == [(2,)]
        with pytest.raises(NameTaken, match=r"lakebed table drop shop\.silver\.few"):
            lake.tables.rename("orders", "shop.silver.few")
        with pytest.raises(NameTaken, match="is a view"):
            new_location(lake, "shop.silver.few")
        result = CliRunner().invoke(app, ["table", "drop", "few", "--lake", str(lake.root.folder)])
        assert "dropped the view shop.silver.few" in result.output
        assert new_location(lake, "shop.silver.few")
        assert not lake.tables.views()
        with pytest.raises(UnknownName, match="few"):
            lake.query("SELECT * FROM few")
