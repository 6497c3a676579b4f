"""What only a folder can do wrong: links, kills, file systems."""

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.engines.files.moving import etag_of
from lakebed.engines.files.new_file import new_file
from lakebed.engines.files.path_lock import remove_unless_held
from lakebed.errors import (
    BadName,
    FileMissing,
    FileReplaced,
    FilesRefused,
    FilesUnreachable,
    UnsafeStore,
)

WRITER = """
import sys
from pathlib import Path
from lakebed.engines.files import FolderFiles
files = FolderFiles(Path(sys.argv[1]))
while True:
    for letter in b"abcd":
        files.write("zone/a", bytes([letter]) * 2_000_000)
"""

HOLDER = """
import sys, time
from pathlib import Path
from lakebed.engines.files.path_lock import locked
with locked(Path(sys.argv[1])):
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    return folder


def test_a_linked_folder_never_leads_outside(root: Path, outside: Path) -> None:
    (root / "zone").symlink_to(outside)
    files = FolderFiles(root)
    files.write("a", b"")
    for refused in (
        lambda: files.read("zone/secret"),
        lambda: files.info("zone/secret"),
        lambda: files.write("zone/new", b""),
        lambda: files.create("zone/new", b""),
        lambda: files.replace("zone/secret", b"", etag="x"),
        lambda: files.delete("zone/secret"),
        lambda: files.move("zone/secret", "b"),
        lambda: files.move("a", "zone/b"),
        lambda: files.list("zone"),
    ):
        with pytest.raises(BadName, match="symbolic link leads it out"):
            refused()
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_linked_file_outside_is_neither_read_nor_listed_and_writing_replaces_the_link(
    root: Path, outside: Path
) -> None:
    (root / "a").symlink_to(outside / "secret")
    files = FolderFiles(root)
    with pytest.raises(BadName):
        files.read("a")
    assert list(files.list()) == []
    files.write("a", b"ours")
    assert files.read("a") == b"ours"
    assert (outside / "secret").read_bytes() == b"secret"


def test_a_link_that_stays_inside_is_followed_but_not_listed(root: Path) -> None:
    files = FolderFiles(root)
    files.write("zone/a", b"one")
    (root / "also").symlink_to(root / "zone")
    (root / "loop").symlink_to(root)
    assert files.read("also/a") == b"one"
    assert [info.path for info in files.list()] == ["zone/a"]


def test_a_root_reached_through_a_link_is_that_folder(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    FolderFiles(tmp_path / "link").write("a", b"one")
    assert FolderFiles(root).read("a") == b"one"


def test_a_pipe_is_no_file_and_reading_it_does_not_wait(root: Path) -> None:
    os.mkfifo(root / "pipe")
    files = FolderFiles(root)
    with pytest.raises(FileMissing):
        files.read("pipe")
    assert list(files.list()) == []


def test_a_folder_in_the_way_is_named(root: Path) -> None:
    files = FolderFiles(root)
    files.write("zone/a", b"")
    with pytest.raises(BadName, match="a folder has this name"):
        files.write("zone", b"")
    with pytest.raises(BadName, match="the name of a file"):
        files.write("zone/a/b/c", b"")
    with pytest.raises(BadName, match="longer than the file system allows"):
        files.write("x" * 300, b"")


def test_a_killed_writer_leaves_the_old_content_or_the_new_and_nothing_in_listings(
    root: Path,
) -> None:
    files = FolderFiles(root)
    files.write("zone/a", b"a" * 2_000_000)
    for delay in (0.0, 0.011, 0.023, 0.037):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)])
        before = files.info("zone/a").etag
        while files.info("zone/a").etag == before:
            time.sleep(0.001)
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        content = files.read("zone/a")
        assert content == content[:1] * 2_000_000
        assert [info.path for info in files.list()] == ["zone/a"]


def test_a_listing_removes_unfinished_files_only_when_they_are_a_day_old(root: Path) -> None:
    young, old = root / f".lakebed-{'1' * 32}.part", root / f".lakebed-{'2' * 32}.part"
    young.touch()
    old.touch()
    os.utime(old, (time.time() - 90_000,) * 2)
    assert list(FolderFiles(root).list()) == []
    assert (young.exists(), old.exists()) == (True, False)


def test_a_writer_killed_while_it_has_a_lock_blocks_nobody_and_its_lock_is_not_left(
    root: Path,
) -> None:
    files = FolderFiles(root)
    seen = files.create("zone/a", b"one")
    with _killed(HOLDER, root / "zone/a") as holder:
        [lock] = (root / "zone").glob(".lakebed-*.lock")
        with pytest.raises(BlockingIOError):
            remove_unless_held(lock)  # it is held indeed
        holder.send_signal(signal.SIGKILL)
    assert [info.path for info in files.list()] == ["zone/a"]
    files.replace("zone/a", b"two", etag=seen.etag)
    assert os.listdir(root / "zone") == ["a"]


def test_a_listing_removes_a_lock_only_when_it_is_a_day_old_and_nobody_holds_it(root: Path) -> None:
    files = FolderFiles(root)
    files.create("zone/a", b"one")
    with _killed(HOLDER, root / "zone/a") as holder:
        [lock] = (root / "zone").glob(".lakebed-*.lock")
        os.utime(lock, (time.time() - 90_000,) * 2)
        assert [info.path for info in files.list()] == ["zone/a"]
        assert lock.exists()
        holder.send_signal(signal.SIGKILL)
    assert [info.path for info in files.list()] == ["zone/a"]
    assert not lock.exists()


@contextmanager
def _killed(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has said it is ready; the block kills it."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_every_content_of_a_path_has_another_etag_however_fast_they_follow(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system's clock ticks every few milliseconds, and it reuses the numbers of inodes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # as fast as a disk could ever be
    etags = set()
    for number in range(500):
        with new_file(root, b"%04d" % number, refusing=nullcontext) as file:
            etags.add(etag_of(file.stat()))
    assert len(etags) == 500


def test_a_files_time_is_its_own_nanosecond_and_not_the_kernels_tick(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recent kernels tick faster, so the test above passes there whatever Lakebed does."""
    instants = iter((1_700_000_000_000_000_001, 1_700_000_000_000_000_002))
    monkeypatch.setattr(time, "time_ns", lambda: next(instants))
    first = FolderFiles(root).create("a", b"one")
    second = FolderFiles(root).replace("a", b"two", etag=first.etag)
    assert [etag.split("-")[1] for etag in (first.etag, second.etag)] == [
        f"{1_700_000_000_000_000_001:x}",
        f"{1_700_000_000_000_000_002:x}",
    ]


