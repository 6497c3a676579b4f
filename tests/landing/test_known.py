"""Files that the ledger knows: after a lake was copied or restored, and in `_processed/`."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import md5, sha256
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import UsageError
from lakebed.landing import archived_places, bring_back_files, content_digests, recognise_files
from lakebed.landing.digest import would_have_etag
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files
from lakebed.testing import MemoryFiles

ZONE, ORDERS = ZoneName("shop", "orders"), TableName("shop", "bronze", "orders")
AT = datetime(2026, 1, 1, tzinfo=UTC)
MIB = 1024 * 1024


def land(files: Files, name: str, data: bytes = b"id\n1\n") -> FileInfo:
    return files.write(f"{ZONE.folder}/{name}", data)


def took(
    files: Files, file: FileInfo, run_id: str = "r1", *, by_older: bool = False, at: float = 1.0
) -> ConsumedFile:
    """What the ledger holds of a file, as this Lakebed writes it or one of before."""
    digest = "" if by_older else content_digests(files, [file], [])[file.path]
    return ConsumedFile(
        ORDERS, ZONE, file.path, file.etag, file.size, run_id, digest=digest, taken_at=at
    )


def copied(root: Path, *, with_times: bool) -> FolderFiles:
    """The folder as it comes back from a backup: other inodes."""
    shutil.move(root, root.parent / "kept")
    shutil.copytree(
        root.parent / "kept", root, copy_function=shutil.copy2 if with_times else shutil.copyfile
    )
    return FolderFiles(root)


@pytest.mark.parametrize(
    "by_older", [False, True], ids=["taken by this Lakebed", "taken by an older one"]
)
def test_a_restored_folders_files_are_those_that_were_taken(tmp_path: Path, by_older: bool) -> None:
    files = FolderFiles(tmp_path / "lake")
    row = took(files, land(files, "a.csv"), by_older=by_older)
    restored = copied(tmp_path / "lake", with_times=True)
    (file,) = restored.list()
    assert file.etag != row.etag
    (seen,) = recognise_files(restored, [file], [row])
    assert (seen.path, seen.etag, seen.new_path, seen.new_etag) == (
        row.path,
        row.etag,
        file.path,
        file.etag,
    )
    assert recognise_files(restored, [file], [replace(row, etag=file.etag)]) == ()


def test_a_folder_restored_without_its_times_is_known_by_content(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path / "lake")
    rows = [took(files, land(files, "a.csv")), took(files, land(files, "b.csv"))]
    restored = copied(tmp_path / "lake", with_times=False)
    land(restored, "b.csv", b"id\n2\n")
    assert [seen.path for seen in recognise_files(restored, restored.list(), rows)] == [
        rows[0].path
    ]


@pytest.mark.parametrize("same_time", [False, True])
def test_another_file_of_the_same_size_in_its_place_is_a_new_file(
    tmp_path: Path, same_time: bool
) -> None:
    files = FolderFiles(tmp_path)
    first = land(files, "a.csv")
    row = took(files, first)
    place = tmp_path / first.path
    (tmp_path / "other").write_bytes(b"id\n2\n")
    if same_time:  # as `cp -p` and `tar` do with what a program gave one time
        os.utime(tmp_path / "other", ns=(place.stat().st_mtime_ns,) * 2)
    (tmp_path / "other").replace(place)
    assert files.info(first.path).size == first.size
    assert recognise_files(files, files.list(ZONE.folder), [row]) == ()


def test_a_file_that_comes_again_after_another_had_its_name_is_a_new_file(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    rows = [
        took(files, land(files, "a.csv", data), f"r{at}", at=at)
        for at, data in ((1.0, b"id\n1\n"), (2.0, b"id\n2\n"))
    ]
    again = land(files, "a.csv", b"id\n1\n")
    assert recognise_files(files, [again], rows) == ()
    again = land(files, "a.csv", b"id\n2\n")
    assert [seen.etag for seen in recognise_files(files, [again], rows)] == [rows[1].etag]


def test_what_the_ledger_has_a_hash_of_is_not_read_again() -> None:
    files = MemoryFiles()
    file = land(files, "a.csv")
    assert content_digests(files, [file], []) == {file.path: sha256(b"id\n1\n").hexdigest()}
    assert content_digests(files, [file], [replace(took(files, file), digest="known")]) == {
        file.path: "known"
    }
    assert (
        content_digests(
            files, [replace(file, etag=f'"{"a" * 32}"'), replace(file, etag=f'"{"a" * 32}-7"')], []
        )
        == {}
    )


@pytest.mark.parametrize("part", [5 * MIB, 8 * MIB, 0])
def test_a_file_that_another_program_copied_within_a_bucket_is_known_by_its_old_etag(
    part: int,
) -> None:
    files, data = MemoryFiles(), os.urandom(MIB) * 17
    file = land(files, "a.bin", data)
    parts = [data[at : at + part] for at in range(0, len(data), part)] if part else [data]
    together = md5(b"".join(md5(one).digest() for one in parts)).hexdigest()
    assert would_have_etag(files, file, f'"{together}-{len(parts)}"')
    assert would_have_etag(files, file, f'"{md5(data).hexdigest()}"')
    other = land(files, "b.bin", data[:-1] + b"x")
    assert not would_have_etag(files, other, f'"{together}-{len(parts)}"')
    assert not would_have_etag(files, other, f'"{md5(data).hexdigest()}"')
    assert not would_have_etag(files, other, "11-18ffb-2a")


def archived(name: str, *, etag: str = "e", size: int = 5, run: str = "r1") -> FileInfo:
    return FileInfo(f"{ZONE.folder}/_processed/{run}/{name}", size, etag, AT)


def row(
    name: str, run_id: str = "r1", *, etag: str = "e", place: FileInfo | None = None
) -> ConsumedFile:
    taken = ConsumedFile(ORDERS, ZONE, f"{ZONE.folder}/{name}", etag, 5, run_id)
    return replace(taken, archived=place.path, archived_etag=place.etag) if place else taken


def test_an_archived_file_lies_where_the_ledger_says_or_where_older_lakebeds_brought_it() -> None:
    said = archived("a~2.csv", etag="changed")
    there = [
        said,
        archived("a.csv"),
        archived("sub/b~3.csv", etag="multipart", run="r2"),
        archived("c.csv", size=6),
    ]
    rows = [
        row("a.csv", place=said),
        row("sub/b.csv", "r2"),
        row("c.csv"),
        row("a.csv", etag="e2"),
        row("gone.csv", place=there[3]),
    ]
    found = archived_places(rows, {info.path: info for info in there[:3]})
    assert found == {
        (rows[0].path, "e"): said.path,
        (rows[1].path, "e"): there[2].path,
        (rows[3].path, "e2"): there[1].path,
    }


def requeued(files: Files, *rows: ConsumedFile) -> list[str]:
    return [seen.new_path.removeprefix(f"{ZONE.folder}/") for seen in bring_back_files(files, rows)]


def to_archive(
    files: Files, name: str, run: str = "r1", *, etag: str | None = None
) -> ConsumedFile:
    """A file that was taken and archived; `etag` if a bucket had given it another before it was
    moved.
    """
    file = land(files, name)
    moved = files.move(file.path, f"{ZONE.folder}/_processed/{run}/{name}")
    return row(name, run, etag=etag or file.etag, place=moved)


def test_files_of_equal_content_all_come_back() -> None:
    files = MemoryFiles()
    rows = [
        to_archive(files, name, etag="of the content") for name in ("a.csv", "sub/b.csv", "c.csv")
    ]
    assert requeued(files, *rows) == ["a.csv", "c.csv", "sub/b.csv"]
    assert len(list(files.list())) == 3


def test_files_of_equal_content_that_an_older_lakebed_archived_all_come_back() -> None:
    files = MemoryFiles()
    rows = [
        replace(to_archive(files, name, etag="of the content"), archived="", archived_etag="")
        for name in ("a.csv", "b.csv")
    ]
    assert requeued(files, *rows) == ["a.csv", "b.csv"]


def test_what_cannot_come_back_is_told_before_any_file_is_moved(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    rows = [to_archive(files, name) for name in ("a.csv", "b.csv")]
    before = {info.path for info in files.list()}
    with pytest.raises(UsageError, match="gone"):
        requeued(files, *rows, row("c.csv", place=archived("c.csv")))
    with pytest.raises(UsageError, match="were called"):
        requeued(files, *rows, to_archive(files, "a.csv", "r2"))
    files.delete(f"{ZONE.folder}/_processed/r2/a.csv")
    land(files, "a.csv", b"another")
    with pytest.raises(UsageError, match="other files are"):
        requeued(files, *rows)
    files.delete(f"{ZONE.folder}/a.csv")
    files.write(rows[0].archived, b"id\n2\n")
    with pytest.raises(UsageError, match="gone"):
        requeued(files, *rows)
    assert {info.path for info in files.list()} == before
