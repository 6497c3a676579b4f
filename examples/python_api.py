"""Every noun and verb of the Python API, in an order in which they run; docs/python.md shows them.

A line `# %% …` begins an example and names what it is of.
"""

# ruff: noqa: B018 - the last line of an example is its value

# %% lakebed.create
from pathlib import Path

import lakebed

lakebed.create("shop-lake", template="shop").close()

# %% lakebed.open
lake = lakebed.open("shop-lake")

# %% lakebed.Lake
isinstance(lake, lakebed.Lake)

# %% lakebed.LakebedError
try:
    lake.tables.find("clean_oders")
except lakebed.LakebedError as error:
    print(error.what, error.where, error.safe, error.next)

# %% lakebed.TableName
name = lakebed.TableName.parse("ecommerce.silver.clean_orders")
name.namespace, name.layer, name.name

# %% lakebed.ZoneName
lakebed.ZoneName("ecommerce", "orders").folder

# %% lakebed.AssetKey
lakebed.AssetKey(("raw", "omop", "person")).table("assets")

# %% lakebed.RunRequest
request = lakebed.RunRequest.of("silver.clean_orders+", together=True)
lake.plan(request)

# %% lakebed.QueryRequest
request = lakebed.QueryRequest("FROM clean_orders", limit=3)  # for lake.query and lake.explain

# %% lakebed.open_datasets
datasets = lakebed.open_datasets()  # Kartothek datasets without a lake: as lake.kartothek
Path("exports").mkdir()
datasets.list("exports")

# %% lake.plan
plans = lake.plan("+silver.clean_orders")
[(str(plan.table), plan.reason) for plan in plans]

# %% lake.run
result = lake.run("+silver.clean_orders")
assert result.ok
{record.table.name: record.rows for record in result.records}

# %% lake.query
orders = lake.query("SELECT country, count(*) AS n FROM clean_orders GROUP BY ALL")
for country, n in orders:
    print(country, n)
assert lake.query("FROM clean_orders WHERE order_id = ?", parameters=[7]).fetchone()

# %% lake.explain
explained = lake.explain("SELECT * FROM clean_orders WHERE updated_at < TIMESTAMP '2026-10-02'")
[(each.table, each.files, each.bytes) for each in explained]

# %% lake.table
germany = lake.table("clean_orders", columns=["order_id", "amount"], where="country = 'DE'")
germany.to_arrow()  # or to_pandas(), to_polars(), to_duckdb(), to_spark(), to_arrow_batches()

# %% lake.write
import pyarrow as pa

targets = pa.table({"country": ["DE", "FR"], "target": [1000, 2000]})
lake.write("ecommerce.gold.targets", targets)
lake.write("targets", targets.slice(0, 1), mode="merge", key="country")

# %% lake.execute
lake.execute("UPDATE targets SET target = 2500 WHERE country = 'FR'")

# %% lake.plan_adoption
import pyarrow.parquet as pq

for year in (2025, 2026):
    Path(f"visits/year={year}").mkdir(parents=True)
    pq.write_table(pa.table({"visits": [year, 1]}), f"visits/year={year}/part.parquet")
adoption = lake.plan_adoption("visits", "ecommerce.bronze.visits")
assert (adoption.files, adoption.rows) == (2, 4)

# %% lake.adopt
lake.adopt("visits", "ecommerce.bronze.visits")

# %% lake.care
care = lake.care("silver.*", only=["expire_snapshots"], dry_run=True)
[(entry.action, entry.subject) for entry in care.entries]

# %% lake.care_history
lake.care_history(subject="ecommerce.silver.clean_orders", limit=10)

# %% lake.care_settings
lake.care_settings("silver.clean_orders")

# %% lake.fsck
report = lake.fsck(sample=10)
assert report.problems == 0

# %% lake.backup
lake.backup("lake.zip")

# %% lake.restore
lake.restore("lake.zip", force=True, newest=True)

# %% lake.rebuild_catalog
lake.rebuild_catalog()  # finds nothing here: the catalog knows all tables

# %% lake.relocate
lake.relocate(dry_run=True)

# %% lake.takeover
lake.takeover()  # this database is the owner already, so nothing changes

