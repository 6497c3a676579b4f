"""A view's name is taken: no table gets it until the view is dropped, which needs no Spark."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.cli.main import app
from lakebed.errors import NameTaken, UnknownName
from lakebed.names import TableName
from tests.support.lakes.query_lakes import bench_of, make_lake
from tests.support.tables import new_location
from tests.support.views import add_view

FEW = TableName("shop", "silver", "few")
SQL = "SELECT id FROM lake.shop.silver.orders WHERE id > 1"


def test_no_table_takes_the_place_of_a_view_until_it_is_dropped(tmp_path: Path) -> None:
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        bench.write(bench.table("orders"), [1, 2])
        add_view(lake, FEW, SQL, {"id": "long"})
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
