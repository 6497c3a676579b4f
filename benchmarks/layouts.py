"""What a layout is worth: regional income by county over a table that is cut by year and line.

python benchmarks/layouts.py [--quick]

20 M rows (10 years, 40 lines, 2,000 counties, 25 measures) in 400 files, one for each year and
line. Beside this source stand the same rows sorted by county in place, z-ordered, and by year
alone; and a layout by state and year, with all batches fresh and with one of ten stale.
`lake.query` answers each query in turns, with layouts and without, by DuckDB and by Spark;
answers are compared, medians of warm samples count. A layout's build takes turns with a bare
Spark job that writes the same files. The last line is one JSON object.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from lakebed.app import Lake, create_lake, open_lake
from lakebed.ports import Scan
from lakebed.query.planning.plan import PlannedTable
from lakebed.requests import Engine, QueryRequest
from lakebed.settings import WriteSettings
from lakebed.tables.statements import COMMIT_RETRIES, PARALLEL_READS, write_properties

SOURCE, SORTED, Z_ORDERED, BY_YEAR, BARE = (
    f"income{ending}" for ending in ("", "_sorted", "_zorder", "_by_year", "_bare")
)
COLUMNS = (
    "year INT, line_code INT, geo_fips STRING, measure INT, value DOUBLE, geo_name STRING, note"
    " STRING"
)
NEEDED = ("year", "line_code", "geo_fips", "measure", "value")  # that queries name
LAYOUT = "by_county"
STALE = "year = 2013 AND line_code = 3"  # rows of one of ten batches
Clock = Callable[[], float]
SMALL_GROUPS = 1024 * 1024  # bytes of a row group, as in Lakebed's sorted tables


@dataclass(frozen=True)
class Shape:
    """How many of each there are; a row for each combination."""

    years: int = 10
    lines: int = 40
    states: int = 50
    counties: int = 40  # in a state
    measures: int = 25
    samples: int = 15
    spark_samples: int = 9
    spark_queries: tuple[str, ...] = ()  # those that Spark is asked; none: all
    builds: int = 3
    clock: Clock = time.perf_counter  # of what this process does: planning, and DuckDB

    @property
    def leaf(self) -> int:
        """Rows of a file of the source."""
        return self.states * self.counties * self.measures

    @property
    def rows(self) -> int:
        return self.leaf * self.files

    @property
    def files(self) -> int:
        return self.years * self.lines


QUICK = Shape(
    years=4,
    lines=10,
    states=10,
    counties=20,
    measures=10,
    samples=3,
    spark_samples=1,
    spark_queries=("county", "year"),
    builds=1,
)
# milliseconds of all samples by way, of each engine and query
Times = dict[tuple[Engine, str], dict[str, list[float]]]


def queries(shape: Shape) -> dict[str, str]:
    """In words that DuckDB and Spark both understand."""
    county = f"{shape.states // 2:02}007"
    other = f"{shape.states // 2 + 1:02}003"
    by_line = "SELECT year, line_code, sum(value) AS total, count(*) AS n FROM {table}"
    grouped = "GROUP BY year, line_code"
    joined = (
        "SELECT a.year, sum(a.value - b.value) AS difference FROM {table} a JOIN {table} b ON"
        " a.year = b.year AND a.line_code = b.line_code AND a.measure = b.measure"
        f" WHERE a.geo_fips = '{county}' AND b.geo_fips = '{other}' GROUP BY a.year"
    )
    return {
        "county": f"{by_line} WHERE geo_fips = '{county}' {grouped}",
        "state": f"{by_line} WHERE geo_fips LIKE '{county[:2]}%' {grouped}",
        "year": f"{by_line} WHERE year = 2012 {grouped}",
        "county_year": f"{by_line} WHERE geo_fips = '{county}' AND year = 2012 {grouped}",
        "county_line": f"{by_line} WHERE geo_fips = '{county}' AND line_code = 7 {grouped}",
        "join": joined,
        "no_filter": f"{by_line} {grouped}",
    }


# -- the tables


def generated(shape: Shape) -> str:
    """All rows, each file of the source by one task, its rows in no order."""
    mixed = f"(id % {shape.leaf}) * 12347 % {shape.leaf}"  # each number once, in another order
    place = f"CAST(id / {shape.leaf} AS INT)"
    return f"""
SELECT 2010 + CAST(place / {shape.lines} AS INT) AS year, place % {shape.lines} AS line_code,
    concat(lpad(CAST(county / {shape.counties} AS INT) + 1, 2, '0'),
        lpad(county % {shape.counties}, 3, '0')) AS geo_fips,
    CAST(mixed % {shape.measures} AS INT) AS measure, (xxhash64(id) & 65535) / 4D AS value,
    concat('County of ', county % {shape.counties}) AS geo_name,
    CASE WHEN mixed % 50 = 0 THEN 'estimated' END AS note
