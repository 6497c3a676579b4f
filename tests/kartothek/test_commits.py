"""Commits: none is lost, readers see whole states, failures leave nothing behind."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import DatasetChanged, FileReplaced, NameTaken, TornFile, UnknownName
from lakebed.kartothek import (
    DatasetOptions,
    DatasetState,
    MetadataFormat,
    build_indices,
    delete,
    load_state,
    read_table,
    store,
    update,
    verify,
)
from lakebed.kartothek.reading.states import find_schema
from lakebed.kartothek.writing import commit as committing
from lakebed.ports.files.files import FileInfo, Files
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import location, paths
from tests.support.scale import SCALE

WRITERS = 4
PROCESSES = 4 if SCALE > 1 else 2
COMMITS = 100 if SCALE > 1 else 5  # of each writer


def appended(files: Files, writer: int) -> None:
    for number in range(COMMITS):
        update(files, "d", pa.table({"x": [writer * 1000 + number]}))


def appended_in_folder(folder: str, writer: int) -> None:
    appended(FolderFiles(Path(folder)), writer)


def require_all(files: Files, *, writers: int = WRITERS) -> None:
    expected = sorted(w * 1000 + n for w in range(writers) for n in range(COMMITS))
    assert sorted(read_table(files, "d")["x"].to_pylist()) == [-1, *expected]
    for value in expected:
        assert read_table(files, "d", predicates=[[("x", "==", value)]]).num_rows == 1


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_no_commit_of_several_threads_is_lost(kind: str, tmp_path: Path) -> None:
    files = location(kind, tmp_path)
    store(files, "d", pa.table({"x": [-1]}), options=DatasetOptions(indexed=("x",)))
    with ThreadPoolExecutor(WRITERS + 1) as threads:
        writers = [threads.submit(appended, files, number) for number in range(WRITERS)]
        rows = 1
        while not all(writer.done() for writer in writers):
            found = read_table(files, "d").num_rows
            assert found >= rows
            rows = found
        for writer in writers:
            writer.result()
    require_all(files)


def test_no_commit_of_several_processes_is_lost(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    store(files, "d", pa.table({"x": [-1]}), options=DatasetOptions(indexed=("x",)))
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=appended_in_folder, args=(str(tmp_path), number))
        for number in range(PROCESSES)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * PROCESSES
    require_all(files, writers=PROCESSES)


class Racing:
    """Files in which another writer commits just before each of our first commits."""

    def __init__(self, files: Files, rival: Any, *, times: int) -> None:
        self._files, self._rival, self._times = files, rival, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        if self._times:
            self._times -= 1
            self._rival()
        return self._files.replace(path, data, etag=etag)


def test_a_scope_is_decided_again_on_the_state_that_others_committed() -> None:
    files = MemoryFiles()
    options = DatasetOptions(indexed=("x",))
    store(files, "d", pa.table({"x": [1, 2]}), options=options)
    racing: Any = Racing(files, lambda: update(files, "d", pa.table({"x": [1, 3]})), times=2)
    update(racing, "d", pa.table({"x": [4]}), delete_scope=[{"x": 1}])
    assert sorted(read_table(files, "d")["x"].to_pylist()) == [2, 3, 3, 4]
    assert read_table(files, "d", predicates=[[("x", "==", 1)]]).num_rows == 0
    state = load_state(files, "d")
    unused = {p for p in paths(files) if "/indices/" in p} - set(state.indices.values())
    assert len(unused) == 3  # of the states before, not of attempts that failed


def test_an_index_built_meanwhile_covers_what_others_added() -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}))
    racing: Any = Racing(files, lambda: update(files, "d", pa.table({"x": [7]})), times=1)
    build_indices(racing, "d", ["x"])
    assert read_table(files, "d", predicates=[[("x", "==", 7)]]).num_rows == 1


def test_a_writer_that_is_always_overtaken_says_so_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(committing, "_ATTEMPTS", 2)
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}), options=DatasetOptions(indexed=("x",)))
    numbers = iter(range(9))
    racing: Any = Racing(
        files, lambda: update(files, "d", metadata={"n": str(next(numbers))}), times=9
    )
    with pytest.raises(DatasetChanged, match="Nothing was committed"):
        build_indices(racing, "d", ["x"])
    assert len([path for path in paths(files) if "/indices/" in path]) == 1


class LostAnswer:
    """Files whose `replace` happens and is reported as overtaken, after another commit on top."""

    def __init__(self, files: Files) -> None:
        self._files, self._lost = files, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def replace(self, path: str, data: bytes, *, etag: str) -> FileInfo:
        done = self._files.replace(path, data, etag=etag)
        if not self._lost:
            self._lost = True
            update(self._files, "d", metadata={"on": "top"})
            raise FileReplaced(path)
        return done


def test_a_commit_whose_answer_was_lost_is_not_made_twice() -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}), options=DatasetOptions(indexed=("x",)))
    lossy: Any = LostAnswer(files)
    update(lossy, "d", pa.table({"x": [2]}))
    assert read_table(files, "d")["x"].to_pylist() == [1, 2]
    assert read_table(files, "d", predicates=[[("x", "==", 2)]]).num_rows == 1


def test_of_several_creators_one_succeeds(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)

    def made(number: int) -> bool:
        try:
            store(files, "d", pa.table({"x": [number]}))
        except NameTaken:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as threads:
        assert sum(threads.map(made, range(WRITERS))) == 1
    assert read_table(files, "d").num_rows == 1
    assert len([path for path in paths(files) if path.endswith(".parquet")]) == 1


class CreatedFirst:
    """Files in which another writer creates the dataset just before us."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def create(self, path: str, data: bytes) -> FileInfo:
        if path.endswith(".json"):
            store(self._files, "d", pa.table({"x": ["text"]}))
            self._files.write("d/table/_common_metadata", self._ours)
        return self._files.create(path, data)

    def write(self, path: str, data: bytes) -> FileInfo:
        self._ours = data
        return self._files.write(path, data)


