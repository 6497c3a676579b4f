"""The chapters of the demo. Every number they print comes from the lake."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lakebed.app import Lake
from lakebed.cli import ls
from lakebed.cli.output.build_progress import BuildProgress
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.table import history
from lakebed.errors import BadQuery, GateFailed
from lakebed.names import TableName
from lakebed.pipelines import BuildResult

ORDERS = TableName("ecommerce", "bronze", "orders")
CLEAN_ORDERS = TableName("ecommerce", "silver", "clean_orders")
REVENUE = TableName("ecommerce", "gold", "revenue")
_ZONE = "ecommerce/landing/orders"
_HEAD = "order_id,customer_id,product_id,quantity,amount,status,updated_at"
_DAY = (
    "601,12,1,1,39.90,paid,2026-10-04T08:15:00Z",
    "602,31,5,1,149.00,placed,2026-10-04T09:30:00Z",
    "603,7,3,2,{amount},paid,2026-10-04T11:45:00Z",
)


@dataclass
class Demo:
    """A demo in progress: its lake, and what has been shown so far."""

    screen: Screen
    lake: Lake
    started: float = field(default_factory=time.monotonic)
    facts: dict[str, Any] = field(default_factory=dict)

    def count(self, table: TableName) -> int:
        """How many rows readers see, from metadata alone."""
        head = self.lake.tables.describe(table).head()
        return (head.rows or 0) if head else 0

    def run(self, *selectors: str, together: bool = False) -> BuildResult:
        """Run pipelines, and print a line for each as it ends."""
        progress = BuildProgress(self.screen)
        return self.lake.run(*selectors, together=together, listener=progress.listener)

    def say(self, line: str | Styled) -> None:
        if not self.screen.as_json and not self.screen.quiet:
            self.screen.say(line)


def _made(demo: Demo) -> None:
    files = demo.lake.stores.files
    landed = [
        file.path for file in files.list("ecommerce/landing") if not file.path.endswith("zone.yaml")
    ]
    plans = demo.lake.plan()
    demo.facts |= {"landed": len(landed), "pipelines": [str(plan.table) for plan in plans]}
    demo.say(
        f"   {demo.lake.root}: {len(landed)} files in landing zones, {len(plans)} pipelines written"
        " as SQL and Python"
    )
    for plan in plans:
        demo.say(f"   {plan.table}: {len(plan.steps)} steps")
    demo.say("   (lakebed plan shows the steps; no JVM has been started)")


def _spark(demo: Demo) -> None:
    began = time.monotonic()
    with demo.screen.spinner("starting Spark"):
        version = demo.lake.spark.version
    demo.facts["spark"] = version
    demo.say(f"   Spark {version} with Iceberg, started in {time.monotonic() - began:.1f} s")


def _layers(demo: Demo) -> None:
    result = demo.run()
    demo.facts["first"] = {str(record.table): record.state for record in result.records}
    demo.facts["rows"] = {
        str(table): demo.count(table) for table in (ORDERS, CLEAN_ORDERS, REVENUE)
    }
    processed = [file.path for file in demo.lake.stores.files.list(f"{_ZONE}/_processed")]
    demo.facts["processed"] = len(processed)
    demo.say(f"   the {len(processed)} order files were read once and moved to _processed/")


def _land(demo: Demo, amount: str) -> None:
    text = "\n".join((_HEAD, *_DAY)).format(amount=amount) + "\n"
    demo.lake.stores.files.write(f"{_ZONE}/orders_2026-10-04.csv", text.encode())


def _bad_day(demo: Demo) -> None:
    before = demo.lake.tables.describe(ORDERS).head()
    _land(demo, "-179.00")
    result = demo.run()
    unchanged = demo.lake.tables.describe(ORDERS).head() == before
    demo.facts["bad"] = {str(record.table): record.state for record in result.records}
    demo.facts["main_unchanged"] = unchanged
    seen = demo.count(ORDERS)
    demo.say(
        f"   readers of {ORDERS} still see the {seen} rows they saw before; the file stays in its"
        " zone"
    )


def _repaired(demo: Demo) -> None:
    _land(demo, "179.00")
    result = demo.run()
    demo.facts["repaired"] = {str(record.table): record.state for record in result.records}
    demo.facts["rows_after"] = {
        str(table): demo.count(table) for table in (ORDERS, CLEAN_ORDERS, REVENUE)
    }
    demo.say(f"   {ORDERS} now has {demo.count(ORDERS)} rows, {REVENUE} {demo.count(REVENUE)}")


def _contention(demo: Demo) -> None:
    with demo.lake.tables.lease(REVENUE, holder="Alice's run"):
        result = demo.run("silver.clean_orders+", together=True)
    demo.facts["told"] = sorted({record.error.get("kind", "") for record in result.records})


def _undone(demo: Demo) -> None:
    before, mistake = (
        demo.lake.tables.describe(REVENUE).head(),
        f"DELETE FROM {REVENUE} WHERE country = 'DE'",
    )
    try:
        demo.lake.execute(mistake)
    except GateFailed as refused:
        demo.facts["refused"] = refused.what
        demo.say(f"   {mistake}: {refused.what} {refused.safe}")
    demo.lake.execute(mistake, gates=False)
    demo.say(f"   the same with gates=False: {demo.count(REVENUE)} rows remain")
    undone = demo.lake.tables.rollback(REVENUE, before.id if before else "")
    demo.facts["undone"] = {"rows": demo.count(REVENUE), "runs": len(undone.undone)}
    demo.say(
        f"   rolled back to snapshot {undone.to.id}: {demo.count(REVENUE)} rows. A rollback can"
        " itself be rolled back"
    )


_REVENUE = (
    f"SELECT country, sum(revenue) AS revenue FROM {REVENUE} GROUP BY country ORDER BY revenue DESC"
    " LIMIT 3"
)


def _asked(demo: Demo) -> None:
    lake, took = demo.lake, []
    for _ in range(2):
        began = time.perf_counter()
        best = lake.query(_REVENUE).fetchall()
        took.append((time.perf_counter() - began) * 1000)
    shown = ", ".join(f"{country} {revenue}" for country, revenue in best)
    demo.say(
        f"   {shown}: DuckDB, without a JVM, in {took[0]:.0f} ms the first time and {took[1]:.0f}"
        " ms the second"
    )
    first, count = lake.tables.history(ORDERS)[-1].snapshot, f"SELECT count(*) FROM {ORDERS}"
    (then,), (now,) = (
        next(iter(lake.query(count, at=at))) for at in (first.id if first else None, None)
    )
    demo.say(f"   {ORDERS} had {then} rows at its first snapshot and has {now} now")
    german = lake.table(CLEAN_ORDERS, columns=["amount"], where="country = 'DE'")
    rows = german.to_arrow().num_rows
    demo.say(
        "   lake.table(…, where=\"country = 'DE'\") is a lazy table for Polars, Arrow, pandas,"
        f" DuckDB and Spark: {rows} rows"
    )
    demo.facts |= {
        "best": [country for country, _ in best],
        "then_and_now": [then, now],
        "german": rows,
    }


def _laid_out(demo: Demo) -> None:
    copy = demo.lake.tables.clone(CLEAN_ORDERS, "ecommerce.silver.kept_orders")
    made = demo.lake.layouts.add(copy, partition_by="country", sort_by="order_id")
    (built,) = demo.lake.layouts.build(copy)
    demo.facts["layout"] = {"name": made.name, "complete": built.complete}
    demo.say(
        f"   {copy} now has its {demo.count(copy)} rows by month and, in the layout {made.name},"
        f" by country, too: built in {built.seconds:.1f} s, kept fresh batch by batch"
    )


def _untrusted(demo: Demo) -> None:
    for asked in ("SELECT * FROM read_csv('/etc/passwd')", f"DROP TABLE {REVENUE}"):
        try:
            demo.lake.query(asked, untrusted=True)
        except BadQuery as refused:
            demo.facts.setdefault("untrusted", []).append(refused.what)
            demo.say(f"   {asked}: {refused.what}")
    found = next(iter(demo.lake.query(f"SELECT count(*) FROM {REVENUE}", untrusted=True)))
    demo.say(
        f"   SELECT count(*) FROM {REVENUE}: {found[0]}, in a separate process that can read this"
        " table's files and nothing else"
    )


def _elsewhere(demo: Demo) -> None:
    rows = len(
        demo.lake.iceberg.load_table(ORDERS.parts).scan(selected_fields=("order_id",)).to_arrow()
    )
    demo.facts["pyiceberg_rows"] = rows
    demo.say(f"   PyIceberg, without Spark, reads the same {rows} orders from the same files")


def _look(demo: Demo) -> None:
    if demo.screen.as_json or demo.screen.quiet:
        return
    with Screen(lake_path=str(demo.lake.root)) as screen:
        demo.say("   $ lakebed ls")
        ls.ls(screen)
        demo.say("   $ lakebed table history orders")
        history.history(screen, "bronze.orders")


CHAPTERS: tuple[tuple[str, Callable[[Demo], None]], ...] = (
    ("A lake in a folder, and a plan", _made),
    ("Spark, with nothing to set up", _spark),
    ("From landing files to bronze, silver and gold", _layers),
    ("A bad batch is stopped by a gate", _bad_day),
    ("The corrected batch goes through", _repaired),
    ("All tables or none: one is locked, so none is changed", _contention),
    ("A manual mistake, undone", _undone),
    ("SQL in milliseconds, on the present and the past", _asked),
    ("A second arrangement of a table, which queries use by themselves", _laid_out),
    ("Untrusted SQL", _untrusted),
    ("Every engine reads the same tables", _elsewhere),
    ("Looking around, without a JVM", _look),
)
