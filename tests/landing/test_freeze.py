"""Freezing a zone: one listing, and a second look at files that are very young."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from lakebed.errors import BadFiles
from lakebed.landing import FrozenFiles, ZoneSpec, freeze, require_unchanged
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo
from lakebed.testing import MemoryFiles

ZONE = ZoneName("shop", "orders")
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Clocked(MemoryFiles):
    """Files whose times a test decides; counts its listings."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[str, datetime] = {}
        self.listings = 0

    def land(self, name: str, data: bytes, *, age: float) -> None:
        self.write(f"{ZONE.folder}/{name}", data)
        self.written[f"{ZONE.folder}/{name}"] = NOW - timedelta(seconds=age)

    def list(self, folder: str = "") -> Iterator[FileInfo]:
        self.listings += 1
        for file in super().list(folder):
            yield FileInfo(file.path, file.size, file.etag, self.written.get(file.path, NOW))


def frozen(
    files: Clocked, *, meanwhile: Callable[[], None] = lambda: None, settle: float = 1.0
) -> tuple[FrozenFiles, list[float]]:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        meanwhile()

    return freeze(files, ZONE, ZoneSpec(settle_seconds=settle), now=lambda: NOW, sleep=sleep), slept


def names(files: tuple[FileInfo, ...]) -> list[str]:
    return [file.path.rpartition("/")[2] for file in files]


def test_settled_files_are_listed_once() -> None:
    files = Clocked()
    files.land("a.csv", b"x", age=60)
    found, slept = frozen(files)
    assert (names(found.files), found.waiting, files.listings, slept) == (["a.csv"], (), 1, [])


def test_a_young_file_is_watched_until_it_is_old_enough() -> None:
    files = Clocked()
    files.land("a.csv", b"x", age=0.25)
    found, slept = frozen(files)
    assert (names(found.files), found.waiting, slept) == (["a.csv"], (), [0.75])


def test_a_file_from_the_future_is_watched_no_longer_than_any_other() -> None:
    files = Clocked()
    files.land("a.csv", b"x", age=-3600)
    found, slept = frozen(files)
    assert (names(found.files), slept) == (["a.csv"], [1.0])


def test_a_file_that_changes_or_goes_meanwhile_waits_for_the_next_run() -> None:
    files = Clocked()
    for name in ("growing.csv", "going.csv", "still.csv"):
        files.land(name, b"x", age=0.1)

    def meanwhile() -> None:
        files.land("growing.csv", b"xx", age=0)
        files.delete(f"{ZONE.folder}/going.csv")
        files.land("later.csv", b"x", age=0)

    found, _ = frozen(files, meanwhile=meanwhile)
    assert names(found.files) == ["still.csv"]
    assert names(found.waiting) == ["going.csv", "growing.csv"]


def test_an_empty_file_waits_only_until_it_has_settled() -> None:
    files = Clocked()
    files.land("empty.csv", b"", age=3600)
    files.land("2026", b"", age=3600)  # how some programs mark a folder of a bucket
    found, slept = frozen(files)
    assert (names(found.files), found.waiting, slept) == (["empty.csv"], (), [])
    files.land("begun.csv", b"", age=0.1)
    found, _ = frozen(files, meanwhile=lambda: files.land("begun.csv", b"x", age=0))
    assert (names(found.files), names(found.waiting)) == (["empty.csv"], ["begun.csv"])


def test_files_that_the_table_has_are_neither_read_nor_watched() -> None:
    files = Clocked()
    files.land("a.csv", b"x", age=0.1)
    (file,) = files.list(ZONE.folder)
    row = ConsumedFile(
        TableName("shop", "bronze", "orders"), ZONE, file.path, file.etag, file.size, "r1"
    )
    spec = ZoneSpec()
    assert (
        freeze(
            files, ZONE, spec, consumed=[row], now=lambda: NOW, sleep=lambda _: pytest.fail("slept")
        ).files
        == ()
    )


@pytest.mark.parametrize("how", ["replaced", "gone"])
def test_a_file_that_changed_after_it_was_read_stops_the_publication(how: str) -> None:
    files = Clocked()
    files.land("a.csv", b"x", age=60)
    files.land("b.csv", b"x", age=60)
    found, _ = frozen(files)
    require_unchanged(files, found.files)
    if how == "replaced":
        files.land("b.csv", b"y", age=0)
    else:
        files.delete(f"{ZONE.folder}/b.csv")
    with pytest.raises(
        BadFiles, match=r"b\.csv changed or disappeared .* Nothing was published"
    ) as refused:
        require_unchanged(files, found.files)
    assert "a.csv" not in str(refused.value)


def test_files_that_no_pattern_matches_are_counted_as_long_as_none_matches() -> None:
    files = Clocked()
    for name in ("a_1.csv", "a_2.csv"):
        files.land(name, b"id\n1\n", age=60)
    spec = ZoneSpec(pattern=r"a_\d.csv", settle_seconds=0)
    assert freeze(files, ZONE, spec).unmatched == 2
    assert freeze(files, ZONE, ZoneSpec(settle_seconds=0), pattern="*_1.csv").unmatched == 0
