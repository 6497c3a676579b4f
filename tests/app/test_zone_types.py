"""What a zone's columns were taken for is remembered: files that drift a little block nobody, and
lose no row.
"""

import gzip

import pytest

from lakebed.names import ZoneName
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.scale import in_turn

pytestmark = pytest.mark.spark

YEAR: dict[str, str | bytes] = {
    "01.csv": "id,dep,delay,code\n1,5,1.5,AA\n2,7,2.0,B6\n",
    "02.csv": "id,dep,delay,code\n3,NA,NA,AA\n",
    "03.csv": "id,dep,delay,code\n4,6,3,123\n",  # no NA, and only digits where there were texts
    "04.csv": "id,dep,delay,code\n",
    "05.csv": "",
    "06.csv": "id,dep,delay,code\n5,N/A,0.5,AA\n",
    "07.csv": "id,dep,delay,code\n6,null,,AA\n7,,1.0,\n",
    "08.csv": "id,dep,delay,code\n8,NA,NA,NA\n",
    "09.csv": "id,dep,delay,code,gate\n9,3,1.0,AA,12\n",
    "10.csv": "CODE,ID,DELAY,DEP\nAA,10,1.0,4\n",
    "11.csv": "id,dep,delay,code\n11,8,2.5,77\n",
    "12.csv.gz": gzip.compress(b'id,dep,delay,code\n12,9,1,"O""Hare"\n', mtime=0),
}
NULLS = 'nulls: [NA, N/A, "null", ""]\n'
APPEND = "merge_strategy: append_only\n"


def query(zone: str, columns: str = "*") -> str:
    return f"SELECT {columns} FROM {{{{ landing_zone('{zone}') }}}}"


def types(shop: TestLake, zone: str) -> dict[str, str]:
    return {
        column.column: column.type for column in shop.lake.zones.show(ZoneName("shop", zone)).types
    }


def aside(shop: TestLake, zone: str) -> dict[str, str]:
    """Why files lie in quarantine, by name."""
    files = shop.lake.zones.show(ZoneName("shop", zone)).files
    return {file.path: file.reason for file in files if file.state == "quarantined"}


def columns(shop: TestLake, name: str) -> dict[str, str]:
    return {
        column.name: column.type for column in shop.lake.tables.describe(shop.table(name)).columns
    }


def land_a_year(shop: TestLake, zone: str, config: str = "") -> None:
    """Month by month, each with a run.

    The pipeline and its zone have their default settings, save what a test says.
    """
    shop.pipeline("bronze.flights", query(zone, "id, dep, delay, code"), APPEND + config)
    for name, data in YEAR.items():
        shop.land(zone, name, data)
        shop.run_one("bronze.flights")


@in_turn(0, of=2)
def test_every_row_of_a_year_of_drifting_files_arrives_where_the_spellings_of_null_are_set(
    shop: TestLake,
) -> None:
    shop.land("z", "zone.yaml", NULLS)
    land_a_year(shop, "z")
    assert aside(shop, "z") == {}
    rows = {row["id"]: row for row in shop.rows("bronze.flights")}
    assert sorted(rows) == list(range(1, 13))
    assert [rows[id]["dep"] for id in range(1, 13)] == [
        5,
        7,
        None,
        6,
        None,
        None,
        None,
        None,
        3,
        4,
        8,
        9,
    ]
    assert [rows[id]["code"] for id in (3, 4, 7, 8, 11, 12)] == [
        "AA",
        "123",
        None,
        None,
        "77",
        'O"Hare',
    ]
    assert types(shop, "z") == {
        "id": "int",
        "dep": "int",
        "delay": "double",
        "code": "string",
        "gate": "int",
    }
    before = shop.rows("bronze.flights"), columns(shop, "bronze.flights")
    shop.run_one("bronze.flights", full_refresh=True)
    assert (shop.rows("bronze.flights"), columns(shop, "bronze.flights")) == before


@in_turn(1, of=2)
def test_of_a_year_of_drifting_files_with_default_settings_exactly_the_named_ones_are_set_aside_and_why(
    shop: TestLake,
) -> None:
    land_a_year(shop, "z", "archive_landing_zones: true\n")
    told = {
        "02.csv": ("'3,NA,NA,AA'", "NA", 1),
        "06.csv": ("'5,N/A,0.5,AA'", "N/A", 1),
        "08.csv": ("'8,NA,NA,NA'", "NA", 1),
    }
    told["07.csv"] = ("'6,null,,AA'", "null", 2)
    assert aside(shop, "z") == {
        name: (
            f"1 of {count} rows does not fit: {record} (line 2) has '{value}' in the column dep,"
            " which is int; "
            f'if it means NULL, set nulls: ["{value}", ""] in zone.yaml; '
            "to read the column otherwise, set types: {dep: string} in zone.yaml"
        )
        for name, (record, value, count) in told.items()
    }
    assert [
        row["id"] for row in sorted(shop.rows("bronze.flights"), key=lambda row: row["id"])
    ] == [1, 2, 4, 9, 10, 11, 12]
    states = {file.path: file.state for file in shop.lake.zones.show(ZoneName("shop", "z")).files}
    assert (states["04.csv"], states["05.csv"]) == (
        "processed",
        "processed",
    )  # only a header, and not even that


