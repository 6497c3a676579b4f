"""Runs of sources: the table has the rows of the files, batch by batch, whatever happens."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lakebed.app import open_lake
from lakebed.batches.state import sidecar_paths
from lakebed.cli.main import app
from lakebed.cli.output.run_text import batch_lines
from lakebed.errors import CatalogUnreachable, LinkRefused, UnknownName, UsageError
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import RunStep
from lakebed.ports import Files, RunRecord
from lakebed.presentation.run import run_label
from tests.pipelines.test_sources import SEED
from tests.support.kills import killed
from tests.support.lakes.source_lake import CONFIG, NAME, SourceLake
from tests.support.scale import in_turn, rotated
from tests.support.tables import snapshots_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:Parquet writer option"),  # PyIceberg has not all of them
]


@pytest.fixture
def income(tmp_path: Path, spark_home: Path) -> Iterator[SourceLake]:
    made = SourceLake(tmp_path / "lake")
    for year in (2019, 2020):
        for table in ("CA 1%", "CA+2"):
            made.put_values(f"{table}_{year}_COUNTY", 1, 2, 3)
    yield made
    made.lake.close()


def test_exactly_the_right_batches_run_whatever_happens_to_a_file(income: SourceLake) -> None:
    assert income.ran() == {"year=2019": "new", "year=2020": "new"}
    income.check()
    assert income.ran() == {}

    income.put_values("CA+2_2020_COUNTY", 1, 2, 3, 4)  # changed
    assert income.ran() == {"year=2020": "changed"}
    income.put_values("X_2019_STATE", 7)  # added
    assert income.ran() == {"year=2019": "changed"}
    (income.source / "X_2019_STATE.json").write_text("")  # truncated
    assert income.ran() == {"year=2019": "changed"}
    income.check()
    (income.source / "X_2019_STATE.json").unlink()  # removed
    assert income.ran() == {"year=2019": "changed"}
    file = income.source / "CA+2_2020_COUNTY.json"
    same = file.read_bytes()
    file.unlink()
    file.write_bytes(same)  # replaced by an equal one: in a folder, its time tells
    assert income.ran() == {"year=2020": "changed"}
    for gone in income.source.glob("*_2019_*"):  # a whole batch
        gone.unlink()
    assert income.ran() == {"year=2019": "gone"}
    income.check()
    assert income.ran() == {}

    assert income.ran(batches=["year=2020"], force=True) == {"year=2020": "forced"}
    with pytest.raises(UnknownName, match="year=1999"):
        income.lake.plan(NAME, batches=["year=1999"])
    income.configure(CONFIG.replace("max_retries: 0", "max_retries: 0\ndescription: other"))
    assert income.ran() == {}
    income.configure(CONFIG.replace("VARCHAR}}", "VARCHAR}, value: BIGINT}"))
    assert income.ran() == {"year=2020": "settings"}
    income.check()
    income.configure(CONFIG.replace("[year]", "[year, set]"))  # rows could not be told apart
    with pytest.raises(UsageError, match="made in batches of year, not of year, set"):
        income.lake.plan(NAME)


def test_a_batch_behind_symbolic_links_keeps_its_rows_and_links_out_of_the_source_are_refused(
    income: SourceLake, tmp_path: Path
) -> None:
    income.ran()
    attic = tmp_path / "attic"
    for place in (income.source / "attic", attic):
        place.mkdir()
        for file in income.source.glob("*_2019_*"):
            moved = file.resolve().rename(place / file.name)
            file.unlink(missing_ok=True)
            file.symlink_to(moved)
        if place != attic:
            assert income.ran() == {}  # the same files under the same paths
            assert income.ran(batches=["year=2019"], force=True) == {"year=2019": "forced"}
            income.check()
    refused = income.run_source()
    assert (refused.state, refused.error["kind"]) == ("failed", "LinkRefused")
    with pytest.raises(LinkRefused, match=rf"_2019_COUNTY.json.*leads out.*{attic}"):
        income.lake.plan(NAME)
    assert {row["year"] for row in income.rows(NAME)} == {2019, 2020}


def test_columns_are_united_by_name_and_follow_the_files(income: SourceLake) -> None:
    income.ran()
    income.put("CA+2_2020_COUNTY", {"GeoFips": "01", "value": 2**40, "unit": "USD"})  # new, wider
    income.put("X_2021_STATE", {"GeoFips": "01"})  # removed
    assert income.ran() == {"year=2020": "changed", "year=2021": "new"}
    income.check()
    types = {c.name: c.type for c in income.lake.tables.describe(income.table(NAME)).columns}
    assert types == {
        "geo": "string", "value": "long", "table": "string", "year": "int", "set": "string",
        "unit": "string",
    }  # fmt: skip


def test_files_that_are_not_what_their_first_lines_show_are_checked_first_and_written_once(
    income: SourceLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("propose.SMALL", 0), ("sample._HEAD", 64)):
        monkeypatch.setattr(f"lakebed.landing.checking.{name}", size)
    assert income.ran() == {"year=2019": "new", "year=2020": "new"}
    assert income.checked_first() == 0  # by the job that wrote them
    income.check()
    income.put_values("CA+2_2020_COUNTY", *range(20), 1.5)  # a sample shows whole numbers
    income.put_values("X_2021_A", *range(20), 2**40)
    last = income.put("Y_2021_A", *[{"GeoFips": "0", "value": 1}] * 20)
    last.write_text(last.read_text() + '\n{"GeoFips": "1", "value": 2, "late": true}')
    record = income.run_source()
    assert [(b.label, b.reason, b.state) for b in record.batches] == [
        ("year=2020", "changed", "failed"),  # the column cannot become a double
        ("year=2021", "new", "success"),
    ]
    assert "CA+2_2020_COUNTY.json" in record.error["what"]
    assert income.checked_first() == 2
    income.put_values("CA+2_2020_COUNTY", 1, 2, 3)
    assert income.ran() == {"year=2020": "changed"}
    income.check()
    assert income.snapshots(NAME) == 4
    assert income.hidden() == []


def test_a_batch_of_too_many_files_is_read_in_parts_and_written_in_one_commit(
    income: SourceLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.pipelines.planning.sources.look.files_at_once", lambda _: 2)
    for table in "CDE":  # parts: CA, CA+2; C, D; E
        income.put(f"{table}_2020_COUNTY", {"GeoFips": "7", "value": 4, "unit": table})
    assert income.ran() == {"year=2019": "new", "year=2020": "new"}
    income.check()
    assert income.snapshots(NAME) == 2
    income.put_values("D_2020_COUNTY", 2**40)  # replaced by parts, too
    assert income.ran() == {"year=2020": "changed"}
    income.check()
    assert income.snapshots(NAME) == 3
    income.put("E_2020_COUNTY", {"GeoFips": "7", "unit": 5, "price": None})
    income.put("D_2020_COUNTY", {"GeoFips": "7", "price": 1})
    income.put("C_2020_COUNTY", {"GeoFips": "7", "price": 1.5})
    income.put("B_2020_COUNTY", {"GeoFips": "7", "price": None})  # parts: B, C; CA…; D, E
    assert income.ran() == {"year=2020": "changed"}
    types = {c.name: c.type for c in income.lake.tables.describe(income.table(NAME)).columns}
    assert (types["price"], types["unit"], types["value"]) == ("double", "string", "long")
    told = sorted((row["table"], row["price"]) for row in income.rows(NAME) if row["price"])
    assert told == [("C", 1.5), ("D", 1.0)]
    (income.source / "E_2020_COUNTY.json").write_text('{"GeoFips": ')
    record = income.run_source()
    assert record.state == "failed"
    assert "downloads/E_2020_COUNTY.json" in record.error["what"]
    assert income.snapshots(NAME) == 4
    assert income.hidden() == []


def test_a_bad_file_fails_its_batch_is_named_and_others_go_on(income: SourceLake) -> None:
    income.ran()
    before = income.rows(NAME)
    (income.source / "CUT_2019_A.json").write_text('{"GeoFips": "01", "value": ')
    (income.source / "CUT_2018_A.json").write_text('{"GeoFips": "01", "value": ')  # alone
    income.put_values("CLASH_2020_A", "many")
    income.put_values("FINE_2021_A", 5)
    income.put_values("ODD_NaN_A", 5)
    record = income.run_source()
    assert record.state == "failed"
    told = {batch.label: (batch.state, batch.error) for batch in record.batches}
    assert told["year=2021"] == ("success", "")
    assert "downloads/ODD_NaN_A.json: 'NaN' is not a value of type int" in told["year=NaN"][1]
    for year in (2018, 2019):
        bad = f"downloads/CUT_{year}_A.json"
        assert f"{bad}: 1 of 1 rows does not fit" in told[f"year={year}"][1]
    assert "downloads/CLASH_2020_A.json" in told["year=2020"][1]
    assert "4 of 5 batches failed" in record.error["what"]
    assert all(name in record.error["what"] for name in ("CUT_2019_A", "CLASH_2020_A", "NaN"))
    rows = income.rows(NAME)
    assert [row for row in rows if row["year"] != 2021] == before
    assert income.refs(NAME) == {"main"}
    for bad in ("CUT_2018_A", "CUT_2019_A", "CLASH_2020_A", "ODD_NaN_A"):
        (income.source / f"{bad}.json").unlink()
    assert income.ran() == {}  # their files are again what the table was made from
    income.check()


@in_turn(0, of=2)
@pytest.mark.parametrize("retries", rotated([1, 2], 1))
def test_a_batch_is_tried_again_as_often_as_it_may_and_others_stand(
    retries: int, income: SourceLake
) -> None:
    income.configure(CONFIG.replace("max_retries: 0", f"max_retries: {retries}\nretry_delay_ms: 1"))
    failing = iter([True, True])

    def fail(_: str, step: RunStep, moment: str) -> None:
        if (step.kind, moment) == ("Write", "before") and next(failing, False):
            raise CatalogUnreachable("db", "gone")

    record = income.run_source(listener=RunListener(on_step=fail))
    told = [(line.label, line.state, line.attempts) for line in record.batches]
    state = "success" if retries == 2 else "failed"
    assert told == [("year=2019", state, retries + 1), ("year=2020", "success", 1)]
    assert record.state == state
    income.ran()
    income.check()
    check_lines(income)


@in_turn(1, of=2)
def test_a_file_that_changes_while_its_batch_is_read_fails_it_until_the_next_run(
    income: SourceLake,
) -> None:
    income.configure(CONFIG.replace("max_retries: 0", "max_retries: 3\nretry_delay_ms: 1"))

    def change(_: str, step: RunStep, moment: str) -> None:
        if (step.kind, moment) == ("Write", "after") and not income.lake.tables.list():
            income.put_values("CA+2_2019_COUNTY", 5)

    record = income.run_source(listener=RunListener(on_step=change))
    told = [(line.label, line.state, line.attempts) for line in record.batches]
    assert told == [("year=2019", "failed", 1), ("year=2020", "success", 1)]
    assert "CA+2_2019_COUNTY.json" in record.batches[0].error
    assert income.ran() == {"year=2019": "new"}
    income.check()


def test_columns_that_do_not_fit_the_table_are_told_with_a_file_and_what_helps(
    income: SourceLake,
) -> None:
    income.ran()
    income.put("F_2021_A", {"GeoFips": "1", "value": 1.5})
    income.put("G_2022_A", {"GeoFips": "1", "geo": "2", "value": 1})
    income.put("H_2023_A", {"GeoFips": "1", "value": 1, "unit": "USD"})
    (income.source / "I_2024_A.json").write_text("[]")
    income.configure(CONFIG + "on_schema_change: fail\n")
    record = income.run_source()
    told = {line.label: line.error for line in record.batches}
    assert "set columns: {value: double} in config.yaml" in told["year=2021"]
    assert "its files have a column 'geo', and 'GeoFips' becomes it" in told["year=2022"]
    assert "(new: unit string)" in told["year=2023"]
    assert told["year=2024"] == ""  # it has no row
    assert all(f"_{year}_A.json" in told[f"year={year}"] for year in (2021, 2022, 2023))
    (income.source / "I_2024_A.json").write_text("")  # this may be half a download
    assert "has any column: downloads/I_2024_A.json" in income.run_source().batches[-1].error
    assert income.counted(income.rows(NAME)) == (
        income.counted([row for row in income.expected() if row["year"] < 2021])
    )


def test_the_schema_of_the_seed_makes_its_table_batch_by_batch(
    tmp_path: Path, spark_home: Path
) -> None:
    (tmp_path / "econ.yaml").write_text(SEED)
    place = str(tmp_path / "lake")
    made = CliRunner().invoke(app, ["init", place, "--from-schema", str(tmp_path / "econ.yaml")])
    assert made.exit_code == 0, made.output
    rows = []
    for year, fips in ((2019, "01001"), (2020, "01001"), (2020, "01003")):
        folder = tmp_path / f"lake/type=regional_income/year={year}/geo_fips={fips}"
        folder.mkdir(parents=True)
        table = pa.table({"tablename": ["CAINC1", "CAINC1"], "line_code": [1, 2]})
        pq.write_table(table, folder / "data.parquet")
        rows += [{**row, "year": year, "geo_fips": fips} for row in table.to_pylist()]
    told = json.loads(CliRunner().invoke(app, ["--lake", place, "run", "--json"]).output)
    (run,) = told["runs"]
    assert [(line["label"], line["rows"]) for line in run["batches"]] == [
        ("year=2019", 2),
        ("year=2020", 4),
    ]
    with open_lake(place) as lake:
        name = "lake.bronze.regional_income"
        found = lake.iceberg.load_table(tuple(name.split("."))).scan().to_arrow().to_pylist()
        assert sorted(found, key=repr) == sorted(rows, key=repr)
        assert lake.tables.describe(name).partition_by == ("year", "geo_fips")
        (plan,) = lake.plan()
    assert plan.source is not None
    assert (plan.source.due, plan.source.unchanged) == ((), 2)
    assert ["by_fips" in note for note in plan.source.notes] == [True]


def test_a_key_that_no_file_has_is_named_with_a_file(income: SourceLake) -> None:
    income.configure(CONFIG.replace("name: geo,", "name: county,"))
    record = income.run_source()
    assert record.state == "failed"
    assert "'county'" in record.error["what"]
    assert "2019_COUNTY.json" in record.error["what"]


def test_a_source_that_matches_nothing_leaves_the_table_alone(income: SourceLake) -> None:
    income.ran()
    before = income.rows(NAME)
    for file in income.source.glob("*"):
        file.unlink()
    record = income.run_source()
    assert record.state == "failed"
    assert "no file matches the source" in record.error["what"]
    assert income.rows(NAME) == before


def test_a_gate_fails_one_batch_and_the_run_record_has_a_line_for_each(income: SourceLake) -> None:
    gates = income.folder / "shop/pipelines/bronze/income/tests/quality"
    gates.mkdir(parents=True)
    (gates / "positive.sql").write_text("SELECT * FROM {{ this }} WHERE value < 0")
    income.put_values("NEG_2019_A", -1)
    record = income.run_source()
    assert [(b.label, b.state, b.files, b.rows) for b in record.batches] == [
        ("year=2019", "failed", 3, None),
        ("year=2020", "success", 2, 6),
    ]
    stored = income.lake.stores.records.run(record.run_id)
    assert stored is not None
    assert stored.batches == record.batches
    assert set(stored.metrics) == {
        f"partition_alternate.{name}"
        for name in ("batch.duration_ms", "batch.files_processed", "batch.bytes_processed",
                     "total_duration_ms", "storage.amplification")
    }  # fmt: skip
    assert {row["year"] for row in income.rows(NAME)} == {2020}
    (verdict,) = [one for one in stored.verdicts if not one.passed]
    assert verdict.sample[0]["value"] == -1
    log = income.lake.runs.log(record.run_id)
    assert "metric partition_alternate.batch.files_processed = 2 (year=2020)" in log
    assert "metric partition_alternate.storage.amplification = " in log
    shown = "\n".join(batch_lines(stored))
    assert "batch year=2019 (new, 3 files): failed: " in shown
    assert "batch year=2020 (new, 2 files): 6 rows in " in shown


def test_care_forgets_no_batch_and_removes_no_list(income: SourceLake) -> None:
    """Compaction, expiry, a rollback and a check in between."""
    for value in (1, 2, 3):
        income.put_values("CA+2_2020_COUNTY", value)
        income.ran()
    before = query(income)
    later = datetime.now(UTC) + timedelta(days=60)
    income.lake.care(NAME, now=later)
    metadata = income.lake.tables.describe(income.table(NAME))
    assert len(metadata.snapshots) < 4
    there = {path for path in income.files() if "/metadata/batches/" in path}
    assert set(sidecar_paths(metadata)) == there
    assert query(income) == before
    assert income.ran() == {}
    assert [f for f in income.lake.fsck().findings if f.severity != "info"] == []
    income.check()


def test_a_batch_that_was_deleted_is_reported_and_only_written_again_if_asked_for(
    income: SourceLake,
) -> None:
    income.put_values("CA+2_2021_COUNTY", 4)
    income.ran()

    def states() -> dict[str, tuple[str, int]]:
        asked = 'SELECT batch, state, rows FROM shop.bronze."income$batches"'
        rows = income.lake.query(asked).fetchall()
        return {label: (state, count) for label, state, count in rows}

    written = {
        "year=2019": ("present", 6),
        "year=2020": ("present", 6),
        "year=2021": ("present", 1),
    }
    assert states() == written
    income.lake.execute(f"DELETE FROM shop.{NAME} WHERE year = 2019")
    (plan,) = income.lake.plan(NAME)
    assert plan.source is not None
    assert plan.source.due == ()
    assert not any("missing" in warning for warning in plan.source.warnings)
    assert any("year=2019 was deleted by the manual change" in note for note in plan.source.notes)
    assert income.run_source().warnings == ()
    lost = {"year=2019": ("deleted", 0), "year=2020": ("missing", 0), "year=2021": ("present", 1)}
    income.lake.iceberg.load_table(income.table(NAME).parts).delete("year == 2020")
    assert states() == lost
    for _ in ("with the snapshots that tell it", "without them"):
        (plan,) = income.lake.plan(NAME)
        assert plan.source is not None
        assert plan.source.reason == "all 3 batches are unchanged, 1 missing in the table"
        (warning,) = (one for one in plan.source.warnings if "missing" in one)
        assert "year=2020" in warning
        record = income.run_source()
        assert (record.batches, record.warnings) == ((), (warning,))
        assert run_label(record) == "WARN"
        assert states() == lost
        income.lake.care(NAME, now=datetime.now(UTC) + timedelta(days=60))
    assert income.snapshots(NAME) == 1
    (plan,) = income.lake.plan(NAME, repair_gaps=True)
    assert plan.source is not None
    assert [(line.batch, line.reason) for line in plan.source.due] == [("year=2020", "gap")]
    assert income.ran(repair_gaps=True) == {"year=2020": "gap"}
    assert states() == {**written, "year=2019": ("deleted", 0)}
    assert income.run_source(repair_gaps=True).warnings == ()
    assert income.ran(batches=["year=2019"], force=True) == {"year=2019": "forced"}
    assert states() == written
    income.check()


class Watching:
    """Files, and which paths were asked for."""

    def __init__(self, files: Files) -> None:
        self._files, self.asked = files, set[str]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._files, name)
        if not callable(found):
            return found

        def call(*given: Any, **options: Any) -> Any:
            self.asked |= {one for one in given if isinstance(one, str)}
            return found(*given, **options)

        return call


def test_care_that_is_due_runs_after_the_last_batch_and_never_looks_at_the_source(
    tmp_path: Path, spark_home: Path
) -> None:
    rules = {"compact_min_manifests": 2, "remove_orphans": True}
    income = SourceLake(tmp_path / "lake", settings={"care": rules})
    income.put_values("A_2019_X", 1)
    income.ran()
    orphan = income.folder / "shop/warehouse/bronze/income/data/orphan.parquet"
    orphan.write_bytes(b"x")
    for file in (orphan, *income.source.iterdir()):
        os.utime(file, (0, 0))
    income.put_values("A_2020_X", 2)
    assert income.ran().keys() == {"year=2019", "year=2020"}  # its file has another time
    assert {entry.action for entry in income.lake.care_history()} == {"rewrite_manifests"}
    assert orphan.exists()
    assert income.ran() == {}
    sidecars = {path for path in income.files() if "/metadata/batches/" in path}
    stores = income.lake.stores
    watched = Watching(stores.files)
    with income.over(replace(stores, files=watched)):
        income.lake.care(orphans=True, now=datetime.now(UTC) + timedelta(days=1))
        income.lake.fsck(repair=True)
    assert not orphan.exists()
    assert sidecars <= income.files()
    in_source = {path for path in watched.asked if path.split("/")[0] == income.source.name}
    of_a_namespace = {f"downloads/{name}" for name in ("warehouse", "landing", "pipelines")}
    assert in_source <= of_a_namespace
    income.check()
    income.lake.close()

    moved = income.folder.rename(tmp_path / "moved")
    with open_lake(moved) as lake:
        lake.relocate()
        assert lake.run(NAME).records[0].batches == ()
        assert [f for f in lake.fsck().findings if f.severity != "info"] == []
        assert sidecars == set(sidecar_paths(lake.tables.describe(income.table(NAME))))


def query(income: SourceLake) -> list[dict[str, object]]:
    told = income.lake.query(
        "SELECT batch, digest, schema_hash, files, rows FROM shop.bronze.'income$batches' ORDER BY batch".replace(
            "'", '"'
        )
    )
    return list(told.to_arrow().to_pylist())


def test_a_rollback_takes_the_batches_back_with_the_rows(income: SourceLake) -> None:
    income.ran()
    first = income.lake.tables.describe(income.table(NAME)).refs["main"].snapshot
    income.put_values("CA+2_2020_COUNTY", 9)
    income.ran()
    income.lake.tables.rollback(str(income.table(NAME)), to=str(first))
    assert income.ran() == {"year=2020": "changed"}
    income.check()


def test_a_batch_replaces_its_rows_also_in_files_of_another_partitioning(
    income: SourceLake,
) -> None:
    """Somebody has added rows of two batches in one file, under a spec without the batch key."""
    income.ran()
    spark, table = income.lake.spark, income.table(NAME).spark
    for field in ("year", "geo"):
        spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD {field}")
    spark.sql(f"INSERT INTO {table} SELECT * FROM {table}").collect()
    assert income.ran(force=True) == {"year=2019": "forced", "year=2020": "forced"}
    income.check()


def test_two_runs_at_once_write_every_batch_once(income: SourceLake) -> None:
    def run() -> str:
        with open_lake(income.folder) as lake:
            return lake.run(NAME, wait=60.0).records[0].state

    with ThreadPoolExecutor(2) as pool:
        states = [future.result() for future in [pool.submit(run), pool.submit(run)]]
    assert states == ["success", "success"]
    assert income.snapshots(NAME) == 2
    income.check()


@pytest.mark.parametrize("order", rotated([("pyiceberg", "spark"), ("spark", "pyiceberg")], 1))
def test_runs_of_different_batches_at_once_beside_foreign_writers_lose_no_row(
    order: tuple[str, str], income: SourceLake
) -> None:
    income.ran()
    for year in (2019, 2020):
        income.put_values(f"CA+2_{year}_COUNTY", 7, 8)
    foreign = {"geo": "99", "value": 1, "table": "theirs", "year": 2018, "set": "X"}

    def run(year: int, writer: str) -> RunRecord:
        writers = iter([writer])

        def interfere(_: str, step: RunStep, moment: str) -> None:
            if (step.kind, moment) == ("Write", "after") and (who := next(writers, "")):
                append_foreign(income, who, foreign)

        with open_lake(income.folder) as lake:
            listener = RunListener(on_step=interfere)
            return lake.run(NAME, batches=[f"year={year}"], wait=120.0, listener=listener).records[
                0
            ]

    with ThreadPoolExecutor(2) as pool:
        records = list(pool.map(run, (2019, 2020), order))
    assert [record.state for record in records] == ["success", "success"], records
    lines = [line for record in records for line in record.batches]
    assert [(line.label, line.attempts) for line in lines] == [("year=2019", 2), ("year=2020", 2)]
    theirs = [row for row in income.rows(NAME) if row["year"] == 2018]
    assert theirs == [foreign, foreign]
    assert income.counted([row for row in income.rows(NAME) if row["year"] != 2018]) == (
        income.counted(income.expected())
    )
    assert income.snapshots(NAME) == 6  # two at first, one of each run, two of others
    check_lines(income)


def append_foreign(income: SourceLake, writer: str, row: dict[str, Any]) -> None:
    """As programs do that know nothing of Lakebed."""
    if writer == "spark":
        values = ", ".join(f"{json.dumps(value)} AS `{name}`" for name, value in row.items())
        names = ", ".join(f"`{name}`" for name in row)
        insert = f"INSERT INTO {income.table(NAME).spark} ({names}) SELECT {values}"
        income.lake.spark.sql(insert).collect()
        return
    table = income.lake.iceberg.load_table(income.table(NAME).parts)
    table.append(pa.Table.from_pylist([row], schema=table.schema().as_arrow()))


def check_lines(income: SourceLake) -> None:
    """Each batch that was published is one line of one record, and one snapshot."""
    records = income.lake.stores.records.runs(table=income.table(NAME), limit=1000)
    told = [line.snapshot for one in records for line in one.batches if line.state == "success"]
    ours = [one.id for one in snapshots_of(income.lake, income.table(NAME)) if one.run_id]
    assert sorted(told, key=str) == sorted(ours, key=str)


STEPS = {
    True: ("ReadBatch", "CreateHidden", "Write", "Judge", "Publish"),
    False: ("ReadBatch", "PrepareSchema", "OpenBranch", "Write", "Judge", "Publish"),
}
BOUNDARIES = [
    (first, when, step)
    for first, steps in STEPS.items()
    for step in steps
    for when in ("before", "after")
]


@pytest.mark.parametrize(("first", "when", "step"), rotated(BOUNDARIES, 2))
def test_a_run_killed_at_any_step_of_a_batch_goes_on_where_it_was(
    first: bool, when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    """Of the first batch of a new table, too."""
    income = SourceLake(tmp_path / "lake", settings={"lease": {"limit_seconds": 1.0}})
    gates = income.folder / "shop/pipelines/bronze/income/tests/quality"
    gates.mkdir(parents=True)
    (gates / "some.sql").write_text("SELECT * FROM {{ this }} WHERE geo IS NULL")
    if not first:
        income.put_values("A_2019_X", 1, 2)
        income.ran()
    income.put("A_2019_X", {"GeoFips": "1", "value": 5, "note": "n"})
    income.put_values("A_2020_X", 3)
    killed(income.folder, when, step)
    published = (when, step) == ("after", "Publish")
    left = {} if published else {"year=2019": "new" if first else "changed"}
    assert income.ran() == left | {"year=2020": "new"}
    income.check()
    died = income.lake.stores.records.runs(table=income.table(NAME), state="failed", limit=1)[0]
    assert len(died.batches) == published
    check_lines(income)
    assert income.refs(NAME) == {"main"}
    assert income.hidden() == []
    income.lake.close()


AFTERWARDS = [(when, step) for step in ("BuildLayouts", "Care") for when in ("before", "after")]


@pytest.mark.parametrize(("when", "step"), rotated(AFTERWARDS, 1))
def test_a_run_killed_after_its_last_batch_has_published_all_and_the_next_does_what_is_left(
    when: str, step: str, tmp_path: Path, spark_home: Path
) -> None:
    settings = {"lease": {"limit_seconds": 1.0}}
    tidy = f"{CONFIG}layouts: [{{partition_by: set}}]\ncare: {{compact_min_files: 2}}\n"
    income = SourceLake(tmp_path / "lake", tidy, settings=settings)
    income.put_values("A_2019_X", 1)
    income.put_values("A_2020_X", 2)
    killed(income.folder, when, step)
    income.check()
    built = (when, step) != ("before", "BuildLayouts")
    (plan,) = income.lake.plan(NAME)
    assert [one.kind for one in plan.steps] == ([] if built else ["BuildLayouts"])
    assert income.ran() == {}
    assert income.lake.plan(NAME)[0].steps == ()
    (died,) = income.lake.stores.records.runs(table=income.table(NAME), state="failed")
    assert [line.label for line in died.batches] == ["year=2019", "year=2020"]
    check_lines(income)
    (checked,) = income.lake.layouts.verify(NAME)
    assert (checked.ok, len(checked.batches)) == (True, 2)
    assert income.refs(NAME) == {"main"}
    income.lake.close()


def test_files_outside_of_the_lake_are_read_where_they_are(
    tmp_path: Path, spark_home: Path
) -> None:
    income = SourceLake(tmp_path / "lake")
    raw = tmp_path / "raw+%41" / "year=2020"
    raw.mkdir(parents=True)
    (raw / "a b.json").write_text('{"GeoFips": "01", "value": 1}')
    income.configure(
        CONFIG.replace(
            "downloads/{table}_{year}_{set}.json", f"{tmp_path}/raw+%41/year=*/{{t}}.json"
        )
    )
    assert income.ran() == {"year=2020": "new"}
    assert income.rows(NAME) == [{"geo": "01", "value": 1, "year": 2020, "t": "a b"}]
    assert income.ran() == {}
    assert (raw / "a b.json").exists()
    income.lake.close()
