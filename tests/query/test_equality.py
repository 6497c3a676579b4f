"""Spark, DuckDB and PyIceberg see the same values, and the same rows fulfil a condition, whatever
became of the schema.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.names import TableName, spark_identifier
from tests.query.matrix import COMPARED, ODD, TYPES, Predicate, predicates, rows
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.three_readers import TABLE, Row, Trio, schema
from tests.support.scale import SCALE, rotated

pytestmark = [pytest.mark.spark]

CONDITIONS = 160  # of some 520, after each but the last change of the schema
ROUND = 17  # rows until each value of each type was there, and NULL


@dataclass
class Seen:
    """What the three read at one state of the table."""

    snapshot: int
    spark: list[Row]
    duckdb: list[Row]
    pyiceberg: list[Row]


@dataclass
class History:
    """The states of the table, one after each change."""

    trio: Trio
    states: dict[str, Seen] = field(default_factory=dict)
    conditions: dict[str, tuple[list[Predicate], list[list[int]], list[list[int]]]] = field(
        default_factory=dict
    )

    def look(self, name: str) -> None:
        snapshot = self.trio.iceberg.current_snapshot().snapshot_id
        self.states[name] = Seen(
            snapshot, self.trio.by_spark(), self.trio.by_duckdb(), self.trio.by_pyiceberg()
        )

    def ask(self, name: str, columns: dict[str, str], *, all_of_them: bool = False) -> None:
        """Operators with edge values of these columns: each, or as many as there is time for."""
        every = list(predicates(columns))
        asked = every if all_of_them else rotated(every, CONDITIONS)
        self.conditions[name] = (
            asked,
            self.trio.fulfilled_in_spark(asked),
            self.trio.fulfilled_in_duckdb(asked),
        )


def more(start: int, count: int, **renamed: str) -> list[Row]:
    """Rows of the same values under further ids; `renamed` says under which name a column goes by
    now.
    """
    return [
        {renamed.get(name, name): value for name, value in row.items()} | {"id": start + row["id"]}
        for row in rows(count)
    ]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Lake]:
    made = TestLake(tmp_path_factory.mktemp("equality") / "lake").lake
    yield made
    made.close()


@pytest.fixture(scope="module")
def history(lake: Lake) -> History:
    """A table that goes through every change of schema, read by three after each."""
    trio = Trio(lake)
    trio.make()
    made = History(trio)
    for change in (
        _first,
        _renamed,
        _added,
        _dropped_and_added_again,
        _widened,
        _nested,
        _written_by_spark,
    ):
        change(made)
        made.look(change.__name__.strip("_"))
    return made


def _first(history: History) -> None:
    for start in (0, 6, 12):
        history.trio.append(rows(ROUND)[start : min(start + 6, ROUND)])
    history.ask("first", {name: name for name in COMPARED})


def _renamed(history: History) -> None:
    with history.trio.iceberg.update_schema() as update:
        for old, new in RENAMED.items():
            update.rename_column(old, new)
    history.trio.append(more(100, 5, **RENAMED))
    history.ask("renamed", {RENAMED.get(name, name): name for name in COMPARED})


def _added(history: History) -> None:
    from pyiceberg.types import LongType, StringType

    with history.trio.iceberg.update_schema() as update:
        update.add_column("new_l", LongType())
        update.add_column("new_s", StringType())
    history.trio.append(
        [row | {"new_l": row["id"], "new_s": "n"} for row in more(200, 3, **RENAMED)]
    )
    history.ask("added", {RENAMED.get(name, name): name for name in COMPARED} | ADDED)


def _dropped_and_added_again(history: History) -> None:
    from pyiceberg.types import BooleanType, DateType

    with history.trio.iceberg.update_schema() as update:
        update.delete_column("b").delete_column("dt")
    with history.trio.iceberg.update_schema() as update:
        update.add_column("b", BooleanType())
        update.add_column("dt", DateType())
    history.trio.append(more(300, 6, **RENAMED))
    history.ask(
        "dropped_and_added_again", {RENAMED.get(name, name): name for name in COMPARED} | ADDED
    )


def _widened(history: History) -> None:
    from pyiceberg.types import DecimalType, DoubleType, LongType

    with history.trio.iceberg.update_schema() as update:
        update.update_column("i2", LongType())
        update.update_column("f", DoubleType())
        update.update_column("dec9", DecimalType(18, 2))
    big = {"i2": 2**40, "f": 1e300, "dec9": Decimal("9999999999999999.99")}
    history.trio.append([row | big for row in more(400, 1, **RENAMED)] + more(410, 9, **RENAMED))
    history.ask("widened", NOW)  # bounds of files are of both types


def _nested(history: History) -> None:
    from pyiceberg.types import IntegerType, StringType

    with history.trio.iceberg.update_schema() as update:
        update.add_column(("st", "e"), IntegerType())
        update.rename_column(("st", "a"), "aa")
        update.delete_column(("st", "b"))
        update.add_column(("ls", "c"), IntegerType())
        update.rename_column(("ms", "value", "x"), "y")
    with history.trio.iceberg.update_schema() as update:
        update.add_column(("st", "b"), StringType())
    changed = {
        "st": {"aa": 5, "b": "again", "c": {"d": -0.0}, "e": 6},
        "ls": [{"a": 1, "b": "x", "c": 7}],
        "ms": [("k", {"y": 8})],
    }
    history.trio.append([row | changed for row in more(500, 2, **RENAMED)])
    history.ask("nested", NOW | {"st.aa": "i", "st.b": "s", "st.c.d": "d", "st.e": "i"})


def _written_by_spark(history: History) -> None:
    spark = history.trio.lake.spark
    history.trio.append(more(600, ROUND, **RENAMED))
    names = [
        name
        for name in history.trio.iceberg.schema().column_names
        if "." not in name and name != "id"
    ]
    listed = ", ".join(f"`{name}`" for name in names)
    spark.sql(
        f"INSERT INTO {TABLE.spark} (id, {listed}) SELECT id + 100, {listed} FROM {TABLE.spark}"
        " WHERE id BETWEEN 600 AND 699"
    )
    spark.sql(f"DELETE FROM {TABLE.spark} WHERE id IN (3, 705)")
    history.ask("written_by_spark", NOW, all_of_them=True)


RENAMED = {"i": "i2", "s": "s2", "d": "d2", "bin": "bin2"}
ADDED = {"new_l": "l", "new_s": "s"}
NOW = {RENAMED.get(name, name): {"i": "l", "f": "d"}.get(name, name) for name in COMPARED} | ADDED
STATES = [
    change.__name__.strip("_")
    for change in (
        _first,
        _renamed,
        _added,
        _dropped_and_added_again,
        _widened,
        _nested,
        _written_by_spark,
    )
]


@pytest.mark.parametrize("state", STATES)
def test_spark_and_duckdb_read_the_same_values(history: History, state: str) -> None:
    seen = history.states[state]
    assert len(seen.spark) > 16
    assert seen.duckdb == seen.spark


@pytest.mark.parametrize("state", STATES)
def test_pyiceberg_reads_the_same_values(history: History, state: str) -> None:
    seen = history.states[state]
    assert [_emptied(row) for row in seen.pyiceberg] == [_emptied(row) for row in seen.spark]


def _emptied(row: Row, *names: str) -> Row:
    """PyIceberg 0.12 reads a NULL list or map of structs as an empty one."""
    return row | {name: row[name] or [] for name in names or ("ls", "ms")}


@pytest.mark.parametrize("state", STATES)
def test_former_states_stay_what_they_were(history: History, state: str) -> None:
    seen = history.states[state]
    assert history.trio.by_duckdb(at=seen.snapshot) == seen.duckdb


@pytest.mark.parametrize("state", STATES)
def test_the_same_rows_fulfil_a_condition_in_spark_and_duckdb(history: History, state: str) -> None:
    asked, spark, duckdb = history.conditions[state]
    assert len(asked) >= CONDITIONS
    differing = [
        (one.duckdb, by_spark, by_duckdb)
        for one, by_spark, by_duckdb in zip(asked, spark, duckdb, strict=True)
        if by_spark != by_duckdb
    ]
    assert differing == []
    assert sum(map(bool, spark)) > len(asked) // 3  # the conditions tell rows apart


def test_pyiceberg_agrees_but_for_what_it_does_not_know(history: History) -> None:
    """To it, NULL is not in any list and differs from what is compared where a file lacks the
    column; NaN is not ordered.
    """
    asked, spark, _ = history.conditions["written_by_spark"]
    few = set(predicates(NOW, SCALE))
    chosen = [
        (one, ids)
        for one, ids in zip(asked, spark, strict=True)
        if one in few and not _unknown_to_pyiceberg(one)
    ]
    found = history.trio.fulfilled_in_pyiceberg([one for one, _ in chosen])
    null = {one.column: set(ids) for one, ids in chosen if one.op == "is null"}
    at_the_end = history.states["written_by_spark"].spark
    nan = {
        column: {row["id"] for row in at_the_end if row[column] == "NaN"} for column in ("f", "d2")
    }
    for (one, ids), got in zip(chosen, found, strict=True):
        aside = nan.get(one.column, set()) if one.op in (">", ">=", "!=") else set()
        aside = aside | (null[one.column] if one.op in ("!=", "not in") else set())
        assert set(got or ()) - aside == set(ids) - aside, one


def _unknown_to_pyiceberg(one: Predicate) -> bool:
    """It compares no uuid and no NaN, and takes 0.0 and -0.0 for two values in a list."""
    return (
        one.column == "u"
        or any(value != value for value in one.values)
        or (one.op in ("in", "not in") and one.column in ("f", "d2"))
    )


@pytest.fixture(scope="module")
def odd(lake: Lake) -> History:
    """A table whose columns have names that writers store in other letters, at every depth."""
    from pyiceberg.types import IntegerType, LongType

    trio = Trio(lake, TableName("shop", "silver", "odd-names"))
    trio.make(schema(ODD))
    made = History(trio)
    made_rows = rows(ROUND, ODD)
    trio.append(made_rows[:9])
    trio.append(made_rows[9:])
    made.look("never_altered")
    made.ask("never_altered", ODD_NOW)
    listed = ", ".join(spark_identifier(name) for name in ODD)
    trio.lake.spark.sql(
        f"INSERT INTO {trio.table.spark} SELECT id + 100, {listed} FROM {trio.table.spark}"
    )
    made.look("written_by_spark")
    with trio.iceberg.update_schema() as update:
        update.add_column("new one", LongType())
        update.rename_column("€", "no more €").rename_column("b`t", "bt")
        update.delete_column("a/b")
    trio.append(
        [row | {"new one": row["id"], "no more €": 7, "id": row["id"] + 200} for row in made_rows]
    )
    made.look("altered")
    made.ask(
        "altered", {name: kind for name, kind in ODD_NOW.items() if name not in ("€", "a/b", "b`t")}
    )
    with trio.iceberg.update_schema() as update:
        update.add_column(("odd st", "la-ter"), IntegerType())
        update.rename_column(("ol", "1a"), "2a")
    made.look("altered_inside")
    return made


ODD_NOW = {name: kind for name, of in ODD.items() for kind in COMPARED if TYPES[kind] is of}


@pytest.mark.parametrize(
    "state", ["never_altered", "written_by_spark", "altered", "altered_inside"]
)
def test_columns_of_any_name_are_read_alike_by_all_three(odd: History, state: str) -> None:
    seen = odd.states[state]
    assert len(seen.spark) >= ROUND
    assert seen.duckdb == seen.spark
    assert [_emptied(row, "ol", "om") for row in seen.pyiceberg] == [
        _emptied(row, "ol", "om") for row in seen.spark
    ]
    if not state.startswith("altered"):
        assert odd.trio.by_duckdb(at=seen.snapshot) == seen.duckdb


@pytest.mark.parametrize("state", ["never_altered", "altered"])
def test_conditions_on_columns_of_any_name_find_the_same_rows(odd: History, state: str) -> None:
    asked, spark, duckdb = odd.conditions[state]
    assert [
        (one.duckdb, *found)
        for one, *found in zip(asked, spark, duckdb, strict=True)
        if found[0] != found[1]
    ] == []
    assert sum(map(bool, spark)) > len(asked) // 3


# Arithmetic is each engine's own. (Spark's expression, DuckDB's where it is spelled otherwise,
# Spark's answer, DuckDB's)
DIFFERENCES: list[tuple[str, str, Any, Any]] = [
    ("CAST(1 AS DECIMAL(10,2)) / CAST(3 AS DECIMAL(10,2))", "", Decimal("0.3333333333333"), 1 / 3),
    ("avg(CAST(1 AS DECIMAL(10,2)))", "", Decimal("1.000000"), 1.0),
    ("typeof(sum(CAST(1 AS BIGINT)))", "", "bigint", "HUGEINT"),
    ("typeof(sum(CAST(1 AS INT)))", "", "bigint", "HUGEINT"),
    ("CAST(CAST(3.5 AS DOUBLE) AS INT)", "", 3, 4),
    ("CAST(CAST(1e20 AS DOUBLE) AS STRING)", "", "1.0E20", "1e+20"),
    ("CAST(CAST('NaN' AS DOUBLE) AS STRING)", "", "NaN", "nan"),
    ("concat('a', NULL)", "", None, "a"),
    ("substring('abc', 0, 2)", "", "ab", "a"),
    ("array(1, 2)[0]", "[1, 2][0]", 1, None),
    ("dayofweek(DATE '2026-11-15')", "", 1, 0),
    ("log(CAST(10 AS DOUBLE))", "", 2.302585092994046, 1.0),
]
# What one might expect to differ, and does not.
ALIKE: list[tuple[str, str, Any]] = [
    ("CAST(7 AS INT) / CAST(2 AS INT)", "", 3.5),
    ("7 DIV 2", "7 // 2", 3),
    ("-7 % 3", "", -1),
    ("round(CAST(2.5 AS DOUBLE))", "", 3.0),
    ("CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)", "", True),
    ("CAST('NaN' AS DOUBLE) > CAST('Infinity' AS DOUBLE)", "", True),
    ("CAST(0.0 AS DOUBLE) = CAST(-0.0 AS DOUBLE)", "", True),
    ("NULL = NULL", "", None),
    ("'a' < 'B'", "", False),
]
SUMS_BEYOND = (
    "SELECT sum(v) FROM (SELECT CAST(9223372036854775807 AS BIGINT) AS v UNION ALL SELECT CAST(1 AS"
    " BIGINT))"
)


def test_arithmetic_differs_where_the_docs_say_so_and_nowhere_else_that_was_looked_at(
    history: History,
) -> None:
    lake = history.trio.lake
    cases = [*DIFFERENCES, *((spark, duckdb, same, same) for spark, duckdb, same in ALIKE)]
    asked = ", ".join(f"{spark} AS c{number}" for number, (spark, _, _, _) in enumerate(cases))
    by_spark = lake.spark.sql(f"SELECT {asked}").collect()[0]
    for number, (spark, duckdb, from_spark, from_duckdb) in enumerate(cases):
        answer = next(iter(lake.query(f"SELECT {duckdb or spark}")))[0]
        assert (by_spark[f"c{number}"], answer) == (from_spark, from_duckdb), spark


def test_a_sum_beyond_bigint_is_an_error_in_spark_and_a_number_in_duckdb(history: History) -> None:
    from pyspark.errors import ArithmeticException

    with pytest.raises(ArithmeticException):
        history.trio.lake.spark.sql(SUMS_BEYOND).collect()
    assert next(iter(history.trio.lake.query(SUMS_BEYOND))) == (2**63,)


@pytest.mark.parametrize("line", [case[0] for case in DIFFERENCES])
def test_each_difference_stands_in_the_docs(line: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "reading.md").read_text()
    assert f"`{line}`" in text
