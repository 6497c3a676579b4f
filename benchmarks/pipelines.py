"""What safety costs: a run with branch, staging, key checks, gates and publish beside the bare
MERGE it contains.

python benchmarks/pipelines.py [--quick]

The bare rival is the same MERGE from the same query at default settings plus the same three gate
queries, in the same Spark, on a table of its own. The batch is as large as the table, half of it
updates.

Landing: an `append_only` run over 8 files whose types earlier runs have recorded, beside Spark's
plain read of the same files, with the types given, and append to a table of its own.

Samples alternate; medians count. The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from lakebed.app import Lake, create_lake, open_lake

SAMPLES = 5
UPDATED = 0.5  # of a batch as large as the table; the rest is new
GATES = {
    "id_missing": "SELECT * FROM {this} WHERE id IS NULL",
    "amount_negative": "SELECT * FROM {this} WHERE amount < 0",
    "id_repeated": "SELECT id, count(*) AS times FROM {this} GROUP BY id HAVING count(*) > 1",
}
CONFIG = "merge_strategy: incremental\nunique_key: id\n"
CUSTOMERS = (
    "SELECT concat('customer-', id) AS customer, concat('country-', id % 30) AS country FROM"
    " range(5000)"
)
# What a silver pipeline does: types, spelling, a join with a dimension. `plain` is the least a
# query can do.
TYPICAL = """
SELECT b.id, CAST(b.amount AS DECIMAL(12,2)) AS amount, lower(trim(b.customer)) AS customer,
    c.country, to_timestamp(b.at) AS at
FROM {batch} AS b JOIN {customers} AS c ON c.customer = lower(trim(b.customer))
"""
PLAIN = "SELECT * FROM {batch}"


def raw_rows(count: int, first: int) -> str:
    """A query of so many orders, as they come from a till."""
    return (
        "SELECT id, CAST(id % 1000 AS STRING) AS amount, concat(' Customer-', id % 5000, ' ') AS"
        " customer, concat('2026-01-01 ', lpad(id % 24, 2, '0'), ':', lpad(id % 60, 2, '0'),"
        f" ':00') AS at FROM range({first}, {first + count})"
    )


def write_pipeline(
    folder: Path, name: str, source: str, config: str = "", gates: dict[str, str] | None = None
) -> None:
    place = folder / "shop" / "pipelines" / Path(*name.split("."))
    (place / "tests" / "quality").mkdir(parents=True, exist_ok=True)
    (place / "pipeline.sql").write_text(source)
    (place / "config.yaml").write_text(config)
    for gate, query in (gates or {}).items():
        (place / "tests" / "quality" / f"{gate}.sql").write_text(query.format(this="{{ this }}"))


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _timed_in_turn(number: int, **works: Callable[[], Any]) -> dict[str, float]:
    """Seconds of each; in every second round the other one begins."""
    names = list(works) if number % 2 else list(reversed(works))
    return {name: timed(works[name]) for name in names}


def must(lake: Lake, *selectors: str) -> None:
    result = lake.run(*selectors)
    if not result.ok:
        raise SystemExit(f"a run failed: {[dict(record.error) for record in result.records]}")


def cost_of_safety(folder: Path, *, query: str, count: int, samples: int) -> dict[str, Any]:
    """Seconds of safe runs and of bare MERGEs with the same query and gates, alternating; both
    tables begin anew each time.
    """
    create_lake(folder, settings={"spark": {"memory": "4g"}})
    write_pipeline(folder, "bronze.customers", CUSTOMERS)
    write_pipeline(folder, "bronze.first", raw_rows(count, 0))
    write_pipeline(folder, "bronze.batch", raw_rows(count, int(count * (1 - UPDATED))))
    safe, bare = [], []
    with open_lake(folder) as lake:
        must(lake)
        for number in range(samples + 1):  # the first of each warms up
            _begin_anew(lake, folder, query)
            seconds = _timed_in_turn(
                number,
                bare=lambda: _bare(lake.spark, query),
                safe=lambda: must(lake, "silver.safe"),
            )
            if number:
                bare.append(seconds["bare"])
                safe.append(seconds["safe"])
            print(
                f"{count} rows: bare {seconds['bare']:.2f} s, safe {seconds['safe']:.2f} s",
                flush=True,
            )
    return {
        "ratio": round(median(safe) / median(bare), 3),
        "safe_s": _rounded(safe),
        "bare_s": _rounded(bare),
    }


BARE = "lake.shop.silver.bare"


def _begin_anew(lake: Lake, folder: Path, query: str) -> None:
    """Both tables hold the first rows, and the pipeline's next run merges the batch."""
    inputs = {name: f"lake.shop.bronze.{name}" for name in ("first", "batch", "customers")}
    lake.spark.sql(f"DROP TABLE IF EXISTS {BARE}")
    lake.spark.sql(
        f"CREATE TABLE {BARE} USING iceberg AS"
        f" {query.format(batch=inputs['first'], customers=inputs['customers'])}"
    )
    refs = {name: f"{{{{ ref('bronze.{name}') }}}}" for name in inputs}
    write_pipeline(
        folder,
        "silver.safe",
        query.format(batch=refs["first"], customers=refs["customers"]),
        "",
        GATES,
    )
    must(lake, "silver.safe")
    write_pipeline(
        folder,
        "silver.safe",
        query.format(batch=refs["batch"], customers=refs["customers"]),
        CONFIG,
        GATES,
    )


