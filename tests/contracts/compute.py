"""The contract of `Compute` and its `LandingReader`: plain functions, so that any session in any
process can be asked.

Each is given an open session on an empty lake with the namespace `shop.silver`, and a folder that
it can read.
"""

from collections.abc import Callable
from pathlib import Path
from traceback import format_exception
from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import RowsChanged, RunFailed
from lakebed.ports import RUN_ID, Compute, Field, FileGroup, SeenRows, UnreadableFiles

NAMED = "SELECT * FROM VALUES (1L, 'a'), (2L, 'b') AS s(id, v)"
ID_V = (Field("id", "bigint"), Field("v", "string"))
CSV = {"header": "true", "mode": "PERMISSIVE"}


def rows(compute: Compute, query: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in compute.rows(query, limit=100)), key=repr)


def queries_give_frames_without_computing_them(compute: Compute, folder: Path) -> None:
    frame = compute.query(NAMED)
    assert compute.fields(frame) == ID_V
    assert rows(compute, frame) == rows(compute, NAMED) == [(1, "a"), (2, "b")]
    assert len(compute.rows(frame, limit=1)) == 1
    compute.create_view(frame, "named")
    assert rows(compute, "SELECT id FROM named") == [(1,), (2,)]
    assert rows(compute, compute.select(frame, ["id + 1 AS n"])) == [(2,), (3,)]
    with pytest.raises(RunFailed):
        compute.rows("SELECT nothing FROM named", limit=1)


def frames_are_given_columns_and_put_together_by_name(compute: Compute, folder: Path) -> None:
    frame = compute.query(NAMED)
    wanted = (Field("V", "string"), Field("id", "string"), Field("more", "date"))
    conformed = compute.conform(frame, wanted)
    assert compute.fields(conformed) == wanted
    assert rows(compute, conformed) == [("a", "1", None), ("b", "2", None)]
    both = compute.union(
        [compute.query("SELECT 'c' AS v, 3L AS id"), frame, compute.query("SELECT 4L AS id")]
    )
    assert set(rows(compute, both)) == {("c", 3), ("a", 1), ("b", 2), (None, 4)}


def rows_of_other_libraries_come_in_whole(compute: Compute, folder: Path) -> None:
    frame = compute.frame(
        pa.table({"n": [2**53 + 1, None], "empty": [None, None]}),
        known=lambda: [Field("empty", "date")],
    )
    assert compute.fields(frame) == (Field("n", "bigint"), Field("empty", "date"))
    assert set(rows(compute, frame)) == {(2**53 + 1, None), (None, None)}
    with pytest.raises(RunFailed):
        compute.frame(object())


def tables_are_made_and_written_in_one_commit_each_with_the_runs_id(
    compute: Compute, folder: Path
) -> None:
    table = "lake.shop.silver.orders"
    compute.create_table(compute.query(NAMED), table, location=None, properties={"purpose": "test"})
    compute.set_snapshot_property("lakebed.test", "seven")
    compute.append(compute.query("SELECT 'c' AS v, 3L AS id"), table)
    assert rows(compute, f"SELECT id, v FROM {table}") == [(1, "a"), (2, "b"), (3, "c")]
    compute.execute(f"ALTER TABLE {table} CREATE BRANCH run_1")
    compute.overwrite(compute.query(f"{NAMED} WHERE id < 0"), f"{table}.branch_run_1")
    assert rows(compute, f"SELECT id FROM {table} VERSION AS OF 'run_1'") == []
    assert len(rows(compute, f"SELECT id FROM {table}")) == 3
    stamped = (
        f"SELECT count(*), count(summary['lakebed.test']) FROM {table}.snapshots WHERE"
        f" summary['{RUN_ID}'] = 'run'"
    )
    assert rows(compute, stamped) == [(3, 2)], rows(
        compute, f"SELECT operation, summary FROM {table}.snapshots"
    )
    assert ("purpose", "test") in rows(compute, f"SHOW TBLPROPERTIES {table}")


def batches_are_replaced_by_whole_files_and_exactly(compute: Compute, folder: Path) -> None:
    """Also where an older file has rows of several batches, which Iceberg itself refuses."""
    table = "lake.shop.silver.years"
    made = "SELECT * FROM VALUES (1, 2019), (2, 2020), (3, NULL) AS s(id, year)"
    compute.create_table(compute.query(made), table, location=None, properties={})
    compute.execute(f"ALTER TABLE {table} ADD PARTITION FIELD year")
    arriving = compute.query("SELECT 7 AS id, 2020 AS year")
    for _ in range(2):  # the file is divided first, and replaced as a whole then
        compute.replace_files(arriving, table, where="`year` = 2020")
        assert rows(compute, f"SELECT * FROM {table}") == [(1, 2019), (3, None), (7, 2020)]
    compute.replace_files(compute.query(f"{made} WHERE id < 0"), table, where="`year` IS NULL")
    assert rows(compute, f"SELECT * FROM {table}") == [(1, 2019), (7, 2020)]
    stamped = f"SELECT count(*) FROM {table}.snapshots WHERE summary['{RUN_ID}'] = 'run'"
    assert rows(compute, stamped) == [(4,)]


