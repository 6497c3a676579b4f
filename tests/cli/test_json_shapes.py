"""Programs read what `--json` prints: keys and types are those that docs/reference.md describes."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scripts.reference import listed_commands
from typer.testing import CliRunner

from lakebed import open as lakebed_open
from lakebed.cli.main import app
from lakebed.engines.files import FolderFiles
from lakebed.engines.worker.connect import connect_or_start
from lakebed.engines.worker.places import WorkerPlace, private_folder
from lakebed.kartothek import DatasetOptions, store
from lakebed.names import TableName
from tests.cli.json_shapes import Line, described, differences
from tests.support.lakes.shop import lakebed, make_shop, write

DESCRIBED = described()
DEMO = {"lakebed demo"}  # tests/cli/test_demo.py runs it


class Answers:
    """What the commands of one lake's life said, by what the reference calls them."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake
        self.said: dict[str, list[Any]] = {}

    def ask(self, title: str, *arguments: object, exit_code: int = 0) -> Any:
        """Run a command; an answer on standard error counts as `error`."""
        done = lakebed(*map(str, arguments), "--json", "--lake", str(self.lake))
        assert done.exit_code == exit_code, f"{arguments}: {done.output}"
        answer = json.loads(done.stdout if title != "error" else done.stderr)
        self.said.setdefault(title if title == "error" else f"lakebed {title}", []).append(answer)
        return answer


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Answers:
    """One lake, from its first files to its relocation."""
    folder = tmp_path_factory.mktemp("shapes")
    answers = Answers(make_shop(folder / "lake"))
    _begin(answers, folder)
    _build(answers)
    _look(answers)
    _look_at_datasets(answers, folder)
    _change(answers, folder)
    _lay_out(answers)
    _release(answers)
    _ask_about_a_worker(answers)
    _keep(answers, folder)
    return answers


def _begin(answers: Answers, folder: Path) -> None:
    ask = answers.ask
    made = lakebed("init", str(folder / "other"), "--template", "shop", "--json")
    answers.said["lakebed init"] = [json.loads(made.stdout)]
    ask("doctor", "doctor")
    ask("ls", "ls")
    ask("zone ls", "zone", "ls")
    ask("zone show", "zone", "show", "orders")
    (folder / "day0.csv").write_text("id,country,amount\n9,DE,1.0\n")
    ask("zone put", "zone", "put", "rates", folder / "day0.csv", "--sample")
    (answers.lake / "shop" / "landing" / "rates" / "_samples" / "day0.csv").unlink()
    write(
        answers.lake,
        "pipelines/silver/seen/pipeline.sql",
        "SELECT id FROM {{ ref('bronze.orders') }}\n",
    )
    write(answers.lake, "pipelines/silver/seen/config.yaml", "materialized: view\n")
    ask("plan", "plan")
    ask("run --dry-run", "run", "--dry-run")
    ask("compile", "compile", "--gates", "bronze.orders")


def _build(answers: Answers) -> None:
    ask = answers.ask
    ask("run", "run", "--vars", "least=5", exit_code=1)
    ask("runs show", "runs", "show", "last")
    mended = "SELECT id, eur FROM {{ this }} WHERE eur < 0\n"
    write(answers.lake, "pipelines/silver/orders/tests/quality/positive.sql", mended)
    ask("retry", "retry")
    ask("build", "build", "bronze.rates")
    ask("test", "test", "silver.orders")
    ask("preview", "preview", "gold.total")
    ask("runs show --logs", "runs", "show", "last", "--logs")
    ask("runs ls", "runs", "ls")
    ask("runs ls", "runs", "--limit", "1")


def _look(answers: Answers) -> None:
    ask, total = answers.ask, "SELECT * FROM gold.total"
    ask("plan", "plan")
    ask("compile", "compile", "--gates", "silver.orders")
    ask("zone ls", "zone", "ls")
    ask("zone show", "zone", "show", "orders")
    ask("zone retry", "zone", "retry", "orders")
    ask("ls", "ls")
    ask("lineage", "lineage")
    ask("lineage --columns", "lineage", "--columns")
    ask("query", "query", total)
    ask(
        "query",
        "query",
        "SELECT 1.5 AS d, [1] AS l, {'a': 1} AS s, NULL AS n, true AS b, 9007199254740993 AS i",
    )
    ask("query --explain", "query", "--explain", total)
    ask(
        "explain", "explain", "SELECT * FROM silver.orders JOIN silver.seen USING (id) WHERE id = 1"
    )
    ask("error", "query", "SELECT * FROM gold.totl", exit_code=2)
    ask("query-log", "query-log")
    ask("layout advise", "layout", "advise")
    piped = CliRunner().invoke(
        app, ["sql", "--json", "--lake", str(answers.lake)], input=f"{total};\n"
    )
    answers.said["lakebed sql"] = [json.loads(piped.stdout)]
    ask("table describe", "table", "describe", "silver.orders")
    ask("table describe, of a view", "table", "describe", "silver.seen")


