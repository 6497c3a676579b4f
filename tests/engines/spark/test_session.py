"""Sessions of one process, which share one JVM."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakebed.engines.spark import close_session, needed_jars, open_session, watch
from lakebed.errors import UsageError
from lakebed.settings import PostgresCatalog, Root, Settings, SparkSettings
from tests.support.lakes.spark_lakes import (
    ENVIRONMENT,
    TABLE,
    jvm_of,
    listens_on,
    make_table,
    new_lake,
    run_once,
)
from tests.support.spark_sessions import OpenSpark

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_home")]


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return new_lake(tmp_path / "lake")


def test_a_lake_is_opened_merged_into_and_published(open_spark: OpenSpark, root: Root) -> None:
    session = open_spark(Settings(), root)
    make_table(session)
    assert run_once(session) == [1, 2, 3]
    assert session.table("shop.silver.orders").count() == 3  # `lake` is the default catalog
    assert Path(root.folder, ".data", "lake.db").is_file()


def test_two_lakes_are_open_at_once_and_do_not_see_each_other(tmp_path: Path) -> None:
    roots = [new_lake(tmp_path / name) for name in ("one", "two")]
    one, two = (
        open_session(Settings(), root, environment=ENVIRONMENT, logs=root.folder) for root in roots
    )
    make_table(one)
    run_once(one)
    make_table(two)
    assert (one.table(TABLE).count(), two.table(TABLE).count()) == (3, 0)
    close_session(one)
    assert two.table(TABLE).count() == 0
    close_session(two)


def test_two_sessions_of_one_lake_have_settings_of_their_own(
    open_spark: OpenSpark, root: Root
) -> None:
    one, two = open_spark(Settings(), root), open_spark(Settings(), root)
    make_table(one)
    one.conf.set("spark.sql.iceberg.snapshot-property.lakebed.run-id", "r1")
    one.sql(f"INSERT INTO {TABLE} VALUES (1, 'a')")
    two.sql(f"INSERT INTO {TABLE} VALUES (2, 'b')")
    stamps = two.sql(
        f"SELECT summary['lakebed.run-id'] AS run FROM {TABLE}.snapshots ORDER BY committed_at"
    ).collect()
    assert [row.run for row in stamps] == ["r1", None]


def test_a_lake_is_told_its_own_settings(open_spark: OpenSpark, root: Root) -> None:
    spark = SparkSettings(conf={"spark.sql.shuffle.partitions": "3"})
    session = open_spark(Settings(timezone="America/New_York", spark=spark), root)
    assert session.conf.get("spark.sql.shuffle.partitions") == "3"
    assert (
        session.sql("SELECT CAST(TIMESTAMP '2026-07-01 00:00:00 UTC' AS STRING)").collect()[0][0]
        == "2026-06-30 20:00:00"
    )


def test_new_tables_are_format_two_and_retry_their_commits(
    open_spark: OpenSpark, root: Root
) -> None:
    session = open_spark(Settings(), root)
    make_table(session)
    properties = {
        row.key: row.value for row in session.sql(f"SHOW TBLPROPERTIES {TABLE}").collect()
    }
    assert properties["format-version"] == "2"
    assert properties["commit.retry.max-wait-ms"] == "2000"


def test_python_functions_run_in_this_python(open_spark: OpenSpark, root: Root) -> None:
    from pyspark.sql.functions import udf

    executable = udf(lambda _: sys.executable, "string")
    assert (
        open_spark(Settings(), root).range(1).select(executable("id")).collect()[0][0]
        == sys.executable
    )


def test_nobody_elsewhere_can_reach_a_local_spark(open_spark: OpenSpark, root: Root) -> None:
    open_spark(Settings(), root)
    assert [listens_on(jvm) for jvm in jvm_of(os.getpid())] == [{"127.0.0.1"}]


def test_a_lake_that_needs_other_jars_is_refused_while_another_is_open(root: Root) -> None:
    settings = Settings(catalog=PostgresCatalog(kind="postgres", url="postgresql://db/lake"))
    jars = [root.folder / jar.file for jar in needed_jars(settings, root)]
    for jar in jars:
        jar.touch()
    settings = settings.model_copy(update={"spark": SparkSettings(jars=tuple(map(str, jars)))})
    with pytest.raises(UsageError, match=r"without .*postgresql"):
        open_session(settings, root, environment=ENVIRONMENT, logs=root.folder)


def test_a_lake_on_another_master_is_refused_while_one_is_open(root: Root) -> None:
    with pytest.raises(UsageError, match=r"local\[1\]"):
        open_session(
            Settings(spark=SparkSettings(master="local[1]")),
            root,
            environment=ENVIRONMENT,
            logs=root.folder,
        )


def test_long_jobs_tell_how_far_they_are(open_spark: OpenSpark, root: Root) -> None:
    session = open_spark(Settings(), root)
    told: list[tuple[int, int]] = []
    with watch(session, lambda done, total: told.append((done, total))):
        session.range(0, 1000, numPartitions=7).selectExpr("id % 3 AS k").groupBy(
            "k"
        ).count().collect()
    assert told[-1][0] >= 7
    assert all(done <= total for done, total in told)
    before = len(told)
    session.range(5).collect()
    assert len(told) == before


def test_closing_what_is_not_ours_does_nothing(open_spark: OpenSpark, root: Root) -> None:
    stranger = open_spark(Settings(), root).newSession()
    close_session(stranger)
    assert stranger.range(1).count() == 1


PYICEBERG_APPENDS = """
import sys
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
catalog = SqlCatalog("lake", uri=f"sqlite:///{sys.argv[1]}/.data/lake.db?timeout=30", warehouse=f"file://{sys.argv[1]}")
table = catalog.load_table(("shop", "silver", "orders"))
for number in range(5):
    table.refresh()
    table.append(pa.table({"id": pa.array([100 + number], pa.int64()), "v": ["p"]}))
"""


def test_spark_and_another_process_append_to_one_sqlite_catalog(
    open_spark: OpenSpark, root: Root
) -> None:
    session = open_spark(Settings(), root)
    make_table(session)
    other = subprocess.Popen(
        [sys.executable, "-c", PYICEBERG_APPENDS, str(root.folder)], env=dict(os.environ)
    )
    for number in range(5):
        session.sql(f"INSERT INTO {TABLE} VALUES ({number}, 's')")
    assert other.wait(120) == 0
    assert session.table(TABLE).count() == 10