# %% lake.upgrade
assert not lake.upgrade(check=True).is_due

# %% lake.spark
lake.spark.table("ecommerce.silver.clean_orders").groupBy("country").count().show()

# %% lake.has_spark, lake.owns_spark
assert lake.has_spark
lake.owns_spark

# %% lake.spark_ahead
with lake.spark_ahead():  # Spark starts in the background
    lake.plan()

# %% lake.iceberg
lake.iceberg.load_table("ecommerce.silver.clean_orders").scan(limit=3).to_arrow()

# %% lake.queries
lake.queries.explain(lakebed.QueryRequest("FROM clean_orders", limit=3))

# %% lake.query_log
for entry in lake.query_log.entries():
    print(entry)

# %% lake.stores, lake.ports
lake.stores.files.read("lakebed.yaml")
lake.ports.settings.timezone

# %% lake.tables.list
[str(table) for table in lake.tables.list("bronze.*")]

# %% lake.tables.find
customers = lake.tables.find("customers")
assert str(customers) == "ecommerce.bronze.customers"

# %% lake.tables.target
lake.tables.target("ecommerce.gold.new_table")  # need not exist

# %% lake.tables.describe
described = lake.tables.describe("customers")
described.head().count("total-records")

# %% lake.tables.columns
[(column.name, column.type) for column in lake.tables.columns("customers")]

# %% lake.tables.history
newest, *_ = lake.tables.history("targets")
newest.snapshot.id

# %% lake.tables.tag
lake.tables.tag("targets", "agreed")

# %% lake.tables.branch
lake.tables.branch("targets", "what_if", at="agreed")

# %% lake.tables.untag
lake.tables.untag("targets", "what_if")

# %% lake.tables.diff
lake.execute("DELETE FROM targets WHERE country = 'FR'")
difference = lake.tables.diff("targets", "agreed", keys=["country"])
assert difference.rows["removed"] == 1

# %% lake.tables.plan_rollback
lake.tables.plan_rollback("targets", "agreed")

# %% lake.tables.rollback
lake.tables.rollback("targets", "agreed")
assert lake.table("targets").count() == 2

# %% lake.tables.clone
lake.tables.clone("customers", "ecommerce.bronze.customers_copy")

# %% lake.tables.rename
lake.tables.rename("customers_copy", "ecommerce.bronze.people")

# %% lake.tables.plan_migration
lake.tables.plan_migration("people", partition_by="country")

# %% lake.tables.migrate
lake.tables.migrate("people", partition_by="country")

# %% lake.tables.undo_migration
lake.tables.undo_migration("people")

# %% lake.tables.drop
lake.tables.drop("people")

# %% lake.tables.dropped
[(str(dropped.table), dropped.at) for dropped in lake.tables.dropped()]

# %% lake.tables.restore
lake.tables.restore("people", to="ecommerce.bronze.people_again")

# %% lake.tables.lease
with lake.tables.lease("ecommerce.gold.targets", wait=10):
    ...  # no run can change the table meanwhile

# %% lake.tables.look_up
name, pointer, metadata = lake.tables.look_up("targets")
pointer.location

# %% lake.tables.views
lake.tables.views()

# %% lake.tables.drop_view
view = Path("shop-lake/ecommerce/pipelines/gold/german_orders/pipeline.sql")
view.parent.mkdir()
view.write_text(
    """
    -- @materialized: view
    SELECT * FROM {{ ref('silver.clean_orders') }} WHERE country = 'DE'
    """
)
lake.run("gold.german_orders")
lake.tables.drop_view(lakebed.TableName.parse("ecommerce.gold.german_orders"))

# %% lake.tables.foreign
lake.tables.foreign()

# %% lake.tables.readable
lake.tables.readable()

# %% lake.tables.find_readable
table, view = lake.tables.find_readable("targets")
assert view is None

# %% lake.layouts.add
lake.layouts.add("targets", partition_by="country", name="by_country")

# %% lake.layouts.build
lake.layouts.build("targets")

# %% lake.layouts.list
[(layout.name, layout.state) for layout in lake.layouts.list("targets")]