FROM (SELECT id, place, mixed, CAST(mixed / {shape.measures} AS INT) AS county FROM (
    SELECT id, {place} AS place, {mixed} AS mixed FROM range(0, {shape.rows}, 1, {shape.files})))
"""


def z_value(shape: Shape) -> str:
    """Eight bits each of county, line and year, interleaved."""
    parts = (
        f"(CAST(substr(geo_fips, 1, 2) AS INT) - 1) * 256 / {shape.states}"
        f" + CAST(substr(geo_fips, 3) AS INT) * 256 / {shape.states * shape.counties}",
        f"line_code * 256 / {shape.lines}",
        f"(year - 2010) * 256 / {shape.years}",
    )
    bits = (
        f"shiftleft(shiftright(CAST({part} AS INT), {bit}) & 1, {3 * bit + place})"
        for place, part in enumerate(reversed(parts))
        for bit in range(8)
    )
    return " + ".join(bits)


def create(lake: Lake, name: str, partitions: str = "", *, sort: str = "") -> str:
    """An empty table with the settings that Lakebed gives one; its name in Spark."""
    table = f"lake.bench.gold.{name}"
    groups = write_properties(WriteSettings(row_group_size=SMALL_GROUPS)) if sort else {}
    settings = {"format-version": "2", **COMMIT_RETRIES, **PARALLEL_READS, **groups}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in settings.items())
    cut = f"PARTITIONED BY ({partitions})" if partitions else ""
    place = lake.root.at(f"bench/warehouse/gold/{name}")
    lake.spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    lake.spark.sql(
        f"CREATE TABLE {table} ({COLUMNS}) USING iceberg {cut} LOCATION '{place}'"
        f" TBLPROPERTIES ({listed})"
    )
    if sort:
        lake.spark.sql(f"ALTER TABLE {table} WRITE DISTRIBUTED BY PARTITION ORDERED BY {sort}")
        lake.spark.sql(
            f"ALTER TABLE {table} SET TBLPROPERTIES ('write.spark.fanout.enabled'='false')"
        )
    return table


def make_tables(lake: Lake, shape: Shape) -> None:
    lake.stores.catalog.create_namespace("bench", "gold")
    source = create(lake, SOURCE, "year, line_code")
    rows = lake.spark.sql(generated(shape)).writeTo(source)
    rows.option("distribution-mode", "none").append()
    for name, partitions in ((SORTED, "year, line_code"), (BY_YEAR, "year")):
        lake.spark.table(source).writeTo(create(lake, name, partitions, sort="geo_fips")).append()
    told = lake.spark.table(source).selectExpr("*", f"{z_value(shape)} AS z")
    ranged = told.repartitionByRange(shape.files, "z").sortWithinPartitions("z").drop("z")
    ranged.writeTo(create(lake, Z_ORDERED)).option("distribution-mode", "none").append()


# -- measuring


def timed_ms(work: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    started = clock()
    work()
    return (clock() - started) * 1000


def ask(lake: Lake, engine: Engine, sql: str, *, layouts: bool) -> Any:
    return lake.query(sql, engine=engine, namespace="bench", layouts=layouts).to_arrow()


def rows_of(answer: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in answer.to_pylist())


@dataclass(frozen=True)
class Way:
    """A way to ask a query: of which table, and whether layouts may be read."""

    name: str
    table: str = SOURCE
    layouts: bool = False


def in_turns(
    lake: Lake,
    ways: Sequence[Way],
    sql: str,
    engine: Engine,
    *,
    samples: int,
    clock: Clock,
) -> dict[str, list[float]]:
    """Milliseconds of each way, after one round that compares the answers."""
    texts = {way: sql.format(table=f"gold.{way.table}") for way in ways}
    answers = {
        way.name: rows_of(ask(lake, engine, text, layouts=way.layouts))
        for way, text in texts.items()
    }
    first, *others = answers.values()
    if any(other != first for other in others) or not first:
        raise SystemExit(f"{engine}: the answers differ: {sql}")
    taken: dict[str, list[float]] = {way.name: [] for way in ways}
    for number in range(samples):
        for way, text in texts.items() if number % 2 else reversed(texts.items()):
            taken[way.name].append(
                timed_ms(partial(ask, lake, engine, text, layouts=way.layouts), clock)
            )
    return taken


def measured(lake: Lake, shape: Shape, ways: Sequence[Way], title: str) -> Times:
    """Samples of every query by every way and engine."""
    found: Times = {}
    engines: dict[Engine, int] = {"duckdb": shape.samples, "spark": shape.spark_samples}
    for engine, samples in engines.items():
        for query, sql in queries(shape).items():
            if engine == "spark" and query not in (shape.spark_queries or queries(shape)):
                continue
            clock = shape.clock if engine == "duckdb" else time.perf_counter
            taken = in_turns(lake, ways, sql, engine, samples=samples, clock=clock)
            found[engine, query] = taken
            told = {way: round(median(each), 1) for way, each in taken.items()}
            print(f"{title}, {engine}, {query}: {told}", flush=True)
    return found


def sizes(lake: Lake, shape: Shape, ways: Sequence[Way]) -> dict[str, dict[str, Any]]:
    """What each query reads: files, their bytes, and those of the columns that it needs."""
    return {
        query: {
            way.name: read_sizes(lake, sql.format(table=f"gold.{way.table}"), way.layouts)
            for way in ways
        }
        for query, sql in queries(shape).items()
    }


def read_sizes(lake: Lake, sql: str, layouts: bool) -> dict[str, int]:
    plan = lake.queries.plan(QueryRequest(sql, namespace="bench", layouts=layouts))
    scans = [scan for table in plan.tables for scan in scans_of(table)]
    named = {name.casefold() for name in NEEDED if name in sql}
    needed = 0
    for scan in scans:
        ids = {column.id for column in scan.columns if column.name in named}
        needed += sum(
            size for file in scan.files for id_, size in file.column_sizes.items() if id_ in ids
        )
    return {
        "files": sum(len(scan.files) for scan in scans),
        "bytes": sum(scan.bytes for scan in scans),
        "needed": needed,
    }


def scans_of(table: PlannedTable) -> list[Scan]:
    """What is read of a table: its own files, or those of a layout and the rest."""
    if table.layout is None:
        return [table.scan] if table.scan else []
    return [scan for scan in (table.layout.scan, table.layout.rest) if scan]


def choosing(lake: Lake, shape: Shape, *, rounds: int) -> dict[str, float]:
    """What layouts add to the planning of queries, and all planning: 95th percentiles."""
    more, whole = [], []
    for sql in queries(shape).values():
        text = sql.format(table=f"gold.{SOURCE}")
        on, off = (
            partial(lake.queries.plan, QueryRequest(text, namespace="bench", layouts=layouts))
            for layouts in (True, False)
        )
        pairs = [
            (timed_ms(on, shape.clock), timed_ms(off, shape.clock)) for _ in range(rounds + 1)
        ][1:]
        usual = median(without for _, without in pairs)
        more += [max(with_layouts - usual, 0.0) for with_layouts, _ in pairs]
        whole += [with_layouts for with_layouts, _ in pairs]
    return {"choose_p95_ms": percentile(more), "plan_p95_ms": percentile(whole)}


def percentile(values: Sequence[float], share: float = 0.95) -> float:
    return round(sorted(values)[min(int(share * len(values)), len(values) - 1)], 2)


# -- building


def builds(lake: Lake, shape: Shape) -> dict[str, list[float]]:
    """Seconds of a layout's build, and of a bare job that writes the same files, in turns after one
    of each; the last layout stays.
    """
    taken: dict[str, list[float]] = {"layout": [], "bare": []}
    for number in range(shape.builds + 1):
        add_layout(lake, anew=number > 0)
        works = {"layout": lambda: build_layout(lake), "bare": lambda: build_bare(lake)}
        for name in works if number % 2 else reversed(works):
            if name == "bare":
                create_bare(lake)
            seconds = timed_ms(works[name]) / 1000
            print(f"build {number}: {name} {seconds:.2f} s", flush=True)
            if number:
                taken[name].append(round(seconds, 2))
    return taken


def add_layout(lake: Lake, *, anew: bool) -> None:
    if anew:
        lake.layouts.drop(f"bench.gold.{SOURCE}", LAYOUT)
    lake.layouts.add(
        f"bench.gold.{SOURCE}",
        name=LAYOUT,
        partition_by=["truncate(2, geo_fips)"],
        sort_by=["geo_fips"],
        batch_by=["year"],
    )


def build_layout(lake: Lake) -> None:
    lake.layouts.build(f"bench.gold.{SOURCE}")


def create_bare(lake: Lake) -> None:
    create(lake, BARE, "truncate(2, geo_fips), year", sort="geo_fips")


def build_bare(lake: Lake) -> None:
    lake.spark.table(f"lake.bench.gold.{SOURCE}").writeTo(f"lake.bench.gold.{BARE}").append()


# -- what counts


def speedup(times: Times, engine: Engine, query: str, slow: str, fast: str) -> float:
    found = times[engine, query]
    return round(median(found[slow]) / median(found[fast]), 2)


def worst_slowdown(
    *measurements: Times, of: Callable[[Sequence[float]], float] = median
) -> tuple[float, str]:
    """How much layouts slow down the query that suffers most, and which that is. Below 100 ms,
    10 ms more are nothing.
    """
    ratios = [
        (_slowdown(of(found["off"]), of(found[on])), f"{engine} {query} {on}")
        for times in measurements
        for (engine, query), found in times.items()
        for on in found.keys() - {"off"}
    ]
    ratio, where = max(ratios)
    return round(ratio, 3), where


def _slowdown(off: float, on: float) -> float:
    return min(on / off, 1.0) if off < 100 and on - off <= 10 else on / off


def results(lake: Lake, shape: Shape) -> dict[str, Any]:
    make_tables(lake, shape)
    places = {"off": SOURCE, "sorted": SORTED, "z_ordered": Z_ORDERED, "by_year": BY_YEAR}
    tables = [Way(name, table) for name, table in places.items()]
    apart = measured(lake, shape, tables, "tables")
    built = builds(lake, shape)
    layouts = [Way("off"), Way("layout", layouts=True)]
    fresh = measured(lake, shape, layouts, "layout")
    read = sizes(lake, shape, [*tables, layouts[1]])
    chosen = choosing(lake, shape, rounds=shape.samples * 4)
    lake.spark.sql(f"UPDATE lake.bench.gold.{SOURCE} SET note = 'revised' WHERE {STALE}")
    hybrid = [Way("off"), Way("hybrid", layouts=True)]
    stale = measured(lake, shape, hybrid, "hybrid")
    for query, found in sizes(lake, shape, hybrid[1:]).items():
        read[query] |= found
    return counted(apart, fresh, stale, read, built) | chosen


def counted(
    apart: Times, fresh: Times, stale: Times, read: dict[str, Any], built: dict[str, list[float]]
) -> dict[str, Any]:
    county = read["county"]
    by_duckdb, by_spark = (
        speedup(fresh, engine, "county", "off", "layout") for engine in ("duckdb", "spark")
    )
    worst, where = worst_slowdown(fresh, stale)
    return {
        "county_bytes_ratio": round(county["off"]["needed"] / county["layout"]["needed"], 1),
        "county_duckdb_speedup": by_duckdb,
        "county_spark_speedup": by_spark,
        "hybrid_gain_kept": gain_kept(fresh, stale, "duckdb"),
        "hybrid_gain_kept_spark": gain_kept(fresh, stale, "spark"),
        "worst_slowdown": worst,
        "worst_slowdown_of": where,
        "worst_slowdown_of_fastest_samples": worst_slowdown(fresh, stale, of=min)[0],
        "sorted_in_place_speedup": speedup(apart, "duckdb", "county", "off", "sorted"),
        "z_ordered_speedup": speedup(apart, "duckdb", "county", "off", "z_ordered"),
        "by_year_sorted_speedup": speedup(apart, "duckdb", "county", "off", "by_year"),
        "build_vs_bare_spark": round(median(built["layout"]) / median(built["bare"]), 3),
        "reads": read,
        "samples": {
            "build_s": built,
            "ms": {
                title: {" ".join(key): _medians(found) for key, found in times.items()}
                for title, times in (("tables", apart), ("layout", fresh), ("hybrid", stale))
            },
        },
    }


def _medians(found: dict[str, list[float]]) -> dict[str, float]:
    return {way: round(median(taken), 2) for way, taken in found.items()}


def gain_kept(fresh: Times, stale: Times, engine: Engine) -> float:
    """How much of a layout's gain is left when one of ten batches is stale."""
    before, after = fresh[engine, "county"], stale[engine, "county"]
    gain = median(before["off"]) - median(before["layout"])
    left = median(after["off"]) - median(after["hybrid"])
    return round(left / gain, 3) if gain > 0 else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="80,000 rows in 40 files, few samples")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="processor time of DuckDB and of planning: for a machine that is busy otherwise",
    )
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    shape = replace(QUICK if given.quick else Shape(), clock=clock)
    with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as name:
        folder = Path(name) / "lake"
        create_lake(folder, settings={"spark": {"memory": "4g"}})
        with open_lake(folder) as lake:
            found = results(lake, shape)
    machine = {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }
    print(json.dumps({**found, "rows": shape.rows, "clock": clock.__name__, "machine": machine}))


if __name__ == "__main__":
    main()
