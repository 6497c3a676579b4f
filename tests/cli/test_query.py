"""`lakebed query` and `lakebed explain`, as somebody at the keyboard uses them."""

import csv
import io
import json
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from lakebed.cli.main import app
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("name", pa.string()),
        pa.field("amount", pa.decimal128(9, 2)),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us", tz="UTC")),
        pa.field("raw", pa.binary()),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
ROWS = [
    {
        "id": 1,
        "name": 'a "quoted", text',
        "amount": Decimal("0.10"),
        "day": date(2026, 11, 1),
        "at": datetime(2026, 11, 1, tzinfo=UTC),
        "raw": b"\x00\xff",
        "tags": ["x", "y"],
    },
    {"id": 2} | dict.fromkeys(SCHEMA.names[1:]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("cli") / "lake"
    with make_lake(folder) as lake:
        bench = bench_of(lake)
        add_table(
            bench,
            "orders",
            [pa.Table.from_pylist([row], schema=SCHEMA) for row in ROWS],
            schema=SCHEMA,
        )
        bench.close()
    return str(folder)


def lakebed(folder: str, *arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(
        app, [*arguments, "--lake", folder], env={"COLUMNS": "200"}, input=given
    )


def test_a_table_on_the_screen(folder: str) -> None:
    done = lakebed(folder, "query", "SELECT id, name, amount FROM orders ORDER BY id")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["id", "name", "amount"]
    assert lines[2] == ["1", "a", '"quoted",', "text", "0.10"]
    assert lines[3] == ["2", "NULL", "NULL"]
    assert lines[4] == ["2", "rows"]


def test_more_rows_than_a_screen_shows_are_said_to_be_more(folder: str) -> None:
    done = lakebed(folder, "query", "SELECT a.range FROM range(1001) a")
    assert done.stdout.splitlines()[-1] == "the first 1,000 rows; more with --limit or -o FILE"
    assert (
        lakebed(folder, "query", "FROM range(1001)", "--limit", "1001").stdout.splitlines()[-1]
        == "1,001 rows"
    )
    assert (
        lakebed(folder, "query", "FROM range(5)", "--limit", "2").stdout.splitlines()[-1]
        == "2 rows"
    )


def test_csv(folder: str) -> None:
    done = lakebed(folder, "query", "SELECT * FROM orders ORDER BY id", "--format", "csv")
    first, *rows = csv.reader(io.StringIO(done.stdout))
    assert first == SCHEMA.names
    assert rows[0] == [
        "1",
        'a "quoted", text',
        "0.10",
        "2026-11-01",
        "2026-11-01T00:00:00+00:00",
        "00ff",
        '["x", "y"]',
    ]
    assert rows[1] == ["2", "", "", "", "", "", ""]


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"], ["--format", "ndjson"]])
def test_json(folder: str, option: list[str]) -> None:
    done = lakebed(folder, "query", "SELECT * FROM orders ORDER BY id", *option)
    lines = done.stdout.strip().splitlines()
    rows = [json.loads(line) for line in lines] if "ndjson" in option else json.loads(done.stdout)
    assert rows[0] == {
        "id": 1,
        "name": 'a "quoted", text',
        "amount": "0.10",
        "day": "2026-11-01",
        "at": "2026-11-01T00:00:00+00:00",
        "raw": "00ff",
        "tags": ["x", "y"],
    }
    assert rows[1] == {"id": 2} | dict.fromkeys(SCHEMA.names[1:])


@pytest.mark.parametrize("option", ["json", "ndjson"])
def test_columns_of_the_same_name_are_all_there(folder: str, option: str) -> None:
    sql = 'SELECT 1 AS a, 2 AS a, 3 AS "a (2)", 4 AS A'
    done = lakebed(folder, "query", sql, "--format", option)
    (row,) = json.loads(done.stdout) if option == "json" else [json.loads(done.stdout)]
    assert row == {"a": 1, "a (2)": 2, "a (2) (2)": 3, "A": 4}


def test_csv_tells_null_from_an_empty_text_if_asked(folder: str, tmp_path: Path) -> None:
    sql, null = "SELECT NULL AS a, '' AS b, 'x' AS c", ["--null", r"\N"]
    done = lakebed(folder, "query", sql, "--format", "csv", *null)
    assert done.stdout == "a,b,c\n\\N,,x\n"
    file = tmp_path / "out.csv"
    assert lakebed(folder, "query", sql, "-o", str(file), *null).exit_code == 0
    assert file.read_text() == done.stdout
    refused = lakebed(folder, "query", sql, "--json", *null)
    assert (refused.exit_code, "--null is for CSV" in refused.stderr) == (2, True)


@pytest.mark.parametrize("option", ["json", "ndjson"])
def test_no_digit_of_a_large_integer_is_lost_in_javascript(folder: str, option: str) -> None:
    """Its numbers are floats: 9007199254740993 would become …992."""
    numbers = "9007199254740991 AS exact, 9007199254740993 AS above, -9007199254740992 AS below"
    sql = f"SELECT {numbers}, [18446744073709551616::HUGEINT, 1] AS many"
    done = lakebed(folder, "query", sql, "--format", option)
    (row,) = json.loads(done.stdout) if option == "json" else [json.loads(done.stdout)]
    assert row == {
        "exact": 2**53 - 1,
        "above": "9007199254740993",
        "below": "-9007199254740992",
        "many": [str(2**64), 1],
    }
    head = json.loads(
        lakebed(
            folder, "query", "SELECT snapshot_id FROM orders$snapshots LIMIT 1", "--json"
        ).stdout
    )
    assert int(head[0]["snapshot_id"]) > 0
    assert "9007199254740993" in lakebed(folder, "query", sql, "--format", "csv").stdout


def test_nothing_is_valid_json_too(folder: str) -> None:
    assert json.loads(lakebed(folder, "query", "FROM orders WHERE id = 9", "--json").stdout) == []
    assert lakebed(folder, "query", "FROM orders WHERE id = 9", "--format", "ndjson").stdout == ""


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow", "out.csv", "out.json", "out.jsonl"])
def test_a_file_has_the_format_that_its_name_says(folder: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    assert (
        lakebed(
            folder, "query", "SELECT id, amount FROM orders ORDER BY id", "-o", str(file)
        ).exit_code
        == 0
    )
    match file.suffix:
        case ".parquet":
            rows = pq.read_table(file).to_pylist()
        case ".arrow":
            rows = pa.ipc.open_stream(file.read_bytes()).read_all().to_pylist()
        case _:
            assert "0.10" in file.read_text()
            return
    assert rows == [{"id": 1, "amount": Decimal("0.10")}, {"id": 2, "amount": None}]


def test_a_file_is_whole_or_not_there(folder: str, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    done = lakebed(folder, "query", "SELECT error('no') FROM orders", "-o", str(file))
    assert done.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    assert (
        lakebed(folder, "query", "FROM orders", "-o", str(tmp_path / "x" / "out.csv")).exit_code
        == 2
    )
    assert (
        "no extension that names a format"
        in lakebed(folder, "query", "FROM orders", "-o", str(tmp_path / "out")).stderr
    )


def test_sql_comes_from_standard_input(folder: str) -> None:
    assert json.loads(
        lakebed(folder, "query", "-", "--json", given="SELECT max(id) AS m FROM orders").stdout
    ) == [{"m": 2}]


def test_moments_and_profiles(folder: str) -> None:
    (first,) = json.loads(
        lakebed(folder, "query", "FROM orders$snapshots WHERE parent_id IS NULL", "--json").stdout
    )
    done = lakebed(
        folder,
        "query",
        "SELECT count(*) AS n FROM orders",
        "--at",
        str(first["snapshot_id"]),
        "--json",
        "--profile",
    )
    assert json.loads(done.stdout) == [{"n": 1}]
    done = lakebed(folder, "query", "SELECT name FROM orders WHERE id = 1", "--profile")
    assert "planned in" in done.stderr
    assert "1 file of 2" in done.stderr
    assert "READ_PARQUET" in done.stderr


def test_explain_says_which_files_and_why(folder: str) -> None:
    sql = "SELECT name FROM orders WHERE id = 1"
    for arguments in (["explain", sql], ["query", sql, "--explain"]):
        shown = lakebed(folder, *arguments).stdout
        assert "reads 1 of 2 files" in shown
        assert "PRUNED" in shown
        assert "files chosen by: id = 1" in shown
        assert "columns: id, name" in shown
    (table,) = json.loads(lakebed(folder, "explain", sql, "--json").stdout)
    assert (table["reason"], table["files"], table["total_files"], table["how"]) == (
        "PRUNED",
        1,
        2,
        "parquet",
    )
    assert "reads no table" in lakebed(folder, "explain", "SELECT 1").stdout


def test_errors_end_with_two_and_say_what_next(folder: str) -> None:
    done = lakebed(folder, "query", "SELECT naem FROM orders")
    assert done.exit_code == 2
    assert "there is no column 'naem'" in done.stderr
    assert "Did you mean name?" in done.stderr
    refused = json.loads(lakebed(folder, "query", "FROM ordrs", "--json").stderr)["error"]
    assert refused["kind"] == "UnknownName"
    assert refused["next"] == "Did you mean orders?"


def test_a_query_loads_no_spark_and_no_frame_library(folder: str) -> None:
    script = (
        "import sys\nfrom lakebed.cli import main\ntry:\n    main()\nfinally:\n   "
        " print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "query",
        "SELECT count(*) FROM orders WHERE id = 1",
        "--lake",
        folder,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & {
        "pyspark",
        "pyiceberg",
        "pandas",
        "pyarrow",
        "polars",
        "sqlglot",
        "jinja2",
        "obstore",
    }