# %% lake.layouts.names
assert lake.layouts.names("targets") == ("by_country",)

# %% lake.layouts.verify
assert all(check.ok for check in lake.layouts.verify("targets"))

# %% lake.layouts.due
lake.layouts.due(lake.tables.find("targets"))

# %% lake.layouts.bytes_of
lake.layouts.bytes_of(lake.tables.find("targets"))

# %% lake.layouts.advise
lake.layouts.advise("targets")

# %% lake.layouts.undone, lake.layouts.bring_up
target = lake.tables.find("targets")
declared = lake.pipelines.layouts().get(target)  # None: it has no pipeline
lake.layouts.undone(target, declared)
lake.layouts.bring_up(target, declared)

# %% lake.layouts.drop
lake.layouts.drop("targets", "by_country")

# %% lake.pipelines.list
[(str(state.table), state.version) for state in lake.pipelines.list()]

# %% lake.pipelines.known
lake.pipelines.known()

# %% lake.pipelines.find
lake.pipelines.find("revenue")

# %% lake.pipelines.select
lake.pipelines.select("silver.clean_orders+")

# %% lake.pipelines.load
lake.pipelines.load()

# %% lake.pipelines.compile
(compiled, *gates) = lake.pipelines.compile("silver.clean_orders")
print(compiled.text)

# %% lake.pipelines.preview
preview = lake.pipelines.preview("bronze.customers", limit=3)

# %% lake.pipelines.test
results = lake.pipelines.test("silver.clean_orders")

# %% lake.pipelines.lineage
lake.pipelines.lineage("silver.clean_orders")

# %% lake.pipelines.column_lineage
lake.pipelines.column_lineage("silver.clean_orders")

# %% lake.pipelines.keys_of, lake.pipelines.partitions_of, lake.pipelines.layouts
clean_orders = lake.tables.find("clean_orders")
assert lake.pipelines.keys_of(clean_orders) == ("order_id",)
lake.pipelines.partitions_of(clean_orders)
lake.pipelines.layouts()

# %% lake.pipelines.save
draft, is_new = lake.pipelines.save("gold.revenue")

# %% lake.pipelines.drafts
lake.pipelines.drafts("gold.revenue")

# %% lake.pipelines.release
lake.pipelines.release("gold.revenue", message="as agreed")

# %% lake.pipelines.releases
[release.version for release in lake.pipelines.releases("gold.revenue")]

# %% lake.pipelines.diff
lake.pipelines.diff("gold.revenue", "1", "draft")

# %% lake.pipelines.rollback
lake.pipelines.rollback("gold.revenue", 1, message="back to the first")

# %% lake.pipelines.restore
lake.pipelines.restore("gold.revenue", "1")

# %% lake.pipelines.retry
lake.pipelines.retry()  # nothing failed, so nothing runs

# %% lake.pipelines.delete
lake.pipelines.delete("gold.revenue")

# %% lake.zones.put
Path("returns.csv").write_text("order_id,reason\n7,too small\n")
landed = lake.zones.put("ecommerce.orders", [Path("returns.csv")], sample=True)

# %% lake.zones.list
[(str(zone.zone), zone.counts) for zone in lake.zones.list()]

# %% lake.zones.names
lake.zones.names()

# %% lake.zones.show
zone = lake.zones.show("orders")

# %% lake.zones.columns
lake.zones.columns(zone.zone, landed)

# %% lake.zones.retry
lake.zones.retry("orders")  # no file is in quarantine

# %% lake.runs.list
records = lake.runs.list(state="success", limit=5)

# %% lake.runs.show
run = lake.runs.show(records[0].run_id)

# %% lake.runs.log
print(lake.runs.log(run.run_id))

# %% lake.followers.list
from lakebed.tables import Follower

stores = lake.stores
follower = Follower(
    "portal",
    catalog=stores.catalog,
    events=stores.events,
    records=stores.records,
    leases=stores.leases,
)
look = follower.look(seen=[])  # a new follower sees every table as changed
assert [each.name for each in lake.followers.list()] == ["portal"]

# %% lake.followers.remove
lake.followers.remove("portal")