def _bare(spark: Any, query: str) -> None:
    source = query.format(batch="lake.shop.bronze.batch", customers="lake.shop.bronze.customers")
    spark.sql(
        f"MERGE INTO {BARE} t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN"
        " NOT MATCHED THEN INSERT *"
    )
    for gate in GATES.values():
        spark.sql(gate.format(this=BARE)).limit(21).collect()


LANDED = (
    "id BIGINT, customer STRING, amount DOUBLE, quantity INT, at TIMESTAMP, day DATE, paid BOOLEAN,"
    " note STRING"
)
ORDERS = """
SELECT id, concat('customer-', id % 5000) AS customer, (id % 100000) / 100D AS amount,
    CAST(id % 50 AS INT) AS quantity, timestamp_seconds(1767225601 + (id % 1000000) * 7) AS at,
    date_add(DATE '2026-01-01', CAST(id % 365 AS INT)) AS day, id % 2 = 0 AS paid,
    concat('note ', sha1(CAST(id AS STRING))) AS note
FROM range({first}, {end}, 1, 8)
"""
FIRST = 3_000_000_000  # ids are bigint from the first value on


def landing(
    lake: Lake, folder: Path, *, format: str, ending: str, count: int, samples: int
) -> dict[str, Any]:
    """Seconds of runs over landing files and of plain appends."""
    made = _make_files(lake, folder / f"made-{format}", format, count)
    zone, plain_table = f"{format}_orders", f"lake.shop.bronze.plain_{format}"
    lake.spark.sql(f"CREATE TABLE {plain_table} ({LANDED}) USING iceberg")
    source = f"SELECT * FROM {{{{ landing_zone('{zone}') }}}}"
    write_pipeline(folder, f"bronze.{zone}", source, "merge_strategy: append_only\n")
    plain, landed = [], []
    for number in range(samples + 1):  # the first of each warms up, and records the types
        _land(folder / "shop" / "landing" / zone, made, f"{number}-{{}}.{ending}")
        seconds = _timed_in_turn(
            number,
            plain=lambda: _plain_append(lake.spark, made, format, plain_table),
            landed=lambda: must(lake, f"bronze.{zone}"),
        )
        if number:
            plain.append(seconds["plain"])
            landed.append(seconds["landed"])
        told = ", ".join(f"{name} {taken:.2f} s" for name, taken in seconds.items())
        print(f"{format}: {told}", flush=True)
    rows = lake.spark.table(f"lake.shop.bronze.{zone}").count()
    if rows != count * (samples + 1):
        raise SystemExit(f"{rows} rows arrived")
    return {
        "ratio": round(median(landed) / median(plain), 3),
        "landed_s": _rounded(landed),
        "plain_s": _rounded(plain),
        "megabytes": round(sum(file.stat().st_size for file in made) / 1e6),
    }


def _make_files(lake: Lake, folder: Path, format: str, count: int) -> list[Path]:
    """Eight files, as another program would deliver them."""
    rows = lake.spark.sql(ORDERS.format(first=FIRST, end=FIRST + count))
    rows.write.option("header", "true").format(format).save(f"file://{folder}")
    return sorted(folder.glob("part-*"))


def _land(zone: Path, made: list[Path], name: str) -> None:
    """The files under new names, so that no run has read them."""
    zone.mkdir(parents=True, exist_ok=True)
    for place, file in enumerate(made):
        os.link(file, zone / name.format(place))


def _plain_append(spark: Any, made: list[Path], format: str, table: str) -> None:
    reader = spark.read.format(format).schema(LANDED).option("header", "true")
    reader.load([f"file://{file}" for file in made]).writeTo(table).append()


def landings(folder: Path, *, quick: bool) -> dict[str, dict[str, Any]]:
    """Landing beside plain appends, for each format."""
    create_lake(folder, settings={"spark": {"memory": "4g"}})
    wanted = {
        "landing_vs_plain": ("csv", "csv", 2_600_000),
        "landing_vs_plain_ndjson": ("json", "ndjson", 1_600_000),
        "landing_vs_plain_parquet": ("parquet", "parquet", 2_600_000),
    }
    with open_lake(folder) as lake:
        return {
            key: landing(
                lake,
                folder,
                format=format,
                ending=ending,
                count=100_000 if quick else count,
                samples=1 if quick else SAMPLES,
            )
            for key, (format, ending, count) in wanted.items()
        }


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 3) for value in values]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="100,000 rows in place of millions, one sample of each",
    )
    quick = parser.parse_args().quick
    small = {"cost_of_safety_100k": (TYPICAL, 100_000, 1)}
    large = {
        "cost_of_safety_1m": (TYPICAL, 1_000_000, SAMPLES),
        "cost_of_safety_1m_plain": (PLAIN, 1_000_000, SAMPLES),
        "cost_of_safety_10m": (TYPICAL, 10_000_000, SAMPLES),
    }
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name)
        costs = {
            key: cost_of_safety(folder / key, query=query, count=count, samples=times)
            for key, (query, count, times) in (small if quick else large).items()
        }
        costs |= landings(folder / "landing", quick=quick)
    result = {key: cost["ratio"] for key, cost in costs.items()} | {
        "machine": {
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version(),
        },
        "samples": costs,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