def test_of_two_creators_the_schema_of_the_winner_stays_for_plateau() -> None:
    files = MemoryFiles()
    losing: Any = CreatedFirst(files)
    with pytest.raises(NameTaken):
        store(losing, "d", pa.table({"x": [1]}))
    assert verify(files, "d") == ()
    other = MemoryFiles()
    store(other, "d", pa.table({"x": ["text"]}))
    path = "d/table/_common_metadata"
    assert files.read(path) == other.read(path)


def test_an_update_of_a_dataset_that_was_deleted_meanwhile_says_so() -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}))
    racing: Any = Racing(files, lambda: delete(files, "d"), times=1)
    with pytest.raises(UnknownName):
        update(racing, "d", pa.table({"x": [2]}))


def test_indices_of_the_same_moment_get_different_names() -> None:
    made, moment = committing.UncommittedFiles(MemoryFiles()), datetime(2026, 11, 16, tzinfo=UTC)
    names = [made.create_index("d", "x", data, at=moment) for data in (b"1", b"2", b"3")]
    assert len(set(names)) == 3


class WrittenInPlace:
    """Files of which a reader first finds the beginning, as beside plateau in a folder."""

    def __init__(self, files: Files, *, times: int) -> None:
        self._files, self._times = files, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def read(self, path: str, *, start: int = 0, length: int | None = None) -> bytes:
        data = self._files.read(path, start=start, length=length)
        if path.endswith((".json", ".zstd", "_common_metadata")) and self._times:
            self._times -= 1
            return data[: len(data) // 2 * (self._times % 2)]
        return data


@pytest.mark.parametrize("format", MetadataFormat)
def test_a_reader_beside_a_writer_in_place_reads_again(format: MetadataFormat) -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}), options=DatasetOptions(format=format))
    beside: Any = WrittenInPlace(files, times=2)
    assert load_state(beside, "d").schemas
    schema: Any = WrittenInPlace(files, times=2)
    found = find_schema(schema, DatasetState("d"), "table")
    assert found is not None
    assert found.names == ["x"]
    update(cast("Files", WrittenInPlace(files, times=2)), "d", pa.table({"x": [2]}))
    assert read_table(files, "d").num_rows == 2


def test_metadata_that_stays_cut_off_is_not_to_be_written_over() -> None:
    files = MemoryFiles()
    store(files, "d", pa.table({"x": [1]}))
    files.write("d.by-dataset-metadata.json", files.read("d.by-dataset-metadata.json")[:-1])
    with pytest.raises(TornFile) as torn:
        read_table(files, "d")
    assert torn.value.retryable
    assert "read again" in torn.value.next
    assert "write the dataset" not in torn.value.next
