"""Landing zones at the keyboard."""

import json
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import open_lake
from lakebed.names import TableName, ZoneName, new_run_id
from lakebed.ports import ColumnTypeChange, ConsumedFile, Publication, PublicationRecords, ZoneTypes
from lakebed.tables import publish
from tests.support.lakes.shop import lakebed, make_shop, write


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAKEBED_LAKE", str(tmp_path / "lake"))
    return make_shop(tmp_path / "lake")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "day 2 #1 [ü].csv"
    path.write_text("id,country,amount\n9,DE,1.0\n")
    return path


def told(*arguments: str) -> Any:
    done = lakebed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def states(zone: str) -> dict[str, str]:
    return {file["path"]: file["state"] for file in told("zone", "show", zone)["files"]}


def test_zones_are_those_with_a_folder_and_those_a_pipeline_reads(lake: Path) -> None:
    write(
        lake, "pipelines/bronze/calls/pipeline.sql", "SELECT * FROM {{ landing_zone('api-data') }}"
    )
    write(lake, "landing/unread/a.csv", "a\n1\n")
    write(lake, "landing/unread/zone.yaml", "description: nobody's\n")
    rows = {row["zone"]: row for row in told("zone", "ls")}
    assert {zone: row["waiting"] for zone, row in rows.items()} == {
        "shop.api-data": 0,
        "shop.orders": 2,
        "shop.rates": 1,
        "shop.unread": 1,
    }
    assert (rows["shop.unread"]["read_by"], rows["shop.unread"]["description"]) == ([], "nobody's")
    assert "shop.bronze.orders" in lakebed("zone", "ls").stdout


def test_a_lake_without_zones_says_how_to_begin(tmp_path: Path) -> None:
    lakebed("init", str(tmp_path / "empty"))
    assert "lakebed zone put" in lakebed("zone", "ls", "--lake", str(tmp_path / "empty")).stdout


def test_a_file_is_put_under_its_own_name_and_waits(lake: Path, file: Path) -> None:
    assert (
        f"put shop/landing/orders/{file.name} ("
        in lakebed("zone", "put", "orders", str(file)).stdout
    )
    assert states("orders")[file.name] == "waiting"
    assert file.name in lakebed("zone", "show", "shop.orders").stdout


def test_files_are_in_the_state_their_place_says(lake: Path, file: Path) -> None:
    write(lake, "landing/orders/sub/day3.csv", "id\n1\n")
    write(lake, "landing/orders/half.csv.part", "id\n")
    write(lake, "landing/orders/empty.csv", "")
    write(lake, "landing/orders/_processed/r1/day0.csv", "id\n")
    write(lake, "landing/orders/_quarantine/r2/bad.csv", "id\n")
    write(lake, "landing/orders/_quarantine/r2/bad.csv.reason.json", '{"reason": "it is torn"}')
    lakebed("zone", "put", "orders", str(file), "--sample")
    assert states("orders") == {
        "day1.csv": "waiting",
        "torn.json": "waiting",
        "sub/day3.csv": "waiting",
        "half.csv.part": "writing",
        "empty.csv": "waiting",
        "day0.csv": "processed",
        "bad.csv": "quarantined",
        file.name: "sample",
    }
    assert "it is torn; run r2" in lakebed("zone", "show", "orders").stdout


def test_quarantined_files_are_brought_back_together_or_by_name_or_run(lake: Path) -> None:
    for run, name in (("r1", "a.csv"), ("r1", "sub/b.csv"), ("r2", "c.csv")):
        write(lake, f"landing/orders/_quarantine/{run}/{name}", "id\n1\n")
        write(lake, f"landing/orders/_quarantine/{run}/{name}.reason.json", '{"reason": "torn"}')
    assert "lakebed zone retry shop.orders" in lakebed("zone", "show", "orders").stdout
    done = lakebed("zone", "retry", "orders", "sub/b.csv")
    assert done.stdout == "brought back shop/landing/orders/sub/b.csv (5 B)\n"
    assert states("orders")["sub/b.csv"] == "waiting"
    assert states("orders")["a.csv"] == "quarantined"
    assert [file["path"] for file in told("zone", "retry", "orders", "--run", "r2")] == [
        "shop/landing/orders/c.csv"
    ]
    assert [file["path"] for file in told("zone", "retry", "orders")] == [
        "shop/landing/orders/a.csv"
    ]
    assert not list((lake / "shop/landing/orders/_quarantine").rglob("*.json"))
    assert lakebed("zone", "retry", "orders").stdout == "no file of orders is in quarantine\n"