def refused(shop: TestLake, name: str) -> str:
    record = shop.run(name)[name]
    assert record.state == "failed"
    return f"{record.error['what']} {record.error['next']}"


def test_each_table_follows_its_zone_as_far_as_it_may(shop: TestLake) -> None:
    shop.pipeline("bronze.wide", query("z"), f"{APPEND}on_schema_change: append\n")
    shop.pipeline("bronze.strict", query("z", "id, n"), APPEND)
    shop.land("z", "1.csv", "id,n\n1,1\n2,2\n")
    shop.run()
    shop.land("z", "2.csv", "id,n,more\n3000000000,3,x\n")
    said = refused(shop, "bronze.strict")  # the other table may take the file: it stays
    assert "bronze.wide, which also reads the zone, may accept them: shop/landing/z/2.csv" in said
    assert "(line 2) has '3000000000' in the column id, which is int" in said
    assert aside(shop, "z") == {}
    shop.run_one("bronze.wide")
    assert columns(shop, "bronze.wide") == {"id": "long", "n": "int", "more": "string"}
    assert columns(shop, "bronze.strict") == {"id": "int", "n": "int"}
    assert types(shop, "z") == {"id": "bigint", "n": "int", "more": "string"}
    shop.land("z", "3.csv", "id,n\n4,many\n")  # nobody can follow that
    assert shop.run_one("bronze.wide").set_aside[0].path == "shop/landing/z/3.csv"
    shop.pipeline("bronze.strict", query("z", "id, n"), f"{APPEND}on_schema_change: append\n")
    shop.run_one("bronze.strict")
    assert [row["id"] for row in shop.rows("bronze.strict")] == [1, 2, 3000000000]
    shop.land("z", "zone.yaml", "types: {n: string}\n")
    shop.land("z", "4.csv", "id,n\n5,many\n")
    assert "'n' is int in the table and string in the result" in refused(shop, "bronze.wide")
    shop.pipeline("bronze.wide", query("z"), f"{APPEND}on_schema_change: sync\n")
    shop.run_one("bronze.wide", full_refresh=True)
    assert columns(shop, "bronze.wide") == {
        "id": "long",
        "n": "string",
    }  # as its last file has them
    assert sorted(row["n"] for row in shop.rows("bronze.wide")) == ["1", "2", "3", "many"]


def test_a_table_from_before_zones_were_remembered_begins_with_its_own_types(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.a", query("z"), APPEND)
    shop.land("z", "1.csv", "id,dep\n1,NA\n2,5\n")
    shop.run_one("bronze.a")
    with shop.lake.stores.database.writing() as connection:
        connection.exec_driver_sql("delete from lakebed_zone_types")
    shop.land("z", "2.csv", "id,dep\n3,7\n")
    shop.run_one("bronze.a")
    assert [row["dep"] for row in shop.rows("bronze.a")] == ["NA", "5", "7"]
    assert types(shop, "z") == {"id": "int", "dep": "string"}
    shop.land("z", "3.csv", "id,dep,gate\n4,8,A1\n")
    assert "other columns than the table: gate in shop/landing/z/3.csv" in refused(shop, "bronze.a")
    shop.pipeline(
        "bronze.b", query("z", "id, dep"), APPEND
    )  # another reads the zone as it is known
    shop.run_one("bronze.b")
    assert columns(shop, "bronze.b") == {"id": "int", "dep": "string"}


def test_the_first_of_several_files_that_are_read_one_by_one_is_read_as_all_of_them_show(
    shop: TestLake,
) -> None:
    shop.pipeline("bronze.a", query("z"), f"{APPEND}one_file_a_run: true\n")
    for number, row in enumerate(("1,2", "3000000000,2.5", "3,NA")):
        shop.land("z", f"{number}.csv", f"id,n\n{row}\n", age=60 - number)
    shop.run_one("bronze.a")
    assert columns(shop, "bronze.a") == {"id": "long", "n": "string"}
    assert [(row["id"], row["n"]) for row in shop.rows("bronze.a")] == [
        (1, "2"),
        (3, "NA"),
        (3000000000, "2.5"),
    ]


def test_json_records_that_lack_a_key_or_show_another_type_block_nobody(shop: TestLake) -> None:
    shop.pipeline("bronze.a", query("j"), APPEND)
    records = {
        "1.json": '{"id":1,"n":1.5,"s":"x","o":{"a":1}}\n',
        "2.json": '{"id":2,"n":2,"o":{"a":2}}\n',  # a whole number, and no s
        "3.json": '{"id":3,"n":null,"s":null}\n',
        "4.json": '{"id":4,"n":"many","s":5,"o":{"a":1}}\n',
    }
    for name, text in records.items():
        shop.land("j", name, text)
        shop.run_one("bronze.a")
    assert list(aside(shop, "j")) == ["4.json"]
    assert (
        "(line 1) has 'many' in the column n, which is double; to read the column otherwise, set"
        " types: {n: string}" in (aside(shop, "j")["4.json"])
    )
    assert [(row["id"], row["n"], row["s"]) for row in shop.rows("bronze.a")] == [
        (1, 1.5, "x"),
        (2, 2.0, None),
        (3, None, None),
    ]
    before = shop.rows("bronze.a")
    shop.run_one("bronze.a", full_refresh=True)
    assert shop.rows("bronze.a") == before