# %% lake.workers.status, lake.workers.logs, lake.workers.stop
lake.workers.status()
lake.workers.logs(lines=10)
lake.workers.stop()

# %% lake.kartothek.store
import pandas as pd

from lakebed.kartothek import DatasetOptions

sales = pd.DataFrame({"country": ["DE", "FR"], "item": [7, 8]})
options = DatasetOptions(partition_keys=("country",), indexed=("item",))
lake.kartothek.store("exports/sales", sales, options=options)

# %% lake.kartothek.list
[dataset.dataset for dataset in lake.kartothek.list("exports")]

# %% lake.kartothek.show
lake.kartothek.show("exports/sales")

# %% lake.kartothek.keep
lake.kartothek.keep("exports/sales", days=7)

# %% lake.kartothek.update
more = pd.DataFrame({"country": ["FR"], "item": [9]})
lake.kartothek.update("exports/sales", more, delete_scope=[{"country": "FR"}])

# %% lake.kartothek.versions
former, *_ = lake.kartothek.versions("exports/sales")

# %% lake.kartothek.read
rows = lake.kartothek.read("exports/sales", predicates=[[("item", "in", [7, 8])]])
assert rows.num_rows == 1

# %% lake.kartothek.query
lake.kartothek.query("exports/sales", "SELECT country, count(*) FROM sales GROUP BY ALL").fetchall()

# %% lake.kartothek.frame
lake.kartothek.frame("exports/sales").count()

# %% lake.kartothek.verify
assert lake.kartothek.verify("exports/sales", full=True) == ()

# %% lake.kartothek.gc
lake.kartothek.gc("exports/sales", dry_run=True)

# %% lake.kartothek.files
lake.kartothek.files("exports").where

# %% lake.kartothek.export_table
lake.kartothek.export_table("targets", "exports/targets", partition_by=["country"])

# %% lake.kartothek.import_dataset
lake.kartothek.import_dataset("exports/sales", "ecommerce.bronze.sales")

# %% QueryResult.column_types
result = lake.query("SELECT order_id, country, amount FROM clean_orders")
assert [name for name, _ in result.column_types] == ["order_id", "country", "amount"]

# %% QueryResult.fetchone, QueryResult.fetchall
first = result.fetchone()
rest = result.fetchall()
assert len(rest) == 599

# %% QueryResult.to_arrow
result.to_arrow().num_rows

# %% QueryResult.to_arrow_batches
for batch in result.to_arrow_batches(rows=10_000):  # computed as they are read
    batch.num_rows

# %% QueryResult.to_pandas
result.to_pandas(dtype_backend="pyarrow").groupby("country").size()

# %% QueryResult.to_polars
result.to_polars().group_by("country").len()

# %% QueryResult.to_duckdb
result.to_duckdb().filter("country = 'DE'").fetchall()

# %% QueryResult.to_spark
result.to_spark().count()

# %% QueryResult.explain
[(each.table, each.files, each.total_files) for each in result.explain()]

# %% QueryResult.close
result.close()  # `with lake.query(…) as result:` does it at the end of the block

# %% LazyTable.name, LazyTable.snapshot, LazyTable.columns
orders = lake.table("clean_orders", where="country = 'DE'")
orders.name, orders.snapshot, orders.columns

# %% LazyTable.column_types, LazyTable.schema
orders.column_types, orders.schema

# %% LazyTable.count
assert orders.count() > 0

# %% LazyTable.scan
scan = orders.scan()

# %% LazyTable.to_arrow
orders.to_arrow()

# %% LazyTable.to_arrow_batches
for batch in orders.to_arrow_batches():
    batch.num_rows

# %% LazyTable.to_pandas
orders.to_pandas()

# %% LazyTable.to_polars
import polars as pl

orders.to_polars(lazy=True).filter(pl.col("amount") > 100).collect()

# %% LazyTable.to_duckdb
orders.to_duckdb().aggregate("sum(amount)").fetchone()

# %% LazyTable.to_spark
orders.to_spark().count()

# %% LazyTable.fetchone, LazyTable.fetchall
orders.fetchone()
orders.fetchall()

# %% lake.close
lake.close()  # `with lakebed.open(…) as lake:` does it at the end of the block
