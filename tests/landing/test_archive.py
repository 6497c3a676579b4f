"""Files that leave a zone."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import FileMissing
from lakebed.landing import Move, ZoneSpec, archive_files, processed_files, sample_files
from lakebed.landing.archive import quarantine_files
from lakebed.landing.formats.sniffed import BadFile
from lakebed.names import ZoneName
from lakebed.ports import FileInfo, Files
from lakebed.testing import MemoryFiles

ZONE = ZoneName("shop", "orders")
AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return MemoryFiles() if request.param == "memory" else FolderFiles(tmp_path)


def land(files: Files, name: str, data: bytes = b"id\n1\n") -> FileInfo:
    return files.write(f"{ZONE.folder}/{name}", data)


def to_processed(file: FileInfo, run_id: str = "r1") -> Move:
    return Move(file.path, file.etag, file.path.replace("orders/", f"orders/_processed/{run_id}/"))


def there(files: Files) -> list[str]:
    return [file.path.removeprefix(f"{ZONE.folder}/") for file in files.list(ZONE.folder)]


def test_files_are_moved_under_their_whole_path(files: Files) -> None:
    moves = [to_processed(land(files, name)) for name in ("a.csv", "sub/ü #1.csv")]
    assert [(seen.path, seen.new_path) for seen in archive_files(files, moves)] == [
        (move.path, move.to) for move in moves
    ]
    assert there(files) == ["_processed/r1/a.csv", "_processed/r1/sub/ü #1.csv"]


def test_archiving_again_finds_nothing_to_do(files: Files) -> None:
    move = to_processed(land(files, "a.csv"))
    assert len(list(archive_files(files, [move]))) == 1
    assert list(archive_files(files, [move])) == []
    assert there(files) == ["_processed/r1/a.csv"]


def test_a_file_that_was_replaced_since_stays_for_the_next_run(files: Files) -> None:
    move = to_processed(land(files, "a.csv"))
    land(files, "a.csv", b"id\n2\n")
    assert list(archive_files(files, [move])) == []
    assert files.read(f"{ZONE.folder}/a.csv") == b"id\n2\n"


def test_a_crash_between_copying_and_removing_is_healed(files: Files) -> None:
    move = to_processed(land(files, "a.csv"))
    files.write(move.to, files.read(move.path))
    assert [seen.new_path for seen in archive_files(files, [move])] == [move.to]
    assert there(files) == ["_processed/r1/a.csv"]


def test_another_file_at_the_new_place_is_never_replaced(files: Files) -> None:
    move = to_processed(land(files, "a.b.csv"))
    files.write(move.to, b"id\n9\n")
    (made,) = archive_files(files, [move])
    assert made.new_path == f"{ZONE.folder}/_processed/r1/a~2.b.csv"
    assert (files.read(move.to), files.read(made.new_path)) == (b"id\n9\n", b"id\n1\n")


def test_a_file_taken_away_by_somebody_else_is_no_error(files: Files) -> None:
    class Raced(MemoryFiles):
        def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
            raise FileMissing(path)

    raced = Raced()
    assert list(archive_files(raced, [to_processed(land(raced, "a.csv"))])) == []


def test_a_bad_file_lies_in_quarantine_with_its_reason_beside_it(files: Files) -> None:
    file = land(files, "sub/a.csv", b"torn")
    (aside,) = quarantine_files(
        files, [BadFile(file, "it is törn", rows=7)], ZONE, run_id="r9", at=AT
    )
    assert (aside.path, aside.reason) == (file.path, "it is törn")
    assert aside.moved_to == f"{ZONE.folder}/_quarantine/r9/sub/a.csv"
    assert there(files) == ["_quarantine/r9/sub/a.csv", "_quarantine/r9/sub/a.csv.reason.json"]
    told = json.loads(files.read(f"{aside.moved_to}.reason.json"))
    assert told == {
        "file": file.path, "size": 4, "etag": file.etag, "rows": 7, "reason": "it is törn", "run_id": "r9", "at": AT.isoformat(),
    }  # fmt: skip


def test_a_full_refresh_finds_the_archived_files_and_a_preview_the_samples(files: Files) -> None:
    names = (
        "_processed/r1/a.csv",
        "_processed/r2/sub/b.json",
        "_processed/r2/.x.csv",
        "_samples/c.csv",
        "_samples/d.json",
        "e.csv",
    )
    for name in names:
        land(files, name)
    land(files, "_samples/empty.csv", b"")
    land(files, "_processed/r2/quiet.csv", b"")

    def found(infos: tuple[FileInfo, ...]) -> list[str]:
        return [file.path.removeprefix(f"{ZONE.folder}/") for file in infos]

    assert found(processed_files(files, ZONE, ZoneSpec())) == [
        "_processed/r1/a.csv",
        "_processed/r2/quiet.csv",  # a table was made from it
        "_processed/r2/sub/b.json",
    ]
    assert found(processed_files(files, ZONE, ZoneSpec(), pattern="sub/*")) == [
        "_processed/r2/sub/b.json"
    ]
    assert found(processed_files(files, ZONE, ZoneSpec(pattern="*.csv"))) == [
        "_processed/r1/a.csv",
        "_processed/r2/quiet.csv",
    ]
    assert found(sample_files(files, ZONE, ZoneSpec())) == ["_samples/c.csv", "_samples/d.json"]
    assert found(sample_files(files, ZONE, ZoneSpec(), pattern="*.csv")) == ["_samples/c.csv"]


@pytest.mark.parametrize(
    "new", [b"id\n2\n", b"id\n2\n3\n"], ids=["of the same size", "of another size"]
)
def test_a_file_that_comes_in_its_place_at_the_last_moment_is_not_archived_unread(
    tmp_path: Path, new: bytes
) -> None:
    class Raced(FolderFiles):
        def move(self, path: str, to: str, *, etag: str | None = None) -> FileInfo:
            self.write(path, new)
            return super().move(path, to, etag=etag)

    raced = Raced(tmp_path)
    assert list(archive_files(raced, [to_processed(land(raced, "a.csv"))])) == []
    assert there(raced) == ["a.csv"]
    assert raced.read(f"{ZONE.folder}/a.csv") == new


def test_a_file_that_replaces_one_already_archived_is_not_removed_unread(tmp_path: Path) -> None:
    class Raced(FolderFiles):
        def delete(self, path: str, *, etag: str | None = None) -> None:
            self.write(path, b"id\n2\n")
            super().delete(path, etag=etag)

    raced = Raced(tmp_path)
    move = to_processed(land(raced, "a.csv"))
    raced.write(move.to, raced.read(move.path))
    assert [seen.new_path for seen in archive_files(raced, [move])] == [move.to]
    assert raced.read(f"{ZONE.folder}/a.csv") == b"id\n2\n"