def batches_that_others_have_changed_are_not_replaced(compute: Compute, folder: Path) -> None:
    table = "lake.shop.silver.shared_years"
    marks = "'write.delete.mode' = 'merge-on-read', 'format-version' = '2'"
    compute.execute(
        f"CREATE TABLE {table} (id INT, year INT) USING iceberg PARTITIONED BY (year) TBLPROPERTIES"
        f" ({marks})"
    )
    compute.execute(f"INSERT INTO {table} VALUES (1, 2019), (2, 2020), (3, 2020), (4, 2021)")
    arriving = compute.query("SELECT 7 AS id, 2020 AS year")
    for others in (
        f"INSERT INTO {table} VALUES (5, 2020)",
        f"DELETE FROM {table} WHERE id = 2",  # rows of a file are marked
        f"DELETE FROM {table} WHERE year = 2020",  # whole files
        f"CALL lake.system.rollback_to_snapshot('{table}', {_first(compute, table)})",
    ):
        since = _head(compute, table)
        compute.execute(others)
        then = rows(compute, f"SELECT * FROM {table}")
        with pytest.raises(RowsChanged, match="2020"):
            compute.replace_files(arriving, table, where="year = 2020", since=since)
        assert rows(compute, f"SELECT * FROM {table}") == then
    since = _head(compute, table)
    compute.execute(f"INSERT INTO {table} VALUES (6, 2019), (8, 2019)")  # another batch
    compute.replace_files(arriving, table, where="year = 2020", since=since)
    others_left = [(1, 2019), (4, 2021), (6, 2019), (8, 2019)]
    assert rows(compute, f"SELECT * FROM {table}") == sorted([*others_left, (7, 2020)])
    with pytest.raises(RunFailed, match="not all"):
        compute.replace_files(arriving, table, where="id = 6", since=_head(compute, table))
    nothing = compute.query("SELECT 7 AS id, 2020 AS year WHERE 1 = 0")
    compute.replace_files(nothing, table, where="year = 2020", since=_head(compute, table))
    assert rows(compute, f"SELECT * FROM {table}") == others_left


