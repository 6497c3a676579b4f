"""What does not fit into memory is written aside: no DuckDB ever reads what another one wrote, and
nothing is left behind.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakebed.app import Lake
from lakebed.engines.duckdb import DuckWorkbench, spill
from tests.support import spilling
from tests.support.lakes.query_lakes import make_lake
from tests.support.scale import SCALE

RIGHT = {"rows": spilling.ROWS, "total": spilling.ROWS * (spilling.ROWS - 1) // 2, "wrong": 0}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder for this test alone, in this process and in those that it starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("LAKEBED_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def lake(tmp_path: Path, temporary: Path) -> Iterator[Lake]:
    with make_lake(tmp_path / "lake", query={"memory": spilling.MEMORY}) as lake:
        yield lake


def started(lake: Lake, rounds: int) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.support.spilling",
        str(lake.root.folder),
        str(rounds),
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, cwd=Path(__file__).parents[3]
    )


def is_right(found: dict[str, Any]) -> bool:
    """Equal to the answer of a DuckDB that is alone, and it did spill."""
    return found.pop("files") > 0 and found == RIGHT


def test_two_processes_that_spill_at_the_same_time_answer_right_and_leave_nothing(
    lake: Lake, temporary: Path
) -> None:
    rounds = 5 * SCALE
    both = [started(lake, rounds) for _ in range(2)]
    told = [process.communicate(timeout=120 * SCALE) for process in both]
    assert [process.returncode for process in both] == [0, 0], [said[-2000:] for _, said in told]
    answers = [json.loads(line) for out, _ in told for line in out.splitlines()]
    assert len(answers) == 2 * rounds
    assert [found for found in answers if not is_right(dict(found))] == []
    assert list(temporary.iterdir()) == []


def test_a_query_beside_one_with_an_inner_limit_answers_right(lake: Lake) -> None:
    found: list[dict[str, Any]] = []

    def keep_asking(sql: str) -> None:
        for _ in range(3 * SCALE):
            found.append(spilling.ask(lake, sql))

    threads = [
        threading.Thread(target=keep_asking, args=(sql,))
        for sql in (spilling.SORTED, spilling.SORTED_PART)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 * SCALE
    assert [one for one in found if not is_right(dict(one))] == []
    lake.close()
    assert spilling.temporary_files() == []


def test_what_a_killed_process_left_is_swept_and_what_others_use_is_not(
    lake: Lake, temporary: Path
) -> None:
    with lake.query(spilling.SORTED) as result:
        batches = result.to_arrow_batches(rows=1_000)
        next(batches)
        (own,) = temporary.iterdir()
        killed = started(lake, 1_000)
        assert killed.stdout
        killed.stdout.readline()  # in the midst of its second query
        (left,) = set(temporary.iterdir()) - {own}
        killed.kill()
        killed.communicate()
        assert left.is_dir()
        (temporary / f"{spill.PREFIX}link").symlink_to(own)
        after = started(lake, 1)
        after.communicate(timeout=60)
        assert after.returncode == 0
        assert set(temporary.iterdir()) == {own, temporary / f"{spill.PREFIX}link"}
        assert 1_000 + sum(batch.num_rows for batch in batches) == spilling.ROWS


def test_nobody_else_can_read_what_is_spilled(lake: Lake, temporary: Path) -> None:
    with lake.query(spilling.SORTED) as result:
        batches = result.to_arrow_batches(rows=1_000)
        next(batches)
        assert spilling.temporary_files()
        assert [oct(path.stat().st_mode & 0o777) for path in temporary.iterdir()] == ["0o700"]


def test_a_pipeline_in_duckdb_spills_where_no_other_does(
    lake: Lake, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(temporary.parent)
    before = set(temporary.parent.iterdir())
    benches = [DuckWorkbench(lake.stores.catalog, timezone="UTC", properties={}) for _ in range(2)]
    for bench in benches:
        bench.connection.execute(f"SET memory_limit = '{spilling.MEMORY}'")
        bench.connection.execute(spilling.SORTED)
    assert len({path.parent for path in spilling.temporary_files()}) == 2
    assert set(temporary.parent.iterdir()) == before  # the working directory
    for bench in benches:
        bench.close()
    assert spilling.temporary_files() == []


def test_the_folder_is_a_setting_and_one_that_cannot_be_is_named(
    tmp_path: Path, temporary: Path
) -> None:
    from lakebed.errors import UsageError

    values = {"memory": spilling.MEMORY}
    with make_lake(
        tmp_path / "a", query=values, places={"spill": str(tmp_path / "elsewhere")}
    ) as lake:
        with lake.query(spilling.SORTED) as result:
            batches = result.to_arrow_batches(rows=1_000)
            next(batches)
            assert [
                path for path in (tmp_path / "elsewhere").rglob("duckdb_temp*") if path.is_file()
            ]
        assert list(temporary.iterdir()) == []
    (tmp_path / "file").touch()
    with (
        make_lake(tmp_path / "b", places={"spill": str(tmp_path / "file")}) as lake,
        pytest.raises(UsageError) as refused,
    ):
        lake.query("SELECT 1")
    assert "places.spill" in refused.value.next


def test_where_there_is_no_temporary_folder_what_fits_is_answered(
    lake: Lake, temporary: Path
) -> None:
    os.rmdir(temporary)
    temporary.touch()
    assert lake.query("SELECT 1").fetchall() == [(1,)]
