"""The commands, as somebody at the keyboard uses them."""

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lakebed.app import open_lake
from lakebed.cli.main import app
from lakebed.engines.iceberg.catalog import rest_catalog
from lakebed.engines.iceberg.scan import scan
from lakebed.names import TableName
from lakebed.ports import InputPin, RunRecord
from tests.support.benches import RealBench, sqlite_bench


def lakebed(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake with two tables, one of them with a history and a branch."""
    folder = tmp_path / "shop-lake"
    assert lakebed("init", str(folder), "--template", "shop").exit_code == 0
    bench = sqlite_bench(folder)
    bench = RealBench(bench.settings, bench.root, "ecommerce")
    orders, customers = bench.table("orders"), bench.table("customers")
    bench.write(orders, [1, 2])
    bench.write(orders, [3])
    bench.write(orders, [4], branch="run_1")
    bench.write(customers, [1])
    bench.close()
    return folder


def write_record(folder: Path) -> None:
    """The pipeline silver.orders, and a run of it that read and wrote snapshots with long ids."""
    pipeline = folder / "ecommerce" / "pipelines" / "silver" / "orders" / "pipeline.sql"
    pipeline.parent.mkdir(parents=True, exist_ok=True)
    pipeline.write_text("SELECT id FROM {{ ref('silver.customers') }}")
    orders, customers = (TableName("ecommerce", "silver", name) for name in ("orders", "customers"))
    pins = (InputPin(customers, 2**62 + 1),)
    at = datetime(2026, 11, 15, tzinfo=UTC)
    with open_lake(folder) as opened:
        record = RunRecord(
            "a" * 32,
            "b" * 32,
            orders,
            "success",
            at,
            ended_at=at,
            inputs=pins,
            base=2**62 + 3,
            snapshot=2**62 + 5,
        )
        opened.stores.records.write(record)


def test_init_makes_a_lake_and_says_what_it_made(tmp_path: Path) -> None:
    done = lakebed("init", str(tmp_path / "l"), "--template", "shop")
    assert done.exit_code == 0
    assert "ecommerce/landing/orders/orders_2026-10-01.csv" in done.output
    assert (tmp_path / "l" / "lakebed.yaml").is_file()
    assert (tmp_path / "l" / ".data" / "lake.db").is_file()


def test_the_same_template_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        lakebed("init", str(tmp_path / name), "--template", "shop")
    file = "ecommerce/landing/orders/orders_2026-10-02.csv"
    assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_init_takes_settings_and_writes_them(tmp_path: Path) -> None:
    assert lakebed("init", str(tmp_path / "l"), "--set", "timezone=Europe/Amsterdam").exit_code == 0
    assert "Europe/Amsterdam" in (tmp_path / "l" / "lakebed.yaml").read_text()


def test_init_as_json(tmp_path: Path) -> None:
    facts = json.loads(lakebed("init", str(tmp_path / "l"), "--json").stdout)
    assert facts["catalog"] == "sqlite"
    assert facts["files"] == ["lakebed.yaml"]


def test_ls_lists_tables(lake: Path) -> None:
    shown = lakebed("ls", "--lake", str(lake)).stdout
    assert "ecommerce.silver.orders" in shown
    assert "ecommerce.silver.customers" in shown


def test_ls_as_json_counts_rows_and_branches(lake: Path) -> None:
    rows = {
        row["table"]: row for row in json.loads(lakebed("ls", "--lake", str(lake), "--json").stdout)
    }
    orders = rows["ecommerce.silver.orders"]
    assert (orders["rows"], orders["files"], orders["branches"]) == (3, 2, 2)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("orders", 1), ("silver", 2), ("*.*.cust*", 1), ("gold", 0), ("ecommerce.silver", 2)],
)
def test_ls_takes_a_name_a_part_or_a_pattern(lake: Path, pattern: str, count: int) -> None:
    assert len(json.loads(lakebed("ls", pattern, "--lake", str(lake), "--json").stdout)) == count


def test_shared_options_may_stand_before_or_after_the_command(lake: Path) -> None:
    before = lakebed("--lake", str(lake), "--json", "ls")
    after = lakebed("ls", "--lake", str(lake), "--json")
    assert before.stdout == after.stdout


def test_a_lake_is_found_from_within_and_by_variable(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake / "ecommerce" / "landing")
    assert "orders" in lakebed("ls").stdout
    monkeypatch.chdir("/")
    monkeypatch.setenv("LAKEBED_LAKE", str(lake))
    assert "orders" in lakebed("ls").stdout


def test_quiet_prints_nothing(lake: Path) -> None:
    assert lakebed("ls", "-q", "--lake", str(lake)).output == ""


def test_describe_shows_columns_and_refs(lake: Path) -> None:
    shown = lakebed("table", "describe", "orders", "--lake", str(lake)).stdout
    for word in ("ecommerce.silver.orders", "bigint", "main", "run_1", "rows 3"):
        assert word in shown
    facts = json.loads(
        lakebed("table", "describe", "silver.orders", "--json", "--lake", str(lake)).stdout
    )
    assert facts["columns"] == [
        {"name": "id", "type": "bigint", "required": False, "doc": "", "id": 1, "default": None}
    ]


def test_history_goes_from_new_to_old(lake: Path) -> None:
    rows = json.loads(lakebed("table", "history", "orders", "--json", "--lake", str(lake)).stdout)
    assert [row["rows"] for row in rows] == [3, 2]
    assert [row["added"] for row in rows] == [1, 2]
    branch = json.loads(
        lakebed(
            "table", "history", "orders", "--ref", "run_1", "--json", "--lake", str(lake)
        ).stdout
    )
    assert [row["rows"] for row in branch] == [4, 3, 2]
    limited = lakebed("table", "history", "orders", "--limit", "1", "--lake", str(lake)).stdout
    assert "1 older" in limited


def test_one_row_of_a_history_is_the_current_one(lake: Path) -> None:
    def told() -> list[tuple[str, bool, bool]]:
        rows = json.loads(
            lakebed("table", "history", "orders", "--json", "--lake", str(lake)).stdout
        )
        return [(row["what"], row["current"], row["undone"]) for row in rows]

    assert told() == [("append", True, False), ("append", False, False)]
    first = json.loads(lakebed("table", "history", "orders", "--json", "--lake", str(lake)).stdout)[
        1
    ]["snapshot"]
    assert lakebed("table", "rollback", "orders", "--to", first, "--lake", str(lake)).exit_code == 0
    assert told() == [
        ("rolled_back", False, False),
        ("append", False, True),
        ("append", True, False),
    ]
    assert "append (undone)" in lakebed("table", "history", "orders", "--lake", str(lake)).stdout


JSON_COMMANDS = """
ls
table describe orders
table history orders
table tag orders v1
table rollback orders --to v1 --dry-run
table clone orders --branch tried
lineage
lineage silver.orders --columns
plan silver.orders
explain 'SELECT * FROM orders'
runs
runs show last
care --dry-run
care --settings
fsck
table drop customers
table dropped
"""


def test_no_id_is_a_number_that_javascript_would_round(lake: Path) -> None:
    write_record(lake)
    for command in JSON_COMMANDS.strip().splitlines():
        done = lakebed(*shlex.split(command), "--json", "--lake", str(lake))
        json.loads(done.stdout)
        assert not re.search(r"[:\[,] ?-?\d{16,}[,}\]]", done.stdout), command


def test_care_without_a_table_says_how_every_table_is_cared_for(lake: Path) -> None:
    told = json.loads(lakebed("care", "--settings", "--json", "--lake", str(lake)).stdout)
    assert [one["table"] for one in told] == [
        "ecommerce.silver.customers",
        "ecommerce.silver.orders",
    ]
    (one,) = json.loads(
        lakebed("care", "--settings", "orders", "--json", "--lake", str(lake)).stdout
    )
    assert one["effective"]["snapshot_max_age_days"] == one["system"]["snapshot_max_age_days"]


def test_doctor_finds_everything_well(lake: Path) -> None:
    findings = {
        found["component"]: found
        for found in json.loads(lakebed("doctor", "--lake", str(lake), "--json").stdout)
    }
    assert {found["state"] for found in findings.values()} <= {"ok", "warning"}
    for component in ("python", "java", "spark jars", "files", "catalog", "tables"):
        assert component in findings
    assert "SQLite" in findings["catalog"]["version"]


def test_doctor_says_where_logs_are(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def logs() -> str:
        findings = json.loads(lakebed("doctor", "--lake", str(lake), "--json").stdout)
        return next(str(found["detail"]) for found in findings if found["component"] == "logs")

    assert logs() == str(lake / ".data" / "logs")
    monkeypatch.setenv("LAKEBED_PLACES_LOGS", str(tmp_path / "elsewhere"))
    assert logs() == str(tmp_path / "elsewhere")
    monkeypatch.setenv("LAKEBED_PLACES_LOGS", "bucket")
    assert logs().endswith(f", then copied to {lake.as_uri()}/.data/logs")


def test_doctor_sees_that_a_lake_was_moved(lake: Path) -> None:
    moved = lake.rename(lake.with_name("elsewhere"))
    done = lakebed("doctor", "--lake", str(moved))
    assert done.exit_code == 1
    assert "point outside the lake" in done.output


def test_doctor_without_a_lake_looks_at_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = lakebed("doctor")
    assert done.exit_code == 0
    assert "lakebed init" in done.output


def test_help_has_examples_for_every_command() -> None:
    for command in (
        ["init"],
        ["doctor"],
        ["ls"],
        ["table", "describe"],
        ["table", "history"],
        ["demo"],
    ):
        shown = lakebed(*command, "--help").output
        assert "$ lakebed" in shown, command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("table describe ecommerce.silver.o", ["ecommerce.silver.orders"]),
        ("table describe ord", ["orders"]),
        ("table history --ref x silver.c", ["silver.customers"]),
        ("ls cust", ["customers"]),
        ("care ecommerce.silver.cu", ["ecommerce.silver.customers"]),
        ("runs ls --table silver.o", ["silver.orders"]),
        ("table restore g", ["gone"]),
        ("run gold", ["gold.revenue"]),
        ("run --exclude ecommerce.gold", ["ecommerce.gold.revenue"]),
        ("plan +gold", ["+gold.revenue"]),
        ("preview clean", ["clean_orders"]),
        ("pipeline release ecommerce.gold.", ["ecommerce.gold.revenue"]),
        ("zone show ecommerce.p", ["ecommerce.products"]),
        ("zone put cust", ["customers"]),
        ("runs show aaaa", ["a" * 32]),
        ("runs show b", []),
    ],
)
def test_completion_knows_tables_pipelines_zones_and_runs(
    completed: Path, typed: str, offered: list[str]
) -> None:
    words = f"lakebed --lake {completed} {typed}"
    environment = {
        "_LAKEBED_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = CliRunner().invoke(
        app, [], prog_name="lakebed", env=environment | {"_TYPER_COMPLETE_ARGS": words}
    )
    assert done.stdout.split() == offered


@pytest.fixture(scope="module")
def completed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with tables, one of them dropped, pipelines, zones and a run."""
    folder = tmp_path_factory.mktemp("completed") / "lake"
    assert lakebed("init", str(folder), "--template", "shop").exit_code == 0
    bench = sqlite_bench(folder)
    bench = RealBench(bench.settings, bench.root, "ecommerce")
    for name in ("orders", "customers", "gone"):
        bench.table(name)
    bench.close()
    assert lakebed("table", "drop", "gone", "--lake", str(folder)).exit_code == 0
    write_record(folder)
    return folder


def test_completion_is_silent_where_there_is_no_lake(tmp_path: Path) -> None:
    words = f"lakebed --lake {tmp_path} run x"
    environment = {"_LAKEBED_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "4"}
    assert CliRunner().invoke(app, [], prog_name="lakebed", env=environment).output.strip() == ""


HEAVY = {"pyspark", "pyiceberg", "duckdb", "pandas", "pyarrow", "py4j"}
WATCHED = """
import sys
from lakebed.cli.main import app
try:
    app(sys.argv[1:], prog_name="lakebed")
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *sys.modules, file=sys.stderr)
"""


HELP = """
import sys
from lakebed.cli import main
try:
    main()
finally:
    print("markdown_it" in sys.modules)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["ls"],
        ["table", "describe", "orders"],
        ["table", "history", "orders"],
        ["doctor"],
    ],
)
def test_looking_loads_no_heavy_library_and_starts_no_jvm(lake: Path, command: list[str]) -> None:
    assert not loaded_by(command, lake) & HEAVY


def test_listing_tables_waits_for_nothing_that_only_queries_or_other_catalogs_need(
    lake: Path,
) -> None:
    assert not loaded_by(["ls"], lake) & {scan.__name__, rest_catalog.__name__}


def test_a_commit_to_a_folder_waits_for_no_frame_library(lake: Path) -> None:
    """PyIceberg would import them to write one small file, as part of every publication."""
    loaded = loaded_by(["table", "tag", "orders", "v1"], lake)
    assert "pyiceberg" in loaded
    assert not loaded & {"pandas", "pyarrow"}


def loaded_by(command: list[str], lake: Path) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        env=os.environ | {"LAKEBED_LAKE": str(lake)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split("loaded:")[1].split())


def test_help_needs_no_parser_of_markdown_and_looks_the_same() -> None:
    quick, usual = (
        subprocess.run(
            [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
        ).stdout
        for code in (HELP, f"import rich.markdown, rich.traceback\n{HELP}")
    )
    assert quick.splitlines()[-1] == "False"
    assert quick.splitlines()[:-1] == usual.splitlines()[:-1]


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="open files are listed on Linux only"
)
@pytest.mark.parametrize(
    "command",
    [["ls"], ["table", "history", "orders"], ["table", "rollback", "orders", "--to", "nowhere"]],
)
def test_a_command_closes_its_lake_whether_it_succeeds_or_fails(
    lake: Path, command: list[str]
) -> None:
    lakebed(*command, "--lake", str(lake))
    assert [file for file in open_files() if file.startswith(str(lake))] == []


def open_files() -> list[str]:
    """The files that this process has open."""
    links = Path("/proc/self/fd").iterdir()
    return [os.readlink(link) for link in links if link.is_symlink()]


def test_output_to_a_pipe_has_no_colour(lake: Path) -> None:
    program = Path(sys.executable).with_name("lakebed")
    done = subprocess.run(
        [program, "doctor", "--lake", str(lake)], capture_output=True, text=True, check=True
    )
    assert "\x1b[" not in done.stdout