def _head(compute: Compute, table: str) -> int:
    refs = compute.rows(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'", limit=1)
    return int(refs[0]["snapshot_id"])


def _first(compute: Compute, table: str) -> int:
    sql = f"SELECT snapshot_id FROM {table}.snapshots WHERE parent_id IS NULL"
    return int(compute.rows(sql, limit=1)[0]["snapshot_id"])


def rows_that_match_a_condition_are_replaced_in_one_commit(compute: Compute, folder: Path) -> None:
    table, branch = "lake.shop.silver.parts", "lake.shop.silver.parts.branch_run_1"
    made = "SELECT * FROM VALUES (1L, 'a'), (2L, 'b'), (3L, NULL) AS s(id, `odd v`)"
    compute.create_table(compute.query(made), table, location=None, properties={})
    compute.execute(f"ALTER TABLE {table} CREATE BRANCH run_1")
    arriving = compute.query("SELECT 'A' AS `odd v`, 7L AS id UNION ALL SELECT NULL, 8L")
    compute.overwrite(arriving, branch, where="`odd v` <> 'b' -- or NULL")
    assert rows(compute, f"SELECT * FROM {branch}") == [(2, "b"), (3, None), (7, "A"), (8, None)]
    compute.overwrite(compute.query(f"{made} WHERE id < 0"), branch, where="id IN (2, 7)")
    assert rows(compute, f"SELECT * FROM {branch}") == [(3, None), (8, None)]
    compute.overwrite(compute.query("SELECT 9L AS id"), branch, where="id = 8")
    assert rows(compute, f"SELECT * FROM {branch}") == [(3, None), (9, None)]
    assert rows(compute, f"SELECT * FROM {table}") == rows(compute, made)
    stamped = f"SELECT count(*) FROM {table}.snapshots WHERE summary['{RUN_ID}'] = 'run'"
    assert rows(compute, stamped) == [(4,)]
    with pytest.raises(RunFailed):
        compute.overwrite(arriving, branch, where="nothing = 1")


def a_frame_is_computed_once_into_files(compute: Compute, folder: Path) -> None:
    paths = compute.materialize(compute.query(NAMED))
    group = FileGroup("parquet", paths, {}, ID_V)
    assert rows(compute, compute.landing.read([group], ID_V)) == [(1, "a"), (2, "b")]
    found = compute.arrow(compute.query(NAMED)).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [(1, "a"), (2, "b")]


def landing_files_are_inferred_checked_and_read(compute: Compute, folder: Path) -> None:
    (folder / "a.csv").write_text("id,v\n1,a\n2,b\n")
    (folder / "b.csv").write_text("id,v\n3,c\nbroken,d\n")
    good = FileGroup("csv", (f"file://{folder}/a.csv",), CSV, ID_V)
    bad = FileGroup("csv", (f"file://{folder}/b.csv",), CSV, ID_V)
    inferred = compute.landing.infer(
        FileGroup("csv", good.paths, CSV, (Field("id", "string"), Field("v", "string")))
    )
    assert inferred == (Field("id", "int"), Field("v", "string"))
    checked = compute.landing.check([good, bad])
    assert not isinstance(checked, UnreadableFiles)
    assert [
        (found.path[-5:], found.rows, found.corrupt)
        for found in sorted(checked, key=lambda found: found.path)
    ] == [
        ("a.csv", 2, 0),
        ("b.csv", 2, 1),
    ]
    ((path, record),) = compute.landing.corrupt_records([good, bad]).items()
    assert (path[-5:], "broken" in record) == ("b.csv", True)
    assert compute.landing.two_spellings([good], "id") is None
    (folder / "respelt.csv").write_text("id,v\n1,a\n01,b\n")
    respelt = FileGroup("csv", (f"file://{folder}/respelt.csv",), CSV, ID_V)
    assert compute.landing.two_spellings([good, respelt], "id") == ("01", "1")
    wanted = (*ID_V, Field("more", "int"))
    assert rows(compute, compute.landing.read([good], wanted)) == [(1, "a", None), (2, "b", None)]
    with pytest.raises(RunFailed):
        compute.rows(compute.landing.read([bad], ID_V), limit=10)
    empty = compute.landing.read((), wanted)
    assert (compute.fields(empty), rows(compute, empty)) == (wanted, [])


def landing_rows_are_checked_by_the_job_that_reads_them_or_not_at_all(
    compute: Compute, folder: Path
) -> None:
    (folder / "c.csv").write_text("id,v\n1,a\n2,\n3,\ufffd\n")
    (folder / "d.csv").write_text("id,at\n4,2024-01-01\n")
    groups = [
        FileGroup("csv", (f"file://{folder}/c.csv",), CSV, ID_V),
        FileGroup("csv", (f"file://{folder}/d.csv",), CSV, (ID_V[0], Field("at", "timestamp"))),
    ]
    if not compute.landing.observes:
        return
    observed = compute.landing.read_observed(groups, ID_V)
    table = "lake.shop.silver.observed"
    compute.create_view(observed.frame, "observed")
    some = compute.query("SELECT id FROM observed WHERE id > 3")
    compute.create_table(some, table, location=None, properties={})
    assert rows(compute, f"SELECT * FROM {table}") == [(4,)]
    assert observed.seen() == (SeenRows(3, 1, (3, 2)), SeenRows(1, 0, (1, 1)))
    (folder / "e.json").write_text('{"id":5,"v":"x"}\n{"v":"y"}\n')
    (folder / "f.json").write_text('{"id":6,"v":1.50}\n{"id":7,"w":1}\n\n{"id":8}\n')
    told = [FileGroup("json", (f"file://{folder}/{one}.json",), {}, ID_V) for one in "ef"]
    observed = compute.landing.read_observed(told, ID_V, path_column="path")
    compute.append(compute.conform(observed.frame, [ID_V[0]]), table)
    assert observed.seen() == (SeenRows(2, 0, (1, 2)), SeenRows(4, 3, (3, 1)))
    named = sorted(row[-1].rpartition("/")[2] for row in rows(compute, observed.frame))
    assert named == [
        *["e.json"] * 2,
        *["f.json"] * 4,
    ]
    unread = compute.landing.read_observed(groups, ID_V)
    compute.create_view(unread.frame, "unread")
    compute.append(compute.query("SELECT id FROM unread WHERE 1 = 0"), table)
    assert unread.seen() is None


def unreadable_landing_files_are_reported_not_raised(compute: Compute, folder: Path) -> None:
    (folder / "torn.parquet").write_bytes(b"PAR1 and nothing else")
    torn = FileGroup("parquet", (f"file://{folder}/torn.parquet",), {}, ID_V)
    found = compute.landing.check([torn])
    assert isinstance(found, UnreadableFiles)
    assert found.path is None or found.path.endswith("torn.parquet")


CONTRACT: tuple[Callable[[Compute, Path], None], ...] = (
    queries_give_frames_without_computing_them,
    frames_are_given_columns_and_put_together_by_name,
    rows_of_other_libraries_come_in_whole,
    tables_are_made_and_written_in_one_commit_each_with_the_runs_id,
    rows_that_match_a_condition_are_replaced_in_one_commit,
    batches_are_replaced_by_whole_files_and_exactly,
    batches_that_others_have_changed_are_not_replaced,
    a_frame_is_computed_once_into_files,
    landing_files_are_inferred_checked_and_read,
    landing_rows_are_checked_by_the_job_that_reads_them_or_not_at_all,
    unreadable_landing_files_are_reported_not_raised,
)


def broken_promises(compute: Compute, folder: Path) -> dict[str, str]:
    """What the session does not keep, by the promise's name, with the reason."""
    compute.execute("CREATE NAMESPACE IF NOT EXISTS lake.shop")
    compute.execute("CREATE NAMESPACE IF NOT EXISTS lake.shop.silver")
    broken = {}
    for promise in CONTRACT:
        try:
            promise(compute, folder)
        except (Exception, pytest.fail.Exception) as error:  # the others are asked all the same
            broken[promise.__name__] = "".join(format_exception(error))
    return broken