def _look_at_datasets(answers: Answers, folder: Path) -> None:
    ask, address = answers.ask, folder / "exports" / "sales"
    rows = pa.table({"flag": [True], "x": [1]})
    store(FolderFiles(folder / "exports"), "sales", rows, options=DatasetOptions(("flag",), ("x",)))
    ask("kartothek ls", "kartothek", "ls", folder / "exports")
    ask("kartothek show", "kartothek", "show", address)
    ask("kartothek verify", "kartothek", "verify", address)
    ask("kartothek gc", "kartothek", "gc", address, "--dry-run")
    ask("kartothek query", "kartothek", "query", address, "SELECT * FROM sales")
    ask("kartothek keep", "kartothek", "keep", address, "2")
    ask("kartothek versions", "kartothek", "versions", address)
    orders = folder / "exports" / "orders"
    ask("kartothek export", "kartothek", "export", "silver.orders", orders, "--index", "id")
    ask("kartothek import", "kartothek", "import", orders, "shop.bronze.imported")
    count = ask("query", "query", "SELECT count(*) AS rows FROM bronze.imported")
    assert count == ask("query", "query", "SELECT count(*) AS rows FROM silver.orders")
    assert count[0]["rows"] > 0


def _change(answers: Answers, folder: Path) -> None:
    ask = answers.ask
    (folder / "targets.csv").write_text("country,target\nDE,10\n")
    ask("table write", "table", "write", "shop.gold.targets", folder / "targets.csv")
    exports = folder / "exports" / "plain"
    exports.mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), exports / "a.parquet")
    (exports / "notes.txt").write_text("not Parquet")
    adopt = ("table", "adopt", exports, "shop.bronze.adopted")
    ask("table adopt, with --dry-run", *adopt, "--dry-run")
    ask("table adopt", *adopt)
    ask("table tag", "table", "tag", "gold.targets", "v1")
    ask("table execute", "table", "execute", "UPDATE gold.targets SET target = target + 1")
    ask("table execute", "table", "execute", "ALTER TABLE gold.targets ADD COLUMN note STRING")
    ask("table diff", "table", "diff", "gold.targets", "v1", "--key", "country")
    ask("table rollback", "table", "rollback", "gold.targets", "--to", "v1", "--dry-run")
    ask("table rollback", "table", "rollback", "gold.targets", "--to", "v1")
    migrate = ("table", "migrate", "gold.targets")
    ask("table migrate --dry-run", *migrate, "--partition-by", "country", "--dry-run")
    ask("table migrate", *migrate, "--partition-by", "country")
    ask("table migrate --undo", *migrate, "--undo")
    ask("table history", "table", "history", "gold.targets")
    ask("table clone", "table", "clone", "gold.targets", "shop.gold.copied")
    ask("table clone", "table", "clone", "gold.targets", "--branch", "tried")
    ask("table untag", "table", "untag", "gold.targets", "tried")
    ask("table rename", "table", "rename", "gold.copied", "shop.gold.renamed")
    ask("table drop", "table", "drop", "gold.renamed")
    ask("table drop, of a view", "table", "drop", "silver.seen")
    ask("table dropped", "table", "dropped")
    ask("table restore", "table", "restore", "gold.renamed")


def _lay_out(answers: Answers) -> None:
    ask = answers.ask
    ask("table clone", "table", "clone", "silver.orders", "shop.silver.laid_out")
    ask("layout add", "layout", "add", "laid_out", "--sort-by", "id", "--name", "by_id")
    ask("layout ls", "layout", "ls")
    ask("layout build", "layout", "build", "laid_out")
    ask("layout ls", "layout", "ls", "laid_out")
    ask("layout verify", "layout", "verify")
    ask("layout drop", "layout", "drop", "laid_out", "by_id")