def test_no_file_is_brought_back_over_another(lake: Path) -> None:
    write(lake, "landing/orders/_quarantine/r1/a.csv", "id\n1\n")
    write(lake, "landing/orders/_quarantine/r1/day1.csv", "id\n1\n")
    done = lakebed("zone", "retry", "orders")
    assert done.exit_code == 2
    assert "another file is where" in done.stderr
    assert states("orders")["a.csv"] == "quarantined"
    write(lake, "landing/orders/_quarantine/r2/a.csv", "id\n2\n")
    both = lakebed("zone", "retry", "orders", "a.csv")
    assert (
        "2 runs set aside files that would be brought back to shop/landing/orders/a.csv"
        in both.stderr
    )
    assert "--run: r1, r2" in both.stderr
    assert "Did you mean a.csv" in lakebed("zone", "retry", "orders", "a.cvs").stderr


def test_what_does_not_fit_the_zones_pattern_is_ignored(lake: Path) -> None:
    write(lake, "landing/orders/zone.yaml", "pattern: '*.csv'\n")
    assert states("orders") == {"day1.csv": "waiting", "torn.json": "ignored"}


def test_a_name_that_is_taken_refuses_all_files_unless_they_may_replace(
    lake: Path, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.csv").write_text("id\n")
    lakebed("zone", "put", "orders", str(file))
    done = lakebed("zone", "put", "orders", str(tmp_path / "other.csv"), str(file))
    assert done.exit_code == 2
    assert "already exists" in done.stderr
    assert "other.csv" not in states("orders")
    file.write_text("id\n7\n")
    assert lakebed("zone", "put", "orders", str(file), "--replace").exit_code == 0
    assert (lake / "shop" / "landing" / "orders" / file.name).read_text() == "id\n7\n"


def test_a_new_zone_needs_its_whole_name(lake: Path, file: Path) -> None:
    assert lakebed("zone", "put", "shop.fresh", str(file)).exit_code == 0
    assert states("fresh") == {file.name: "waiting"}
    assert "Did you mean" in lakebed("zone", "put", "ordes", str(file)).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "ordes"], "Did you mean orders"),
        (["show", "Bad.Name"], "there is no zone"),
        (["put", "orders", "nowhere.csv"], "does not exist"),
        (["put", "shop._hidden", "{file}"], "reserved"),
        (["lss"], "Did you mean"),
    ],
)
def test_bad_input(lake: Path, file: Path, arguments: list[str], said: str) -> None:
    done = lakebed("zone", *(argument.format(file=file) for argument in arguments))
    assert done.exit_code == 2, done.output
    assert said in done.stderr


@pytest.mark.parametrize("name", ["_secret.csv", ".hidden.csv", "half.csv.part"])
def test_a_file_that_would_not_be_read_is_refused(lake: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id\n")
    done = lakebed("zone", "put", "orders", str(tmp_path / name))
    assert done.exit_code == 2
    assert "cannot be the name of a file in a zone" in done.stderr


def test_a_broken_zone_yaml_is_told_with_its_line(lake: Path) -> None:
    write(lake, "landing/orders/zone.yaml", "header: true\ndelimeter: ';'\n")
    done = lakebed("zone", "show", "orders")
    assert done.exit_code == 2
    assert "zone.yaml:2" in done.stderr
    assert "delimiter" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["plan", "compile", "run", "run --together", "run --dry-run", "preview bronze.orders"],
)
def test_a_misspelt_zone_is_refused_and_no_silent_success(lake: Path, command: str) -> None:
    write(
        lake,
        "pipelines/bronze/orders/pipeline.sql",
        "SELECT 1 AS a\n\nFROM {{ landing_zone('ordres') }}\n",
    )
    done = lakebed(*command.split())
    assert done.exit_code == 2
    assert "bronze/orders/pipeline.sql:3: there is no landing zone 'ordres'." in done.output
    assert "Did you mean orders?" in done.output
    assert "lakebed zone put shop.ordres FILE" in done.output
    assert lakebed("runs").stdout == "nothing has run yet\n"


