"""A writer that dies before any of its calls to the store: the old state or the new one remains."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from lakebed.kartothek import (
    DatasetOptions,
    build_indices,
    collect_garbage,
    copy,
    datasets,
    delete,
    load_state,
    read_table,
    store,
    update,
)
from lakebed.kartothek.exchange.exporting import export_table
from lakebed.kartothek.exchange.layout import ExportOptions
from lakebed.kartothek.exchange.table_rows import table_writer
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import paths

WRITES = {"write", "create", "replace", "delete", "clear", "move"}


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


class MortalFiles:
    """Files of a process that dies before its nth change to the store, and does no more."""

    def __init__(self, files: MemoryFiles, *, lives: int) -> None:
        self._files, self._lives = files, lives

    def __getattr__(self, name: str) -> Any:
        if name in WRITES:
            if self._lives <= 0:
                raise Killed
            self._lives -= 1
        return getattr(self._files, name)


def rows(*values: int) -> Any:
    return pa.table({"k": [value % 2 for value in values], "x": list(values)})


def fresh() -> MemoryFiles:
    files = MemoryFiles()
    store(files, "d", rows(1, 2, 3, 5), options=DatasetOptions(("k",), ("x",)))
    return files


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "append": lambda files: update(files, "d", rows(7, 8)),
    "scope": lambda files: update(files, "d", rows(7), delete_scope=[{"x": 1}, {"k": 0}]),
    "index": lambda files: build_indices(files, "d", ["x"]),
    "overwrite": lambda files: store(files, "d", pa.table({"y": ["a"]}), overwrite=True),
}


def content(files: MemoryFiles) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_table(files, "d").to_pylist()
    for row in found:
        if "x" in row:
            assert row in read_table(files, "d", predicates=[[("x", "==", row["x"])]]).to_pylist()
    return sorted(found, key=str)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_dataset_is_in_its_old_or_its_new_state(name: str) -> None:
    before, done = content(fresh()), fresh()
    OPERATIONS[name](done)
    after = content(done)
    seen, lives, finished = [], 0, False
    while not finished:
        files = fresh()
        try:
            OPERATIONS[name](MortalFiles(files, lives=lives))
            finished = True
        except Killed:
            lives += 1
        seen.append(content(files))
        assert seen[-1] in (before, after)
        OPERATIONS[name](files)  # whoever comes next is not hindered
        collect_garbage(files, "d", older_than=timedelta(0))
        assert load_state(files, "d").files <= paths(files)
        content(files)
    assert seen[0] == before
    assert seen[-1] == after
    assert lives >= 2


def test_a_dataset_appears_whole_or_not_at_all() -> None:
    lives, finished = 0, False
    while not finished:
        files = MemoryFiles()
        try:
            store(MortalFiles(files, lives=lives), "d", rows(1, 2), options=DatasetOptions(("k",)))
            finished = True
        except Killed:
            lives += 1
            assert datasets(files) == ()
            store(files, "d", rows(1, 2), options=DatasetOptions(("k",)))
        assert read_table(files, "d").num_rows == 2


def test_a_copy_appears_whole_or_not_at_all() -> None:
    files, lives, finished = fresh(), 0, False
    while not finished:
        to = MemoryFiles()
        try:
            copy(files, "d", to=MortalFiles(to, lives=lives))
            finished = True
        except Killed:
            lives += 1
            assert datasets(to) == ()
            if paths(to):
                delete(to, "d")
            copy(files, "d", to=to)
        assert content(to) == content(files)


class Table:
    """A table of a lake, as an export sees it: the values of its files."""

    table, uuid, snapshot, converted = "lake.shop.silver.t", "one", None, dict[str, str]()

    def __init__(self, **files: tuple[int, ...]) -> None:
        self._files = files
        self.schema = pa.schema([("k", pa.int64()), ("x", pa.int64())])

    @property
    def opener(self) -> Callable[[], "Table"]:
        return lambda: self

    def files(self) -> dict[str, tuple[int, ...]]:
        return self._files

    def size(self, file: tuple[int, ...]) -> int:
        return len(file)

    def rows(self, file: tuple[int, ...]) -> Any:
        return rows(*file).to_reader()


def exported(files: Any, table: Table) -> None:
    options = ExportOptions(("k",), ("x",))
    executors: Any = None  # there are few rows
    export_table(files, "d", table, options, write=table_writer(lambda: files, executors))


def test_an_export_that_died_is_completed_by_the_next_one() -> None:
    first, second = Table(a=(1, 2), b=(3,)), Table(b=(3,), c=(4, 5))
    lives, finished = 0, False
    while not finished:
        files = MemoryFiles()
        exported(files, first)
        try:
            exported(MortalFiles(files, lives=lives), second)
            finished = True
        except Killed:
            lives += 1
        assert [row["x"] for row in content(files)] in ([2, 1, 3], [4, 3, 5])
        exported(files, second)
        collect_garbage(files, "d", older_than=timedelta(0))
        assert [row["x"] for row in content(files)] == [4, 3, 5]
        exported(files, second)
    assert lives >= 4


def test_a_deletion_can_be_repeated_from_wherever_it_ended() -> None:
    lives, finished = 0, False
    while not finished:
        files = fresh()
        try:
            delete(MortalFiles(files, lives=lives), "d")
            finished = True
        except Killed:
            lives += 1
            delete(files, "d")
        assert paths(files) == set()