def _release(answers: Answers) -> None:
    ask = answers.ask
    ask("pipeline release", "pipeline", "release", "gold.total", "--message", "first")
    write(
        answers.lake,
        "pipelines/gold/total/pipeline.sql",
        "SELECT sum(eur) AS total FROM {{ ref('silver.orders') }} -- of all\n",
    )
    ask("pipeline diff", "pipeline", "diff", "gold.total", "1")
    ask("pipeline save", "pipeline", "save", "gold.total")
    ask("pipeline drafts", "pipeline", "drafts", "gold.total")
    ask("pipeline release", "pipeline", "release", "gold.total")
    ask("pipeline release", "pipeline", "release", "gold.total")
    ask("pipeline rollback", "pipeline", "rollback", "gold.total", "1")
    ask("pipeline releases", "pipeline", "releases", "gold.total")
    ask("pipeline restore", "pipeline", "restore", "gold.total", "1")
    ask("pipeline delete", "pipeline", "delete", "gold.total")
    ask("pipeline ls", "pipeline", "ls")


def _ask_about_a_worker(answers: Answers) -> None:
    with TemporaryDirectory(prefix="lb") as runtime, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        place = WorkerPlace(private_folder(os.environ), "0123456789abcdef")
        about = {"lake": str(answers.lake), "idle_seconds": 600.0, "always": False}
        connect_or_start(place, about, os.environ).close()
        for word in ("status", "logs", "stop"):
            answers.ask(f"worker {word}", "worker", word)


def _keep(answers: Answers, folder: Path) -> None:
    ask = answers.ask
    ask("care --settings", "care", "--settings")
    with lakebed_open(str(answers.lake)) as lake:
        lake.stores.events.follow("mirror")
        lake.stores.events.protect("gone", TableName("shop", "gold", "total"), [1])
    ask("follower ls", "follower", "ls")
    ask("follower remove", "follower", "remove", "gone")
    ask("follower remove", "follower", "remove", "mirror")
    leave_a_dead_run(answers.lake)
    ask("fsck", "fsck")
    ask("care", "care", "--dry-run")
    ask("fsck", "fsck", "--repair")
    leave_a_dead_run(answers.lake)
    ask("care", "care")
    ask("care --history", "care", "--history")
    ask("backup", "backup", folder / "backup.zip")
    ask("restore", "restore", folder / "backup.zip", "--force")
    ask("fsck --rebuild-catalog", "fsck", "--rebuild-catalog")
    answers.lake = answers.lake.rename(folder / "moved")
    ask("relocate", "relocate")
    ask("takeover", "takeover")
    ask("upgrade", "upgrade")


def leave_a_dead_run(lake: Path) -> None:
    """A run that says that it is running, and nobody has its table."""
    with closing(sqlite3.connect(lake / ".data" / "lake.db")) as database:
        database.execute(
            "UPDATE lakebed_runs SET state = 'running' WHERE run_id = (SELECT max(run_id) FROM"
            " lakebed_runs)"
        )
        database.commit()


def test_every_command_is_described() -> None:
    commands = {f"lakebed {name}" for name, _ in listed_commands()}
    titles = {name for name in DESCRIBED if name.startswith("lakebed ")}
    assert commands <= titles
    assert {title.partition(" --")[0].partition(",")[0] for title in titles} <= commands


@pytest.mark.spark
@pytest.mark.parametrize(
    "title", sorted(name for name in DESCRIBED if name[0].islower() and name not in DEMO)
)
def test_the_json_of_a_command_is_what_the_reference_says(answers: Answers, title: str) -> None:
    assert answers.said[title], title
    for answer in answers.said[title]:
        assert differences(answer, DESCRIBED[title], DESCRIBED) == []


@pytest.mark.parametrize(
    ("type", "right", "wrong"),
    [
        ("text", ["a"], [1, None]),
        ("int", [1], [1.5, True, "1"]),
        ("number", [1, 1.5], ["1", False]),
        ("time", ["2026-11-01T10:00:00+00:00"], ["yesterday"]),
        ("text or null", ["a", None], [1]),
        ("list of text", [[], ["a"]], [["a", 1], "a", {}]),
        ("map of (int or null) or null", [{"a": 1}, {"a": None}, None], [{"a": "b"}, []]),
        ("list of map of any", [[{"a": []}]], [["a"], {}]),
        ("list of Named", [[{"k": 1}]], [[{"k": "a"}], [{}], [{"k": 1, "other": 2}]]),
    ],
)
def test_an_answer_that_is_not_as_described_is_found(
    type: str, right: list[Any], wrong: list[Any]
) -> None:
    named = {
        "Named": Line(
            "Named", "object", below=[Line("k", "int"), Line("o", "int", may_be_absent=True)]
        )
    }
    line = Line("answer", type)
    assert [value for value in right if differences(value, line, named)] == []
    assert [value for value in wrong if not differences(value, line, named)] == []