def test_a_file_system_without_locks_is_written_as_before_but_is_refused_for_replacing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    files = FolderFiles(root)
    files.write("a", b"one")
    seen = files.move("a", "b")
    with pytest.raises(UnsafeStore, match="no file locks"):
        files.replace("b", b"two", etag=seen.etag)
    with pytest.raises(UnsafeStore, match="no file locks"):
        files.probe()
    assert files.read("b") == b"one"
    files.delete("b")
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_a_file_can_be_removed_from_a_full_disk(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, opened = FolderFiles(root), os.open
    files.write("a", b"one")

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    files.delete("a")
    assert os.listdir(root) == []


def test_a_failed_write_leaves_no_unfinished_file(root: Path) -> None:
    files = FolderFiles(root)
    files.write("zone/a", b"")
    with pytest.raises(BadName):
        files.write("zone", b"new")
    assert sorted(os.listdir(root)) == ["zone"]


def test_the_mover_that_comes_second_is_told_the_file_is_missing(root: Path) -> None:
    files = FolderFiles(root)
    files.write("a", b"one")
    files.move("a", "first")
    with pytest.raises(FileMissing):
        files.move("a", "second")
    assert [info.path for info in files.list()] == ["first"]


def test_moving_keeps_the_etag(root: Path) -> None:
    files = FolderFiles(root)
    before = files.write("a", b"one")
    assert files.move("a", "b").etag == before.etag


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """As a full disk does, the system takes a part of what is written, and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [5_000, 100_000])
def test_a_file_that_does_not_fit_is_refused_and_leaves_nothing(root: Path, size: int) -> None:
    with no_room_beyond(4096), pytest.raises(FilesRefused, match=r"File too large \(zone/a\)"):
        FolderFiles(root).write("zone/a", b"x" * size)
    assert list((root / "zone").iterdir()) == []


def test_a_folder_that_may_not_be_written_is_reported_by_the_probe(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((FilesUnreachable, BadName)):
        FolderFiles(tmp_path / "file").probe()
    if os.geteuid() == 0:  # no mode stops root
        return
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(FilesRefused, match="Permission denied"):
        FolderFiles(tmp_path).probe()


def test_a_file_has_one_path_whatever_links_lead_to_it(
    root: Path, outside: Path, tmp_path: Path
) -> None:
    """Whoever removes files compares paths: a file that is known by another would be taken for one
    that nobody needs.
    """
    files = FolderFiles(root)
    files.write("zone/a", b"one")
    (tmp_path / "moved").symlink_to(root)
    (root / "also").symlink_to("zone")
    (root / "zone" / "b").symlink_to("a")
    (root / "out").symlink_to(outside)
    spelt = [
        f"file://{root}/zone/a",
        f"file:{root}/zone//a",
        f"{root}/zone/../zone/a",
        f"{tmp_path}/moved/also/b",
    ]
    assert {files.path_of(location) for location in spelt} == {"zone/a"}
    assert files.path_of(f"file:{tmp_path}/moved/also/not/there") == "zone/not/there"
    assert files.path_of(f"{root}/out/secret") is None
    assert files.path_of(f"s3://bucket{root}/zone/a") is None
    assert files.path_of(str(root)) is None
    assert files.path_of(f"{root}-2/zone/a") is None
    (root / "loop").symlink_to("loop")
    with pytest.raises(FilesUnreachable, match="symbolic links"):
        files.path_of(f"{root}/loop/a")


class Pausing(FolderFiles):
    """A writer that is slow between its check and its renaming."""

    def __init__(self, root: Path, meanwhile: Callable[[], object]) -> None:
        super().__init__(root)
        self._meanwhile, self._checks = meanwhile, 0

    def _require_etag(self, path: str, etag: str) -> None:
        super()._require_etag(path, etag)
        self._checks += 1
        if self._checks == 2:  # the one with the lock
            self._meanwhile()


@pytest.mark.parametrize(
    ("other", "told", "left"),
    [
        ("replace", FileReplaced, {"a": b"slow"}),
        ("write", None, {"a": b"fast"}),
        ("delete", None, {}),
        ("move", FileMissing, {"a": b"slow"}),  # it had seen another file
    ],
)
def test_whoever_changes_a_file_waits_for_the_writer_that_has_its_lock(
    root: Path, other: str, told: type[Exception] | None, left: dict[str, bytes]
) -> None:
    """Without the lock the other would come between check and renaming, and its work be lost."""
    files = FolderFiles(root)
    seen = files.create("a", b"seen").etag
    others: dict[str, Callable[[], object]] = {
        "replace": lambda: files.replace("a", b"fast", etag=seen),
        "write": lambda: files.write("a", b"fast"),
        "delete": lambda: files.delete("a"),
        "move": lambda: files.move("a", "b"),
    }
    with ThreadPoolExecutor(1) as pool:
        raced: list[Future[object]] = []

        def race() -> None:
            raced.append(pool.submit(others[other]))
            wait(raced, timeout=0.5)  # enough to be done, if nothing keeps it

        Pausing(root, race).replace("a", b"slow", etag=seen)
        error = raced[0].exception()
    assert (type(error) if error else None) is told
    assert {info.path: files.read(info.path) for info in files.list()} == left
    assert sorted(os.listdir(root)) == sorted(left)


class Interrupted(FolderFiles):
    """Somebody does something between the link at the new place and the removal at the old one."""

    def __init__(self, root: Path, meanwhile: Callable[[Path], object]) -> None:
        super().__init__(root)
        self._meanwhile = meanwhile

    def _link(self, source: Path, target: Path, path: str) -> None:
        super()._link(source, target, path)
        if target.name == "b":
            self._meanwhile(source)


def _replace(place: Path) -> None:
    """As other programs do, without Lakebed's lock."""
    place.with_name("new").write_bytes(b"two")
    place.with_name("new").replace(place)


def _append(place: Path) -> None:
    with place.open("ab") as file:
        file.write(b"more")


def test_a_file_that_replaces_one_on_its_way_stays_and_the_one_that_was_meant_is_moved(
    root: Path,
) -> None:
    files = Interrupted(root, _replace)
    assert files.move("a", "b", etag=files.write("a", b"one").etag).size == 3
    assert (files.read("a"), files.read("b")) == (b"two", b"one")


def test_a_file_that_grows_on_its_way_stays_where_it_is(root: Path) -> None:
    files = Interrupted(root, _append)
    with pytest.raises(FileMissing):
        files.move("a", "b", etag=files.write("a", b"one").etag)
    assert [(info.path, files.read(info.path)) for info in files.list()] == [("a", b"onemore")]
    assert sorted(os.listdir(root)) == ["a"]
