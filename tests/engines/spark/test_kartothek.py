"""Kartothek datasets written and read by Spark's executors."""

import os
import signal
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.engines.spark.kartothek import spark_frame, write_frame
from lakebed.errors import RunFailed
from lakebed.kartothek import (
    DatasetOptions,
    PartitionSpec,
    collect_garbage,
    commit_new,
    commit_rows,
    load_state,
    plan_read,
    read_table,
    store,
    write_rows,
)
from lakebed.kartothek.writing.transport import dump_rows, load_rows
from lakebed.settings import Settings
from lakebed.testing.files import MemoryFiles
from tests.kartothek.predicate_cases import COLUMNS
from tests.support.lakes.spark_lakes import new_lake
from tests.support.spark_sessions import OpenSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ROWS: dict[str, Any] = {
    name: (type_, (values * 3)[:3]) for name, (type_, values) in COLUMNS.items()
}


def test_what_an_executor_sends_is_what_the_driver_gets() -> None:
    rows = pa.table({name: pa.array(values, type_) for name, (type_, values) in ROWS.items()})
    spec = PartitionSpec("d", ("date",), tuple(name for name in ROWS if name != "date"))
    written = write_rows(MemoryFiles(), spec, rows)
    again = load_rows(dump_rows(written))
    assert again.partition_keys == written.partition_keys
    assert again.schemas == written.schemas
    assert [part.files for part in again.partitions] == [part.files for part in written.partitions]
    for mine, sent in zip(again.partitions, written.partitions, strict=True):
        assert {name: v.to_pylist() for name, v in mine.values.items() if name != "float"} == {
            name: v.to_pylist() for name, v in sent.values.items() if name != "float"
        }


def _dies_once(folder: str, mark: str) -> FolderFiles:
    """A location whose first opener is killed."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return FolderFiles(Path(folder))
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


@pytest.fixture
def session(open_spark: OpenSpark, tmp_path: Path) -> "SparkSession":
    return open_spark(Settings(), new_lake(tmp_path / "lake"))


@pytest.mark.spark
@pytest.mark.usefixtures("spark_home")
def test_executors_write_the_driver_commits_and_executors_read(
    session: "SparkSession", tmp_path: Path
) -> None:
    location = partial(FolderFiles, tmp_path / "location")
    files = location()
    spec = PartitionSpec("d", ("country",), ("id",))
    text = "SELECT id, IF(id % 2 = 0, 'DE', 'a/ü') country, DATE'2024-01-01' day FROM range(0, {}, 1, 4)"
    frame = session.sql(text.format(100))
    options = DatasetOptions(("country",), ("id",))
    commit_new(files, "d", write_frame(frame, location, spec), options=options)
    assert sorted(read_table(files, "d")["id"].to_pylist()) == list(range(100))
    empty = write_frame(session.sql(text.format(0)), location, spec)
    assert (empty.partitions, list(empty.schemas["table"].names)) == ((), ["country", "day", "id"])

    more = write_frame(
        session.sql(text.format(10)).selectExpr("id + 100 id", "country", "day"), location, spec
    )
    assert read_table(files, "d").num_rows == 100
    commit_rows(files, "d", more)
    assert (
        collect_garbage(files, "d", older_than=timedelta(0), dry_run=True)[0].count("indices") == 1
    )
    predicates = [[("country", "==", "a/ü"), ("id", ">", 95)]]
    plan = plan_read(files, "d", columns=["id", "country"], predicates=predicates)
    found = spark_frame(session, location, plan)
    assert found.dtypes == [("id", "bigint"), ("country", "string")]
    assert sorted(row.id for row in found.collect()) == [97, 99, 101, 103, 105, 107, 109]

    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    times = session.sql("SELECT TIMESTAMP'2024-01-01 01:00:00 UTC' at")
    zoned = write_frame(times, location, PartitionSpec("zoned"))
    commit_new(files, "zoned", zoned)
    rows = read_table(files, "zoned")
    assert rows.schema.field("at").type == pa.timestamp("us", tz="UTC")
    assert rows["at"].to_pylist() == [datetime(2024, 1, 1, 1, tzinfo=UTC)]

    state = load_state(files, "d")
    dying = partial(_dies_once, str(tmp_path / "location"), str(tmp_path / "died"))
    with pytest.raises(RunFailed, match=r"could not write the data files: .*worker"):
        write_frame(session.sql(text.format(50)), dying, spec)
    assert load_state(files, "d") == state  # what the others wrote is garbage, and seen by nobody
    assert len(write_frame(session.sql(text.format(50)), dying, spec).partitions) > 0

    rows = pa.table({name: pa.array(values, type_) for name, (type_, values) in ROWS.items()})
    store(files, "types", rows, options=DatasetOptions(("date",)))
    all_types = spark_frame(session, location, plan_read(files, "types"))
    assert dict(all_types.dtypes) == {
        "date": "date",
        "bool": "boolean",
        "bytes": "binary",
        "float": "double",
        "int": "bigint",
        "text": "string",
        "time": "timestamp_ntz",
        "uint": "decimal(20,0)",
        "zoned": "timestamp",
    }
    assert all_types.count() == 3