def test_a_zone_that_is_still_empty_or_whose_files_were_all_taken_is_known(
    lake: Path, file: Path
) -> None:
    calls = "-- @merge_strategy: append_only\nSELECT * FROM {{ landing_zone('calls') }}"
    write(lake, "pipelines/bronze/calls/pipeline.sql", calls)
    assert lakebed("plan", "calls").exit_code == 2
    taken = ConsumedFile(
        TableName("shop", "bronze", "other"),
        ZoneName("shop", "calls"),
        "shop/landing/calls/a.csv",
        "e",
        1,
        "r",
    )
    with open_lake(lake) as opened:
        opened.stores.catalog.commit(
            Publication("r", ()), expected={}, records=PublicationRecords(consumed=(taken,))
        )
    assert lakebed("plan", "calls").exit_code == 0
    write(lake, "pipelines/bronze/calls/pipeline.sql", calls.replace("calls", "empty"))
    (lake / "shop" / "landing" / "empty").mkdir()
    assert "no file is waiting in shop.empty" in lakebed("plan", "calls").stdout
    write(lake, "pipelines/bronze/calls/pipeline.sql", calls.replace("calls", "put"))
    assert lakebed("zone", "put", "shop.put", str(file)).exit_code == 0
    assert "Write" in str(told("plan", "calls"))


def test_a_file_without_a_byte_is_shown_with_what_becomes_of_it(lake: Path) -> None:
    write(lake, "landing/orders/quiet.csv", "")
    write(lake, "landing/orders/sent.csv.part", "id")
    assert (states("orders")["quiet.csv"], states("orders")["sent.csv.part"]) == (
        "waiting",
        "writing",
    )
    shown = lakebed("zone", "show", "orders").stdout
    assert "it has 0 bytes: a run will read no rows" in shown
    assert "its name says that it is unfinished" in shown
    (files,) = (zone["files"] for zone in told("plan", "bronze.orders")[0]["files"])
    assert "shop/landing/orders/quiet.csv" in {file["path"] for file in files}
    write(lake, "landing/orders/zone.yaml", "empty_file: bad\n")
    assert "it has 0 bytes: a run will set it aside" in lakebed("zone", "show", "orders").stdout


def test_putting_into_a_new_zone_says_how_to_name_it(
    tmp_path: Path, lake: Path, file: Path
) -> None:
    done = lakebed("zone", "put", "raw_customers", str(file))
    assert done.exit_code == 2
    assert "a new one needs its full name, namespace.zone" in done.output
    assert "lakebed zone put shop.raw_customers FILE" in done.output
    assert "Did you mean orders? For example" in lakebed("zone", "put", "ordrs", str(file)).output
    lakebed("init", str(tmp_path / "new"))
    assert (
        "lakebed zone put shop.raw FILE"
        in lakebed("zone", "put", "raw", str(file), "--lake", str(tmp_path / "new")).output
    )


def test_what_columns_are_read_as_is_shown_with_who_says_so(lake: Path) -> None:
    write(lake, "landing/orders/zone.yaml", "settle_seconds: 0\ntypes: {DEP: string}\n")
    opened = open_lake(lake)
    columns = (ColumnTypeChange("id", "", "int"), ColumnTypeChange("dep", "", "int"))
    learned = (
        ZoneTypes(ZoneName("shop", "orders"), "", columns),
        ZoneTypes(ZoneName("shop", "orders"), "*.json", columns[:1]),
    )
    publish(
        opened.stores.catalog, [], run_id=new_run_id(), records=PublicationRecords(types=learned)
    )
    opened.close()
    types = told("zone", "show", "orders")["types"]
    assert [(one["column"], one["type"], one["said_by"], one["pattern"]) for one in types[:3]] == [
        ("DEP", "string", "zone.yaml", ""),
        ("id", "int", "earlier runs", ""),
        ("id", "int", "earlier runs", "*.json"),
    ]
    assert {one["said_by"] for one in types[3:]} == {"waiting files"}
    assert {(one["type"], one["value"]) for one in types[3:]} == {
        ("string", "DE"),
        ("double", "10.0"),
    }
    shown = lakebed("zone", "show", "orders").stdout
    assert "DEP" in shown
    assert "id (*.json)" in shown
