"""The demo: a small shop lake, and what Lakebed can do with it so far. Every line it prints comes from real data."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from tempfile import mkdtemp
from typing import Any

from lakebed.app import Lake, create_lake, open_lake
from lakebed.cli import lakes, tables
from lakebed.cli.screen import Screen
from lakebed.errors import Diverged, LeaseHeld
from lakebed.names import TableName
from lakebed.settings import Root
from lakebed.tables import create_branch, on_branch

ORDERS = TableName("ecommerce", "bronze", "orders")
CUSTOMERS = TableName("ecommerce", "bronze", "customers")
PRODUCTS = TableName("ecommerce", "bronze", "products")
_COLUMNS = {
    ORDERS: "order_id BIGINT, customer_id BIGINT, product_id BIGINT, quantity INT, amount DECIMAL(12,2), status STRING, "
    "updated_at TIMESTAMP",
    CUSTOMERS: "customer_id BIGINT, name STRING, country STRING",
    PRODUCTS: "product_id BIGINT, name STRING, category STRING, price DOUBLE",
}
_LANDING = {
    ORDERS: ("csv", "orders/orders_2026-10-0[12].csv"),
    CUSTOMERS: ("csv", "customers/*.csv"),
    PRODUCTS: ("json", "products/*.ndjson"),
}


@dataclass
class Demo:
    """One showing: the lake it shows, and what it has seen."""

    screen: Screen
    lake: Lake
    started: float = field(default_factory=time.monotonic)
    facts: dict[str, Any] = field(default_factory=dict)

    def count(self, name: str) -> int:
        return int(self.lake.spark.table(name).count())


def show(screen: Screen, path: str | None) -> None:
    """Make the lake and go through the chapters."""
    root = Root.parse(path or Path(mkdtemp(prefix="lakebed-demo-")) / "shop-lake")
    create_lake(root, values={}, template="shop", environment=os.environ)
    with open_lake(str(root.folder), report=screen.progress) as lake:
        showing = Demo(screen, lake)
        for number, (title, chapter) in enumerate(CHAPTERS, start=1):
            _say(screen, f"\n[bold]{number}. {title}[/bold]")
            chapter(showing)
        seconds = time.monotonic() - showing.started
    screen.show(
        showing.facts | {"root": str(root), "seconds": round(seconds, 1)}, lambda: _farewell(screen, root.folder, seconds)
    )


def _say(screen: Screen, line: str) -> None:
    if not screen.as_json and not screen.quiet:
        screen.say(line)


def _made(showing: Demo) -> None:
    landed = [file.path for file in showing.lake.stores.files.list("ecommerce/landing")]
    showing.facts["landed"] = len(landed)
    _say(
        showing.screen,
        f"   {showing.lake.root}: one folder, {len(landed)} files in its landing zones, catalog and state in .data/lake.db",
    )


def _spark(showing: Demo) -> None:
    began = time.monotonic()
    with showing.screen.waiting("starting Spark"):
        version = showing.lake.spark.version
    showing.facts["spark"] = version
    _say(showing.screen, f"   Spark {version} with Iceberg, in this process's care, after {time.monotonic() - began:.1f} s")


def _branches(showing: Demo) -> None:
    with showing.screen.bar("reading landing files") as progress, showing.lake.watch(progress):
        for table in _COLUMNS:
            _load(showing, table, _LANDING[table], branch="run_1")
    seen = {table.name: showing.count(table.spark) for table in _COLUMNS}
    waiting = {table.name: showing.count(on_branch(table, "run_1")) for table in _COLUMNS}
    showing.facts["seen_before"], showing.facts["waiting"] = seen, waiting
    _say(showing.screen, f"   on branch run_1: {_listed(waiting)}")
    _say(showing.screen, f"   on main:         {_listed(seen)}: nobody sees a row yet")


def _load(showing: Demo, table: TableName, landing: tuple[str, str], *, branch: str) -> None:
    kind, files = landing
    lake, spark = showing.lake, showing.lake.spark
    if table not in lake.stores.catalog.pointers([table]):
        spark.sql(lake.creation_of(table, _COLUMNS[table]))
    spark.sql(create_branch(table, branch))
    frame = (
        spark.read.schema(_COLUMNS[table]).option("header", True).format(kind).load(f"{lake.root.url}/ecommerce/landing/{files}")
    )
    frame.writeTo(on_branch(table, branch)).append()


def _together(showing: Demo) -> None:
    done = showing.lake.publish(_COLUMNS, branch="run_1", run_id="demo-1")
    seen = {move.table.name: showing.count(move.table.spark) for move in done.moves}
    showing.facts["seen_after"] = seen
    _say(showing.screen, f"   one transaction moved {len(done.moves)} tables: {_listed(seen)}")


def _bad_day(showing: Demo) -> None:
    _load(showing, ORDERS, ("csv", "orders/orders_2026-10-03.csv"), branch="run_2")
    spark, branch = showing.lake.spark, on_branch(ORDERS, "run_2")
    spark.sql(f"INSERT INTO {branch} SELECT -1, 1, 1, 1, -99.00, 'paid', TIMESTAMP '2026-10-03 12:00:00'")
    bad = spark.sql(f"SELECT order_id FROM {branch} WHERE amount < 0").count()
    showing.facts["bad_rows"], showing.facts["main_during_bad_day"] = bad, showing.count(ORDERS.spark)
    _say(
        showing.screen,
        f"   a check on branch run_2 finds {bad} bad row; main still has its {showing.facts['main_during_bad_day']} rows",
    )
    spark.sql(f"DELETE FROM {branch} WHERE amount < 0")
    showing.lake.publish([ORDERS], branch="run_2", run_id="demo-2")
    showing.facts["main_after_bad_day"] = showing.count(ORDERS.spark)
    _say(showing.screen, f"   mended on the branch, then published: main has {showing.facts['main_after_bad_day']} rows")


def _contention(showing: Demo) -> None:
    with showing.lake.hold(ORDERS, holder="Alice's run"):
        try:
            with showing.lake.hold(ORDERS, holder="Bob's run"):
                raise AssertionError("two holders of one lease")
        except LeaseHeld as refused:
            showing.facts["holder"] = refused.holder
            _say(showing.screen, f"   Bob is told: {refused.what}")
    spark = showing.lake.spark
    spark.sql(create_branch(CUSTOMERS, "run_3"))
    spark.sql(f"INSERT INTO {CUSTOMERS.spark} VALUES (999, 'Late arrival', 'DE')")
    try:
        showing.lake.publish([CUSTOMERS], branch="run_3", run_id="demo-3")
    except Diverged as refused:
        showing.facts["diverged"] = refused.ref
        _say(showing.screen, f"   and a branch that would lose somebody's row is refused: {refused.what}")
    spark.sql(f"ALTER TABLE {CUSTOMERS.spark} DROP BRANCH run_3")


def _elsewhere(showing: Demo) -> None:
    rows = len(showing.lake.iceberg.load_table(ORDERS.parts).scan(selected_fields=("order_id",)).to_arrow())
    showing.facts["pyiceberg_rows"] = rows
    _say(showing.screen, f"   PyIceberg, without Spark, reads the same {rows} orders from the same files")


def _look(showing: Demo) -> None:
    if showing.screen.as_json or showing.screen.quiet:
        return
    there = Screen(lake_path=str(showing.lake.root))
    _say(showing.screen, "   $ lakebed ls")
    lakes.ls(there)
    _say(showing.screen, "   $ lakebed table history orders")
    tables.history(there, "orders")


CHAPTERS: tuple[tuple[str, Callable[[Demo], None]], ...] = (
    ("A lake in a folder", _made),
    ("Spark, with nothing to set up", _spark),
    ("Landing files become rows on a branch", _branches),
    ("Three tables are published in one step", _together),
    ("A bad row never reaches a reader", _bad_day),
    ("Two writers cannot hurt each other", _contention),
    ("Every engine sees the same state", _elsewhere),
    ("Looking around takes no JVM", _look),
)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _farewell(screen: Screen, folder: Path, seconds: float) -> None:
    screen.say(f"\n[bold]That took {seconds:.0f} s.[/bold] The lake is yours to play with:")
    program = "lakebed" if which("lakebed") else str(Path(sys.argv[0]).absolute())
    python = "python" if which("lakebed") else sys.executable
    asked = "lakebed.open('.').spark.table('ecommerce.bronze.orders').groupBy('status').count().show()"
    for line in (
        f"cd {folder}",
        f"{program} ls",
        f"{program} table describe orders",
        f"{program} table history customers --json",
        f"{program} doctor",
        f'{python} -c "import lakebed; {asked}"',
    ):
        screen.say(f"  {line}")
