"""Files on their way out: written down first, and their checksums with them."""

from collections.abc import Iterator

from lakebed.care.removal.removal import (
    FOLDER,
    Removal,
    belongs_to,
    checksum_of,
    delete_each,
    delete_files,
    discard_removal,
    read_removals,
    sized,
    write_removal,
)
from lakebed.testing import MemoryFiles


def test_a_removal_survives_its_process() -> None:
    files = MemoryFiles()
    removal = Removal("x1", "expired", 'shop."a.b".orders', "u", (1, 2), {"a/b/c": 3})
    write_removal(files, removal)
    assert read_removals(files) == (removal,)
    assert removal.name.layer == "a.b"
    discard_removal(files, removal)
    assert list(files.list(FOLDER)) == []


def test_a_checksum_belongs_to_its_file() -> None:
    assert checksum_of("a/b/x.parquet") == "a/b/.x.parquet.crc"
    assert belongs_to("a/b/.x.parquet.crc") == "a/b/x.parquet"
    assert belongs_to("a/b/x.parquet") == "a/b/x.parquet"
    assert belongs_to("a/b/x.crc") == "a/b/x.crc"


def test_missing_files_are_no_error_and_progress_is_told() -> None:
    files, told = MemoryFiles(), list[tuple[int, int]]()
    files.write("a/b/c", b"123")
    assert sized(files, {"a/b/c": None, "a/b/gone": None, "a/b/known": 7}) == {
        "a/b/c": 3,
        "a/b/known": 7,
    }
    assert (
        delete_files(files, ["a/b/c", "a/b/gone"], on_progress=lambda *both: told.append(both)) == 2
    )
    assert told == [(1, 2), (2, 2)]
    assert list(files.list()) == []


def test_files_that_come_one_by_one_are_all_removed_and_only_some_are_taken_ahead() -> None:
    files, taken, ahead = MemoryFiles(), list[str](), list[int]()
    for number in range(2500):
        files.write(f"a/b/{number}", b"")

    def paths() -> Iterator[str]:
        for number in range(2500):
            taken.append(f"a/b/{number}")
            yield taken[-1]

    removed = delete_each(
        files, paths(), count=2500, on_progress=lambda done, _: ahead.append(len(taken) - done)
    )
    assert (removed, list(files.list())) == (2500, [])
    assert max(ahead) < 1000
