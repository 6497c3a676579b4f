"""Paths as digests: what a table reaches is never taken for unreached, and memory stays small."""

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.care.all_tables import Member, Stock
from lakebed.care.removal import digests
from lakebed.care.removal.digests import Paths, ReachedPaths
from lakebed.care.removal.orphans import Orphans, count_orphans, old_files
from lakebed.care.removal.reachable import Reachable
from lakebed.names import TableName
from lakebed.ports import FileInfo, Pointer, ReachableFile
from lakebed.testing import MemoryFiles
from tests.support.scale import SCALE

PARTS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)
TABLES = st.lists(st.lists(PARTS, max_size=8), max_size=5)


def above(path: str) -> set[str]:
    return {path[:end] for end, sign in enumerate(path) if sign == "/"}


@settings(max_examples=40 * SCALE)
@given(TABLES, st.data())
def test_tables_that_come_and_go_reach_what_a_plain_counter_says(
    tables: list[list[str]], data: st.DataObject
) -> None:
    known, oracle, reached = dict[int, list[str]](), Counter[str](), ReachedPaths()
    for number, paths in enumerate(tables):
        known[number] = paths
        oracle.update(set(paths))
        reached.add(Paths.of(paths))
        if data.draw(st.booleans()):
            gone = known.pop(data.draw(st.sampled_from(sorted(known))))
            oracle.subtract(set(gone))
            reached.remove(Paths.of(gone))
        everything = {path for paths in tables for path in paths} | {"d", "a/d"}
        assert {path for path in everything if path in reached} == {
            path for path in everything if oracle[path]
        }


@given(st.lists(PARTS, max_size=8), st.lists(PARTS, max_size=8), PARTS)
def test_what_two_tables_share_and_what_is_in_a_folder_is_found(
    one: list[str], other: list[str], folder: str
) -> None:
    assert Paths.of(one).shares(Paths.of(other)) == bool({*one} & {*other})
    assert Paths.of(one).below(folder) == any(folder in above(path) for path in one)


@settings(max_examples=40 * SCALE)
@given(TABLES)
def test_paths_with_the_same_digest_keep_files_and_never_remove_one(
    tables: list[list[str]],
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(digests, "digest_of", lambda path: (len(path) % 3) << 60)
        reached = ReachedPaths()
        for paths in tables:
            reached.add(Paths.of(paths))
        for number, paths in enumerate(tables):
            assert all(path in reached for later in tables[number:] for path in later)
            assert all(Paths.of(paths).shares(Paths.of([path])) for path in paths)
            assert all(Paths.of(paths).below(folder) for path in paths for folder in above(path))
            reached.remove(Paths.of(paths))


def test_a_name_that_is_not_utf_8_has_a_digest() -> None:
    assert Paths.of(["a/\udcff"]).shares(Paths.of(["a/\udcff"]))


def path_of(number: int) -> str:
    return f"shop/warehouse/silver/t/data/part={number % 7}/{number:08}-0123456789abcdef.parquet"


class ManyFiles:
    """A table that reaches all files but one in a hundred."""

    def __init__(self, count: int) -> None:
        self._count = count

    def files(self, pointer: Any, *, snapshots: Any = None) -> Iterator[ReachableFile]:
        for number in range(self._count):
            if number % 100:
                yield ReachableFile(f"memory/{path_of(number)}", "data", 10)


def test_looking_for_orphans_takes_a_few_bytes_a_file() -> None:
    """Paths, and what was listed of files, took several hundred."""
    most_memory(100)  # what is loaded once does not count
    assert (most_memory(10_000) - most_memory(2_000)) / 8_000 < 150


def most_memory(count: int) -> int:
    """Bytes that looking for the orphans of so many files took."""
    pointer = Pointer(TableName("shop", "silver", "t"), "memory/t.json")
    reachable = Reachable(MemoryFiles(), ManyFiles(count))
    then = datetime(2026, 1, 1, tzinfo=UTC)
    listed = (FileInfo(path_of(number), 10, "e", then) for number in range(count))
    tracemalloc.start()
    try:
        with old_files(listed, before=datetime(2026, 6, 1, tzinfo=UTC)) as old:
            look = reachable.look(Stock((Member(pointer, None),)))
            found = count_orphans(old, look)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = Orphans(files=count // 100, bytes=count // 10)
    assert found == {"shop/warehouse/silver/t": expected}
    return peak
