"""Batches are found by listing: compared with a dictionary of all paths."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.batches.finding import BatchSource, FoundBatch, distinct_values, found_batches
from lakebed.batches.keys import SHAPES, BatchKey
from lakebed.batches.pattern import parse_pattern
from lakebed.batches.refused_paths import is_own
from lakebed.batches.sorting import Entry, sorted_entries
from lakebed.engines.files import FolderFiles
from lakebed.errors import LinkRefused
from lakebed.ports import FileInfo
from lakebed.testing import MemoryFiles
from lakebed.types import parse_type

PATTERN = "in/{table}_{year}_{set}.json"
KEYS = (BatchKey("year", parse_type("int")), BatchKey("set"))
SOURCE = BatchSource(
    parse_pattern(PATTERN, values={"year": SHAPES["int"]}), KEYS, loose=parse_pattern(PATTERN)
)


class Listing(MemoryFiles):
    """A store that lists what it was given, in any order."""

    def __init__(self, infos: list[FileInfo]) -> None:
        super().__init__()
        self.infos = infos

    def walk(self, folder: str = ""):  # type: ignore[no-untyped-def]
        assert folder == "in"
        return iter(self.infos)


def info(path: str, size: int = 10, etag: str = "e") -> FileInfo:
    return FileInfo(path, size, etag, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=size))


def find(infos: list[FileInfo], source: BatchSource = SOURCE) -> list[FoundBatch]:
    with found_batches(Listing(infos), source) as found:
        return list(found.batches)


@given(st.lists(st.tuples(st.text(), st.integers())), st.integers(1, 7))
def test_any_number_of_records_is_sorted(entries: list[Entry], at_once: int) -> None:
    assert list(sorted_entries(entries, at_once=at_once)) == sorted(entries)


def test_more_parts_than_files_can_be_open_are_merged_in_steps() -> None:
    entries: list[Entry] = [(number * 7919 % 1000,) for number in range(1000)]
    assert list(sorted_entries(iter(entries), at_once=3)) == sorted(entries)


FOUND = st.lists(
    st.tuples(
        st.sampled_from(["A", "B_C", "D"]),
        st.integers(-3, 12).map(str) | st.sampled_from(["007", "+7"]),
        st.sampled_from(["STATE", "COUNTY", "x y"]),
        st.integers(0, 10**6),
        st.sampled_from(["e1", "e2"]),
    ),
    unique_by=lambda file: file[:3],
)


@given(FOUND, st.integers(1, 5), st.randoms())
def test_every_file_is_in_its_batch_and_in_no_other(
    files: list[tuple[str, str, str, int, str]], at_once: int, chance: random.Random
) -> None:
    infos = [info(f"in/{t}_{y}_{s}.json", size, etag) for t, y, s, size, etag in files]
    infos += [info("in/README.md"), info("in/_tmp_1_A.json"), info("in/sub/A_1_B.json")]
    chance.shuffle(infos)
    expected: dict[tuple[int, str], list[FileInfo]] = defaultdict(list)
    for (_, year, kind, *_), one in zip(
        files,
        [info(f"in/{t}_{y}_{s}.json", size, etag) for t, y, s, size, etag in files],
        strict=True,
    ):
        expected[int(year), kind].append(one)
    with found_batches(Listing(infos), SOURCE, at_once=at_once) as found:
        assert [batch.values for batch in found.batches] == sorted(expected)
        for batch in found.batches:
            own = sorted(expected[batch.values], key=lambda one: one.path)  # type: ignore[index]
            assert list(found.files_of(batch)) == own
            assert (batch.files, batch.bytes) == (len(own), sum(one.size for one in own))
            assert batch.newest == max(one.modified for one in own)
            assert distinct_values(found, batch, SOURCE) == {
                "table": len({one.path.rsplit("_", 2)[0] for one in own})
            }


@given(st.integers(0, 4), st.sampled_from(["size", "etag", "path", "remove", "add"]))
def test_whatever_happens_to_a_file_changes_the_digest_of_its_batch_only(
    at: int, what: str
) -> None:
    infos = [info(f"in/T{number}_2020_A.json") for number in range(5)]
    other = [info("in/T_2021_A.json")]
    changed = list(infos)
    if what == "remove":
        del changed[at]
    elif what == "add":
        changed.append(info(f"in/U{at}_2020_A.json"))
    else:
        path = f"in/V{at}_2020_A.json" if what == "path" else infos[at].path
        changed[at] = info(path, 11 if what == "size" else 10, "new" if what == "etag" else "e")
    before, after = find(infos + other), find(other + changed[::-1])
    assert before[0].digest != after[0].digest
    assert before[1].digest == after[1].digest
    assert find(infos + other)[0].digest == before[0].digest


def test_a_value_of_the_wrong_type_is_told_and_other_batches_are_found() -> None:
    names = ("T_2020_COUNTY", "T_NaN_COUNTY", "U_NaN_COUNTY", "T_9999999999_A", "T__A")
    with found_batches(Listing([info(f"in/{name}.json") for name in names]), SOURCE) as found:
        assert [batch.label for batch in found.batches] == ["year=2020/set=COUNTY"]
        assert [(bad.label, bad.files, bad.bytes) for bad in found.bad] == [
            ("year=NaN/set=COUNTY", 2, 20),
            ("year=9999999999/set=A", 1, 10),
        ]
        assert found.bad[0].why == "in/T_NaN_COUNTY.json: 'NaN' is not a value of type int"


def test_so_many_wrong_values_are_told_as_people_read() -> None:
    names = (f"T_x{number}_A" for number in range(300))
    with found_batches(Listing([info(f"in/{name}.json") for name in names]), SOURCE) as found:
        assert len(found.bad) == 101
        assert sum(bad.files for bad in found.bad) == 300


@pytest.mark.parametrize(
    ("path", "lake", "own"),
    [
        ("in/warehouse/a.json", "", True),
        ("in/landing/orders/a.json", "", True),
        (".data/a.json", "", True),
        ("in/raw/warehouse/a.json", "", False),
        ("srv/lake/in/warehouse/a.json", "srv/lake", True),
        ("srv/lake2/warehouse/a.json", "srv/lake", False),
        ("srv/warehouse/a.json", "srv/lake", False),
    ],
)
def test_files_that_lakebed_may_remove_are_never_a_source(path: str, lake: str, own: bool) -> None:
    assert is_own(path, lake=lake) == own


def test_what_lakebed_keeps_below_the_folder_of_a_source_is_passed_over() -> None:
    paths = ("in/warehouse/bronze/t/data/a.json", "in/raw/a.json")
    source = BatchSource(parse_pattern("in/**/{name}.json"), ())
    (batch,) = find([info(path) for path in paths], source)
    assert batch.files == 1


def test_a_listing_of_many_paths_is_never_in_memory() -> None:
    import tracemalloc

    class Many(Listing):
        def walk(self, folder: str = ""):  # type: ignore[no-untyped-def]
            return (info(f"in/T{n}_{2000 + n % 20}_A.json") for n in range(30_000))

    tracemalloc.start()
    try:
        with found_batches(Many([]), SOURCE, at_once=1_000) as found:
            assert (len(found.batches), found.files) == (20, 30_000)
            _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 30,000 paths alone would be 10 MB as objects; names of one batch are counted up to a limit
    assert peak < 6_000_000


def test_files_of_a_batch_can_be_read_again_and_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are in memory a few at a time only."""
    monkeypatch.setattr("lakebed.batches.finding._AT_ONCE", 2)
    infos = [info(f"in/T{n}_{year}_S.json") for n in range(5) for year in (2019, 2020)]
    with found_batches(Listing(infos), SOURCE) as found:
        one, other = (found.files_of(batch) for batch in found.batches)
        pairs = list(zip(one, other, strict=True))
        assert [file.path for file, _ in pairs] == [f"in/T{n}_2019_S.json" for n in range(5)]
        assert [file for _, file in pairs] == list(other)
        assert (len(one), pairs[4][0] in one, pairs[0][1] in one) == (5, True, False)


