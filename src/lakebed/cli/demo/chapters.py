"""The chapters of the demo. Every line they say comes from real data."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lakebed.app import Lake
from lakebed.app.pipelines import BuildRequest, BuildResult
from lakebed.cli import ls
from lakebed.cli.output.building import Showing
from lakebed.cli.output.marks import Marked
from lakebed.cli.output.screen import Screen
from lakebed.cli.table import history
from lakebed.errors import BadQuery, GateFailed
from lakebed.names import TableName

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
    """One showing: the lake it shows, and what it has seen."""

    screen: Screen
    lake: Lake
    started: float = field(default_factory=time.monotonic)
    facts: dict[str, Any] = field(default_factory=dict)

    def count(self, table: TableName) -> int:
        """The rows a reader sees; no engine is asked."""
        head = self.lake.describe(table).head()
        return (head.rows or 0) if head else 0

    def run(self, *selectors: str, together: bool = False) -> BuildResult:
        """Run pipelines, a line for each as it ends."""
        showing = Showing(self.screen)
        return self.lake.pipelines.run(BuildRequest(selectors), together=together, onlooker=showing.onlooker)

    def say(self, line: str | Marked) -> None:
        if not self.screen.as_json and not self.screen.quiet:
            self.screen.say(line)


def _made(showing: Demo) -> None:
    files = showing.lake.stores.files
    landed = [file.path for file in files.list("ecommerce/landing") if not file.path.endswith("zone.yaml")]
    plans = showing.lake.plan()
    showing.facts |= {"landed": len(landed), "pipelines": [str(plan.table) for plan in plans]}
    showing.say(f"   {showing.lake.root}: {len(landed)} files in landing zones, {len(plans)} pipelines written as SQL and Python")
    for plan in plans:
        showing.say(f"   {plan.table}: {len(plan.steps)} steps")
    showing.say("   (lakebed plan shows the steps; no JVM has been started)")


def _spark(showing: Demo) -> None:
    began = time.monotonic()
    with showing.screen.waiting("starting Spark"):
        version = showing.lake.spark.version
    showing.facts["spark"] = version
    showing.say(f"   Spark {version} with Iceberg, in this process's care, after {time.monotonic() - began:.1f} s")


def _layers(showing: Demo) -> None:
    result = showing.run()
    showing.facts["first"] = {str(record.table): record.state for record in result.records}
    showing.facts["rows"] = {str(table): showing.count(table) for table in (ORDERS, CLEAN_ORDERS, REVENUE)}
    processed = [file.path for file in showing.lake.stores.files.list(f"{_ZONE}/_processed")]
    showing.facts["processed"] = len(processed)
    showing.say(f"   the {len(processed)} order files were read once and moved to _processed/")


def _land(showing: Demo, amount: str) -> None:
    text = "\n".join((_HEAD, *_DAY)).format(amount=amount) + "\n"
    showing.lake.stores.files.write(f"{_ZONE}/orders_2026-10-04.csv", text.encode())


def _bad_day(showing: Demo) -> None:
    before = showing.lake.describe(ORDERS).head()
    _land(showing, "-179.00")
    result = showing.run()
    unchanged = showing.lake.describe(ORDERS).head() == before
    showing.facts["bad"] = {str(record.table): record.state for record in result.records}
    showing.facts["main_unchanged"] = unchanged
    seen = showing.count(ORDERS)
    showing.say(f"   readers of {ORDERS} still see the {seen} rows of before; the file waits in its zone")


def _repaired(showing: Demo) -> None:
    _land(showing, "179.00")
    result = showing.run()
    showing.facts["repaired"] = {str(record.table): record.state for record in result.records}
    showing.facts["rows_after"] = {str(table): showing.count(table) for table in (ORDERS, CLEAN_ORDERS, REVENUE)}
    showing.say(f"   {ORDERS} now has {showing.count(ORDERS)} rows, {REVENUE} {showing.count(REVENUE)}")


def _contention(showing: Demo) -> None:
    with showing.lake.hold(REVENUE, holder="Alice's run"):
        result = showing.run("silver.clean_orders+", together=True)
    showing.facts["told"] = sorted({record.error.get("kind", "") for record in result.records})


def _undone(showing: Demo) -> None:
    before, mistake = showing.lake.describe(REVENUE).head(), f"DELETE FROM {REVENUE} WHERE country = 'DE'"
    try:
        showing.lake.execute(mistake)
    except GateFailed as refused:
        showing.facts["refused"] = refused.what
        showing.say(f"   {mistake}: {refused.what} {refused.safe}")
    showing.lake.execute(mistake, gates=False)
    showing.say(f"   the same, without asking the gates: {showing.count(REVENUE)} rows are left")
    undone = showing.lake.rollback(REVENUE, before.id if before else "")
    showing.facts["undone"] = {"rows": showing.count(REVENUE), "runs": len(undone.undone)}
    showing.say(f"   rolled back to snapshot {undone.to.id}: {showing.count(REVENUE)} rows; the way forward is another rollback")


_REVENUE = f"SELECT country, sum(revenue) AS revenue FROM {REVENUE} GROUP BY country ORDER BY revenue DESC LIMIT 3"


def _asked(showing: Demo) -> None:
    lake, took = showing.lake, []
    for _ in range(2):
        began = time.perf_counter()
        best = list(lake.query(_REVENUE).rows())
        took.append((time.perf_counter() - began) * 1000)
    shown = ", ".join(f"{country} {revenue}" for country, revenue in best)
    showing.say(f"   {shown}: DuckDB, no JVM, {took[0]:.0f} ms at first and {took[1]:.0f} ms the second time")
    first, count = lake.history(ORDERS)[-1], f"SELECT count(*) FROM {ORDERS}"
    (then,), (now,) = (next(lake.query(count, at=at).rows()) for at in (first.id, None))
    showing.say(f"   {ORDERS} had {then} rows at its first snapshot and has {now} now")
    german = lake.table(CLEAN_ORDERS, columns=["amount"], where="country = 'DE'")
    rows = german.arrow().num_rows
    showing.say(
        f"   lake.table(…, where=\"country = 'DE'\") is a lazy table for Polars, Arrow, pandas, DuckDB and Spark: {rows} rows"
    )
    showing.facts |= {"best": [country for country, _ in best], "then_and_now": [then, now], "german": rows}


def _stranger(showing: Demo) -> None:
    for asked in ("SELECT * FROM read_csv('/etc/passwd')", f"DROP TABLE {REVENUE}"):
        try:
            showing.lake.query(asked, untrusted=True)
        except BadQuery as refused:
            showing.facts.setdefault("strangers", []).append(refused.what)
            showing.say(f"   {asked}: {refused.what}")
    found = next(showing.lake.query(f"SELECT count(*) FROM {REVENUE}", untrusted=True).rows())
    showing.say(
        f"   SELECT count(*) FROM {REVENUE}: {found[0]}, in a process of its own that sees this table's files and nothing else"
    )


def _elsewhere(showing: Demo) -> None:
    rows = len(showing.lake.iceberg.load_table(ORDERS.parts).scan(selected_fields=("order_id",)).to_arrow())
    showing.facts["pyiceberg_rows"] = rows
    showing.say(f"   PyIceberg, without Spark, reads the same {rows} orders from the same files")


def _look(showing: Demo) -> None:
    if showing.screen.as_json or showing.screen.quiet:
        return
    with Screen(lake_path=str(showing.lake.root)) as screen:
        showing.say("   $ lakebed ls")
        ls.ls(screen)
        showing.say("   $ lakebed table history orders")
        history.history(screen, "bronze.orders")


CHAPTERS: tuple[tuple[str, Callable[[Demo], None]], ...] = (
    ("A lake in a folder, and a plan", _made),
    ("Spark, with nothing to set up", _spark),
    ("From landing files to bronze, silver and gold", _layers),
    ("A bad batch is stopped by a gate", _bad_day),
    ("The repaired batch goes through", _repaired),
    ("Together or not at all: one table is taken, so none is touched", _contention),
    ("A mistake by hand, undone", _undone),
    ("SQL in milliseconds, now and as it was", _asked),
    ("SQL of strangers", _stranger),
    ("Every engine sees the same state", _elsewhere),
    ("Looking around takes no JVM", _look),
)
