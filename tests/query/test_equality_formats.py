"""The matrix over tables whose deleted rows are only marked, and over format version 3: three
readers see the same.

Position delete files first, then deletion vectors beside them, and columns whose default stands for
rows from before them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.io import load_file_io
from pyiceberg.types import LongType

from lakebed.engines.iceberg.catalog.jdbc_rows import Swap
from lakebed.engines.iceberg.metadata.documents import read_document, write_document
from tests.query.matrix import COMPARED, TYPES, Predicate, predicates, rows
from tests.query.test_deletes import MERGE_ON_READ
from tests.support.lakes.pipeline_lake import TestLake
from tests.support.lakes.three_readers import TABLE, Row, Trio, read

pytestmark = [pytest.mark.spark]

ROUND = 17  # rows until each value of each type was there, and NULL
ENDLESS = {"f": 1.5, "d": 1.5, "tz": "1970-01-01T00:00:00+00:00"}
DEFAULTS = {f"def_{kind}": ENDLESS.get(kind, TYPES[kind][1][1]) for kind in COMPARED}


@dataclass
class Looks:
    """What was read after each change, by each reader."""

    trio: Trio
    states: dict[str, dict[str, list[Row]]] = field(default_factory=dict)
    snapshots: dict[str, int] = field(default_factory=dict)
    conditions: dict[str, tuple[list[Predicate], list[list[int]], list[list[int]]]] = field(
        default_factory=dict
    )

    def look(self, name: str, at: int | None = None) -> None:
        trio = self.trio
        self.snapshots[name] = trio.iceberg.current_snapshot().snapshot_id
        self.states[name] = {
            "spark": trio.by_spark(at), "duckdb": trio.by_duckdb(at), "pyiceberg": trio.by_pyiceberg(at),
        }  # fmt: skip

    def ask(self, name: str, columns: dict[str, str]) -> None:
        asked = list(predicates(columns, 1))
        self.conditions[name] = (
            asked,
            self.trio.fulfilled_in_spark(asked),
            self.trio.fulfilled_in_duckdb(asked),
        )


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[Looks]:
    """One table: marked, altered and marked again, upgraded, given columns with defaults."""
    lake = TestLake(tmp_path_factory.mktemp("formats") / "lake").lake
    trio = Trio(lake)
    made, spark = Looks(trio), lake.spark.sql
    trio.make()
    for start in (0, 6, 12):
        trio.append(rows(ROUND)[start : min(start + 6, ROUND)])
    spark(f"ALTER TABLE {TABLE.spark} SET TBLPROPERTIES ({_listed(MERGE_ON_READ)})")
    spark(f"DELETE FROM {TABLE.spark} WHERE id IN (2, 7, 8)")
    made.look("marked")
    spark(f"ALTER TABLE {TABLE.spark} CREATE BRANCH side")
    with trio.iceberg.update_schema() as update:
        update.rename_column("i", "i2")
        update.add_column("new_l", LongType())
    spark(f"UPDATE {TABLE.spark} SET new_l = id WHERE id IN (3, 13)")
    made.look("altered")
    made.ask("altered", {"i2": "i", "s": "s", "f": "f", "new_l": "l", "u": "u"})
    spark(f"ALTER TABLE {TABLE.spark} SET TBLPROPERTIES ('format-version' = '3')")
    spark(f"DELETE FROM {TABLE.spark} WHERE id IN (1, 9, 14)")
    made.look("upgraded")
    _add_defaults(trio)
    made.look("defaulted")
    made.look("by its snapshot", at=made.snapshots["upgraded"])
    made.ask(
        "defaulted", {f"def_{kind}": kind for kind in ("i", "d", "dec9", "tz", "s", "u", "bin")}
    )
    _by_other_ways(made)
    spark(f"INSERT INTO {TABLE.spark} (id, def_i, def_s) VALUES (100, 9, NULL)")
    spark(f"DELETE FROM {TABLE.spark} WHERE id = 15")
    made.look("written after")
    yield made
    lake.close()


def _listed(properties: dict[str, str]) -> str:
    return ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())


def _add_defaults(trio: Trio) -> None:
    """As no engine here can: by another metadata file."""
    pointer = trio.lake.stores.catalog.pointers([TABLE])[TABLE]
    io = load_file_io({}, pointer.location)
    document, _ = read_document(io, pointer.location)
    schema = next(
        one for one in document["schemas"] if one["schema-id"] == document["current-schema-id"]
    )
    last = document["last-column-id"]
    fields = [
        {"id": last + number, "name": name, "type": TYPES[name.removeprefix("def_")][0], "required": False,
         "initial-default": _as_json(value), "write-default": _as_json(value)}
        for number, (name, value) in enumerate(DEFAULTS.items(), 1)
    ]  # fmt: skip
    fresh = max(one["schema-id"] for one in document["schemas"]) + 1
    schemas = [
        *document["schemas"],
        {**schema, "schema-id": fresh, "fields": [*schema["fields"], *fields]},
    ]
    changed = {
        **document,
        "schemas": schemas,
        "current-schema-id": fresh,
        "last-column-id": last + len(fields),
    }
    place = write_document(io, changed, number=99)
    with trio.lake.stores.database.writing() as connection:
        Swap(TABLE, pointer.location, place).within(connection)


def _as_json(value: Any) -> Any:
    match value:
        case bool() | int() | float() | str():
            return value
        case bytes():
            return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _by_other_ways(looks: Looks) -> None:
    """The table as it is, by Spark at the pinned snapshot, which was written with other columns."""
    lake = looks.trio.lake
    looks.states["by other ways"] = {
        "engine": read(
            lake.query(f"SELECT * FROM {TABLE.spark} ORDER BY id", engine="spark").to_arrow()
        ),
        "frame": read(lake.table(TABLE).to_spark().orderBy("id").toArrow()),
        "duckdb": looks.states["defaulted"]["duckdb"],
    }
    branch = lake.spark.sql(
        f"SELECT * FROM {TABLE.spark} VERSION AS OF 'side' ORDER BY id"
    ).toArrow()
    looks.states["branch"] = {"spark": read(branch), "duckdb": _of_branch(looks, "side")}


def _of_branch(looks: Looks, at: str) -> list[Row]:
    """What DuckDB reads of a branch."""
    return read(
        looks.trio.lake.query(f"SELECT * FROM {TABLE.duckdb} ORDER BY id", at=at).to_arrow()
    )


LEFT = {
    "marked": [id_ for id_ in range(ROUND) if id_ not in {2, 7, 8}],
    "altered": [id_ for id_ in range(ROUND) if id_ not in {2, 7, 8}],
    "upgraded": [id_ for id_ in range(ROUND) if id_ not in {1, 2, 7, 8, 9, 14}],
    "written after": [*(id_ for id_ in range(ROUND) if id_ not in {1, 2, 7, 8, 9, 14, 15}), 100],
}
LEFT |= dict.fromkeys(("defaulted", "by its snapshot"), LEFT["upgraded"])
STATES = ["marked", "altered", "upgraded", "defaulted", "by its snapshot", "written after"]


@pytest.mark.parametrize("state", STATES)
def test_three_readers_see_the_same_rows_and_values(looks: Looks, state: str) -> None:
    seen = looks.states[state]
    assert [row["id"] for row in seen["spark"]] == LEFT[state]
    assert seen["duckdb"] == seen["spark"]
    assert [_emptied(row) for row in seen["pyiceberg"]] == [_emptied(row) for row in seen["spark"]]


def _emptied(row: Row) -> Row:
    """PyIceberg 0.12 reads a NULL list or map of structs as an empty one."""
    return row | {name: row[name] or [] for name in ("ls", "ms")}


def test_deleted_rows_are_marked_in_every_state(looks: Looks) -> None:
    snapshots = looks.trio.lake.tables.describe(TABLE).snapshots
    marks = {state: snapshots[id_].summary for state, id_ in looks.snapshots.items()}
    assert int(marks["altered"]["total-position-deletes"]) > 3
    assert int(marks["upgraded"]["added-dvs"]) > 0


def test_a_column_holds_its_default_in_rows_that_were_written_before_it_came(looks: Looks) -> None:
    first = looks.states["defaulted"]["duckdb"][0]
    assert {name for name in DEFAULTS if first[name] is None} == set()
    assert (first["def_i"], first["def_s"], first["def_dec9"]) == (1, "a", "0.01")
    last = looks.states["written after"]["duckdb"][-1]
    assert (last["id"], last["def_i"], last["def_s"]) == (100, 9, None)


def test_a_snapshots_id_means_its_own_columns_and_the_table_the_present_ones(looks: Looks) -> None:
    assert not set(DEFAULTS) & set(looks.states["by its snapshot"]["duckdb"][0])
    assert looks.states["by its snapshot"]["duckdb"] == looks.states["upgraded"]["duckdb"]
    ways = looks.states["by other ways"]
    assert ways["engine"] == ways["duckdb"]
    assert ways["frame"] == ways["duckdb"]


def test_a_branch_has_the_present_columns_though_its_rows_were_written_and_marked_with_others(
    looks: Looks,
) -> None:
    branch = looks.states["branch"]
    assert [row["id"] for row in branch["spark"]] == LEFT["marked"]
    assert set(branch["duckdb"][0]) == set(looks.states["defaulted"]["duckdb"][0])
    assert branch["duckdb"] == branch["spark"]


@pytest.mark.parametrize("state", ["marked", "altered", "upgraded", "written after"])
def test_former_states_stay_what_they_were(looks: Looks, state: str) -> None:
    assert looks.trio.by_duckdb(at=looks.snapshots[state]) == looks.states[state]["duckdb"]


@pytest.mark.parametrize("state", ["altered", "defaulted"])
def test_the_same_rows_fulfil_a_condition(looks: Looks, state: str) -> None:
    asked, spark, duckdb = looks.conditions[state]
    differing = [
        (one.duckdb, a, b) for one, a, b in zip(asked, spark, duckdb, strict=True) if a != b
    ]
    assert differing == []
    assert sum(map(bool, spark)) > len(asked) // 4  # the conditions tell rows apart