def listed(root: Path, pattern: str) -> dict[str, list[str]]:
    """The paths of each batch of a source by year."""
    source = BatchSource(parse_pattern(pattern), (BatchKey("year", parse_type("int")),))
    with found_batches(FolderFiles(root), source) as found:
        return {
            batch.label: [file.path for file in found.files_of(batch)] for batch in found.batches
        }


def test_a_batch_whose_folder_was_moved_behind_a_link_is_not_taken_for_gone(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    for year in (2015, 2016):
        files.write(f"raw/year={year}/a.json", b"{}")
    pattern = "raw/year={year}/*.json"
    moved = tmp_path / "raw" / "year=2016"
    for place in ("raw/attic", "attic"):
        moved.rename(tmp_path / place)
        moved.symlink_to(tmp_path / place)
        if place == "raw/attic":
            both = {"year=2015": ["raw/year=2015/a.json"], "year=2016": ["raw/year=2016/a.json"]}
            assert listed(tmp_path, pattern) == both
            moved.unlink()
            (tmp_path / place).rename(moved)
    with pytest.raises(LinkRefused, match=f"leads out of raw: to {tmp_path}/attic") as refused:
        listed(tmp_path, pattern)
    assert refused.value.where == "raw/year=2016"
    (tmp_path / "attic" / "a.json").unlink()
    (tmp_path / "attic").rmdir()
    with pytest.raises(LinkRefused, match="leads to nothing"):
        listed(tmp_path, pattern)


def test_a_file_is_read_once_in_a_batch_however_many_links_lead_to_it(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    files.write("raw/year=2016/a.json", b"{}")
    files.write("raw/store/b.json", b"{}")
    batch = tmp_path / "raw" / "year=2016"
    (batch / "a2.json").symlink_to("a.json")
    (batch / "b.json").symlink_to("../store/b.json")
    (batch / "b2.json").symlink_to("../store/b.json")
    expected = ["raw/year=2016/a.json", "raw/year=2016/b.json"]
    assert listed(tmp_path, "raw/year={year}/*.json") == {"year=2016": expected}


def test_links_that_a_source_does_not_read_are_passed_over(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    files.write("raw/year=2016/a.json", b"{}")
    for name in ("docs", "year=2016/README", "year=2016/_notes.json", ".year"):
        (tmp_path / "raw" / name).symlink_to("/nowhere")
    found = {"year=2016": ["raw/year=2016/a.json"]}
    assert listed(tmp_path, "raw/year={year}/*.json") == found
    (tmp_path / "raw" / "year=2016" / "README").unlink()
    with pytest.raises(LinkRefused, match="raw/docs"):
        listed(tmp_path, "raw/**/year={year}/*.json")
