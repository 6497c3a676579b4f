"""Zones read by Spark: every row and every file accounted for."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow
import pytest

from lakebed.errors import BadFiles
from lakebed.landing import open_zone, require_unchanged
from tests.support.lakes.landing_zones import (
    ODD_FILES,
    RUN,
    ZONE,
    Zone,
    cut,
    flipped,
    land_odd_names,
    parquet,
    reasons,
    zipped,
)

pytestmark = pytest.mark.spark

MANY = "".join(f"{number},name {number * 7919 % 100003},{number}.5\n" for number in range(5_000))
HEADER = "id,name,amount\n"
LARGE = parquet(
    {
        "id": [*range(10_000)],
        "name": [str(n * 7919) for n in range(10_000)],
        "amount": [0.5] * 10_000,
    }
)

GOOD: dict[str, bytes | str] = {
    "good.csv": f"{HEADER}1,a,1.5\n2,b,2.5\n",
    "other order.csv": "amount,id,name\n3.5,3,c\n",
    "more columns.csv": "id,name,amount,note\n4,d,4.5,new\n",
    "sub/deep/good.csv": f"{HEADER}5,e,5.5\n",
    "good.csv.gz": zipped(f"{HEADER}6,f,6.5\n"),
    "lines.json": '{"id":7,"name":"g","amount":7.5}\n\n{"id":8,"name":"h"}\n',
    "array.json": '[\n{"id":9,"name":"i"},\n{"id":10,"name":"j","amount":10.5}\n]\n',
    "not a number.ndjson": '{"id":11,"name":"k","amount":NaN}\n',
    "good.parquet": parquet({"id": [12, 13], "name": ["l", "m"], "amount": [12.5, 13.5]}),
    # a sign that stands for wrong bytes elsewhere, and is meant here
    "replacement.csv": f"{HEADER}14,�,14.5\n",
}
BAD: dict[str, tuple[bytes | str, str, int | None]] = {
    "half row.csv": (
        f"{HEADER}1,a,1.5\n2,b",
        "1 of 2 rows does not fit: '2,b' (line 3) has 2 fields, the file 3 columns",
        2,
    ),
    "half quote.csv": (f'{HEADER}1,a,"1.5', "ends inside quotes", None),
    "half quote.csv.gz": (
        zipped(f'{HEADER}1,a,1\n2,b,"2'),
        "the quotes of line 3 are not closed",
        2,
    ),
    "half.csv.gz": (cut(zipped(HEADER + MANY)), "its gzip data ends too early", None),
    "flipped.csv.gz": (flipped(zipped(HEADER + MANY), 5_000), "its gzip data is damaged", None),
    "latin-1.csv": (f"{HEADER}1,Müller,1.5\n".encode("latin-1"), "not utf-8: byte 0xfc", None),
    "late latin-1.csv": (
        f"{HEADER}{MANY}1,Müller,1.5\n".encode("latin-1"),
        "line 5002 is not utf-8: byte 0xfc",
        5_001,
    ),
    "late nul.csv": (f"{HEADER}{MANY}1,a\0\0,1.5\n", "line 5002 holds NUL", 5_001),
    "half line.json": ('{"id":1}\n{"id":2,"na', "is not JSON", 2),
    "half array.json": ('[\n{"id":1},\n{"id":', "is not JSON", 1),
    "two in a line.json": (
        '{"id":1}{"id":2}\n{"id":3}\n',
        "a line holds more than one JSON value",
        2,
    ),
    "two arrays.json": ('[\n{"id":1}\n]\n[{"id":2}]', "it holds more than one JSON value", 1),
    "too deep.json": ('{"a":' * 20_000, "is not JSON", 1),
    "latin-1.json": (
        ('{"id":1}\n' * 9_000 + '{"name":"Müller"}\n').encode("latin-1"),
        "line 9001 is not utf-8",
        9_001,
    ),
    "half.parquet": (cut(LARGE), "not a complete Parquet file", None),
    "flipped.parquet": (flipped(LARGE, 1_000), "not a complete Parquet file", 10_000),
    "time.parquet": (
        parquet({"t": pyarrow.array([1], pyarrow.time64("us"))}),
        "Spark cannot read it",
        1,
    ),
    "notes.txt": ("hello", "no known format", None),
}


def test_good_torn_changing_wrongly_encoded_and_strange_files_are_all_accounted_for(
    zone: Zone,
) -> None:
    for name, data in GOOD.items():
        zone.land(name, data)
    for name, (data, _, _) in BAD.items():
        zone.land(name, data)
    for name in ("upload.csv.part", ".hidden.csv", "_samples/s.csv"):
        zone.land(name, f"{HEADER}99,z,9.5\n")
    changing = zone.root.folder / zone.land("changing.csv", f"{HEADER}98,")

    def write_on(_: float) -> None:
        changing.write_text(f"{HEADER}98,y,9.5\n")

    zone.set(settle_seconds=600)
    landed = zone.open(meanwhile=write_on)

    assert [row[:2] for row in zone.by_id(landed)] == [
        (number, row) for number, row in enumerate("abcdefghijklm�", 1)
    ]
    assert landed.frame.columns == ["id", "name", "amount", "note"]
    assert (
        landed.frame.schema.simpleString()
        == "struct<id:bigint,name:string,amount:double,note:string>"
    )
    rows_in_good = {
        path.removeprefix(f"{ZONE.folder}/"): rows for path, rows in landed.rows_by_file.items()
    }
    assert rows_in_good.keys() == GOOD.keys()
    assert sum(rows_in_good.values()) == landed.frame.count() == 14

    found = reasons(landed)
    assert found.keys() == BAD.keys()
    wrong = {name: found[name] for name, (_, reason, _) in BAD.items() if reason not in found[name]}
    assert wrong == {}
    assert {path.rpartition("/")[2]: rows for path, rows in landed.rejected.items()} == {
        name: rows for name, (_, _, rows) in BAD.items()
    }
    kept = {*GOOD, "changing.csv", "upload.csv.part", ".hidden.csv", "_samples/s.csv"}
    quarantined = {f"_quarantine/{RUN}/{name}" for name in BAD}
    assert {*zone.left()} == kept | quarantined | {f"{name}.reason.json" for name in quarantined}
    for name, (data, _, _) in BAD.items():
        aside = f"{ZONE.folder}/_quarantine/{RUN}/{name}"
        assert zone.files.read(aside) == (data.encode() if isinstance(data, str) else data)
        assert json.loads(zone.files.read(f"{aside}.reason.json"))["reason"] == found[name]


EXPECTED = {"id": "bigint", "name": "string", "amount": "decimal(6,2)", "day": "date"}
AS_EXPECTED: dict[str, bytes | str] = {
    "a.csv": "id,name,amount,day\n1,a,1.5,2026-01-01\n2,,,\n",
    "other case and order.csv": "Day,ID,amount,Name\n2026-01-01,3,3.10,c\n",
    "only header.csv": "id,name,amount,day\n",
    "a.json": '{"id":4,"name":"d","amount":4.25,"day":"2026-01-01"}\n{"id":5}\n',
    "other case.json": '{"Id":6,"NAME":"f","amount":6,"day":null}\n',
    "null.json": '{"id":7,"name":null,"amount":null,"day":null}\n',
    "empty.json": "[]",
    "a.parquet": parquet({
        "day": [date(2026, 1, 1)], "name": ["h"], "id": pyarrow.array([8], pyarrow.int16()),
        "amount": pyarrow.array([Decimal("8.5")], pyarrow.decimal128(5, 1)),
    }),
}  # fmt: skip
DRIFTING: dict[str, tuple[bytes | str, str]] = {
    "lacks.csv": ("id,name,amount\n1,a,1\n", "it lacks the column day"),
    "renamed.csv": (
        "id,name,price,day\n1,a,1,2026-01-01\n",
        "it lacks the column amount, and it has the unexpected column price",
    ),
    "added.csv": ("id,name,amount,day,x\n1,a,1,2026-01-01,1\n", "it has the unexpected column x"),
    "type.csv": (
        "id,name,amount,day\n1,a,1,2026-01-01\nx,b,2,2026-01-01\n",
        "1 of 2 rows does not fit: 'x,b,2,2026-01-01'",
    ),
    "long.csv": (
        f"id,name,amount,day\nx,{'b' * 500},2,2026-01-01\n",
        "(line 2) has 'x' in the column id, which is bigint",
    ),
    "rounded.csv": (
        "id,name,amount,day\n1,a,1.555,2026-01-01\n",
        "more digits than amount decimal(6,2) can keep",
    ),
    "too large.csv": (
        "id,name,amount,day\n1,a,12345.6,2026-01-01\n",
        "more digits than amount decimal(6,2) can keep",
    ),
    "time for date.csv": (
        "id,name,amount,day\n1,a,1,2026-01-01 10:00:00\n",
        (
            "(line 2) has '2026-01-01 10:00:00' in the column day, which is date; expected_schema"
            " in zone.yaml says so"
        ),
    ),
    "lacks.json": ('{"id":1,"name":"a","amount":1}\n', "it lacks the column day"),
    "added.json": (
        '{"id":1,"name":"a","amount":1,"day":"2026-01-01","x":1}\n',
        "it has the unexpected column x",
    ),
    "type.json": (
        '{"id":"1","name":"a","amount":1,"day":"2026-01-01"}\n',
        "(line 1) has '1' in the column id, which is bigint",
    ),
    "rounded.json": ('{"id":1,"name":"a","amount":1.239,"day":"2026-01-01"}\n', "more digits"),
    "two cases.json": (
        '{"id":1,"name":"a","amount":1,"day":null}\n{"ID":2}\n',
        "two names that are the same to Spark",
    ),
    "narrowed.parquet": (
        parquet(
            {
                "id": [1.5],
                "name": ["a"],
                "amount": pyarrow.array([1], pyarrow.decimal128(5, 1)),
                "day": [date(2026, 1, 1)],
            }
        ),
        "its column id is double, and bigint is expected",
    ),
}


def test_an_expected_schema_is_enforced_in_every_format(zone: Zone) -> None:
    zone.set(expected_schema=EXPECTED)
    for name, data in AS_EXPECTED.items():
        zone.land(name, data)
    for name, (data, _) in DRIFTING.items():
        zone.land(name, data)
    landed = zone.open()
    assert (
        landed.frame.schema.simpleString()
        == "struct<id:bigint,name:string,amount:decimal(6,2),day:date>"
    )
    day = date(2026, 1, 1)
    assert zone.by_id(landed) == [
        (1, "a", Decimal("1.50"), day), (2, None, None, None), (3, "c", Decimal("3.10"), day), (4, "d", Decimal("4.25"), day),
        (5, None, None, None), (6, "f", Decimal("6.00"), None), (7, None, None, None), (8, "h", Decimal("8.50"), day),
    ]  # fmt: skip
    found = reasons(landed)
    assert found.keys() == DRIFTING.keys()
    assert {
        name: found[name] for name, (_, reason) in DRIFTING.items() if reason not in found[name]
    } == {}


def test_names_are_names_and_not_patterns(zone: Zone) -> None:
    land_odd_names(zone)
    landed = zone.open()
    assert landed.set_aside == ()
    assert sorted(row.n for row in landed.frame.select("n").collect()) == [*range(ODD_FILES)]
    assert [*landed.rows_by_file.values()] == [1] * len([*range(ODD_FILES)])
    assert landed.frame.schema["n"].dataType.simpleString() == "bigint"


def test_a_colon_beside_pattern_signs_is_too_much_for_spark_and_said_so(zone: Zone) -> None:
    zone.land("10:00 [1].csv", "n,v\n1,x\n")
    assert "Spark cannot address it" in reasons(zone.open())["10:00 [1].csv"]


def test_files_are_refused_without_being_moved_if_they_are_to_be_kept(zone: Zone) -> None:
    zone.land("a.csv", "id,v\n1,x\n")
    zone.land("b.csv", "id,v\n2\n")
    with pytest.raises(
        BadFiles,
        match=r"b.csv: 1 of 1 rows does not fit: '2' \(line 2\) has 1 field, the file 2 columns",
    ):
        zone.open(keep=True)
    assert zone.left() == ["a.csv", "b.csv"]
    assert zone.reader.jobs == ["infer", "check", "records", "infer", "check"]


def test_a_good_zone_costs_one_look_for_types_and_one_job(zone: Zone) -> None:
    for number in range(20):
        zone.land(f"{number}.csv", f"id,v\n{number},x\n")
    landed = zone.open(pattern="1*.csv")
    assert len(zone.by_id(landed)) == 11
    assert zone.reader.jobs == ["infer", "check"]
    zone.reader.jobs.clear()
    zone.set(expected_schema={"id": "int", "v": "string"})
    assert len(zone.by_id(zone.open())) == 20
    assert zone.reader.jobs == ["check"]


@pytest.mark.parametrize(
    ("settings", "files", "schema", "rows"),
    [
        (
            {
                "delimiter": ";",
                "null_value": "NA",
                "date_format": "dd.MM.yyyy",
                "quote": "'",
                "escape": "\\",
            },
            {"a.csv": "id;d;v\n1;31.12.2025;'a\\'b;c'\n2;NA;NA\n"},
            "id:int,d:date,v:string",
            [(1, date(2025, 12, 31), "a'b;c"), (2, None, None)],
        ),
        (
            {
                "nulls": ["NA", "N/A", None, -9, ""],
                "date_format": "d.M.yyyy",
                "escape": "\\",
            },  # None: as YAML reads null
            {
                "a.csv": (
                    'id,n,d,v,w\n1,NA,1.2.2026,"a, \\"b\\" ",NA\n2,'
                    ' 5,N/A,"","it\'s"\n3,,null,x,-9\n'
                ),
                "b.csv.gz": zipped("id,n,x y\n4,-9,NA\n"),
            },
            "id:int,n:string,d:date,v:string,w:string,x y:string",
            [
                (1, None, date(2026, 2, 1), 'a, "b" ', None, None),
                (2, " 5", None, None, "it's", None),
                (3, None, None, "x", None, None),
                (4, None, None, None, None, None),
            ],
        ),
        (
            {"nulls": ["NA", "-"], "multiline": True},
            {"a [1].csv": 'n,v,x\n1,"",1.5\n2,"a\nb",NA\n-,-,-\n'},
            "n:int,v:string,x:double",
            [(None, None, None), (1, "", 1.5), (2, "a\nb", None)],
        ),
        (
            {"header": False, "encoding": "windows-1252"},
            {"a.csv": "1,Müller €\n".encode("cp1252"), "b.tsv": "2\tb\n"},
            "_c0:int,_c1:string",
            [(1, "Müller €"), (2, "b")],
        ),
        (
            {"encoding": "utf-16"},
            {"a.csv": "id,v\n1,ü\n2,x\n".encode("utf-16")},
            "id:int,v:string",
            [(1, "ü"), (2, "x")],
        ),
        (
            {"multiline": True},
            {"a.csv": 'id,v\n1,"x\ny"\n2,5" z\n'},
            "id:int,v:string",
            [(1, "x\ny"), (2, '5" z')],
        ),
        (
            {"infer_types": False},
            {"a.csv": "id,v\n007,1\n", "b.json": '{"id":8}\n'},
            "id:string,v:string",
            [("007", "1"), ("8", None)],
        ),
        (
            {},  # a column that one file leaves empty, numbers and times that widen
            {
                "a.csv": "id,v\n1,\n",
                "b.csv": "id,v,t\n2,5,2026-01-01\n",
                "c.csv": "id,t\n99999999999,2026-01-01 10:00:00\n",
            },
            "id:bigint,v:int,t:timestamp",
            [
                (1, None, None),
                (2, 5, datetime(2026, 1, 1)),  # noqa: DTZ001
                (99999999999, None, datetime(2026, 1, 1, 10)),  # noqa: DTZ001
            ],
        ),
        (
            {},  # nanoseconds, and a struct that gains a field
            {
                "a.parquet": parquet(
                    {
                        "id": pyarrow.array([1], pyarrow.int32()),
                        "t": pyarrow.array([-1], pyarrow.timestamp("ns")),
                        "n": [{"x": 1}],
                    }
                ),
                "b.parquet": parquet(
                    {
                        "id": [2],
                        "t": pyarrow.array([5], pyarrow.timestamp("us")),
                        "n": [{"x": 2, "y": "z"}],
                    }
                ),
            },
            "id:bigint,t:timestamp_ntz,n:struct<x:bigint,y:string>",
            [
                (1, datetime(1969, 12, 31, 23, 59, 59, 999999), (1, None)),  # noqa: DTZ001
                (2, datetime(1970, 1, 1, 0, 0, 0, 5), (2, "z")),  # noqa: DTZ001
            ],
        ),
        (
            {},  # names that Spark and Lakebed use themselves
            {
                "a.csv": "id,_metadata,path,value\n1,m,p,v\n",
                "b.json": '{"id":2,"_corrupt_record":"c","value":"w"}\n',
            },
            "id:bigint,_metadata:string,path:string,value:string,_corrupt_record:string",
            [(1, "m", "p", "v", None), (2, None, None, "w", "c")],
        ),
    ],
)
def test_settings_of_a_zone(
    zone: Zone, settings: dict[str, Any], files: dict[str, Any], schema: str, rows: list[Any]
) -> None:
    zone.set(**settings)
    for name, data in files.items():
        zone.land(name, data)
    landed = zone.open()
    assert reasons(landed) == {}
    assert landed.frame.schema.simpleString() == f"struct<{schema}>"
    assert zone.by_id(landed) == rows


def test_archived_files_can_be_read_where_they_lie(zone: Zone) -> None:
    archived = zone.files.info(zone.land("_processed/r1/sub/a b.csv", "id,v\n1,x\n"))
    landed = open_zone(
        zone.reader, zone.files, ZONE, [archived], zone.spec, address=zone.root.at, run_id=RUN
    )
    assert zone.by_id(landed) == [(1, "x")]


def test_a_file_changed_between_reading_and_publishing_is_noticed(zone: Zone) -> None:
    zone.land("a.csv", "id,v\n1,x\n")
    landed = zone.open()
    require_unchanged(zone.files, landed.files)
    zone.land("a.csv", "id,v\n2,y\n")
    with pytest.raises(BadFiles, match="Nothing was published"):
        require_unchanged(zone.files, landed.files)
    assert datetime.now(UTC) > landed.files[0].modified
