"""What every file store promises, asked of each of them."""

import multiprocessing
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed.engines.files import FolderFiles, open_files
from lakebed.engines.files.cloud import open_location
from lakebed.engines.files.cloud.cloud_files import AzureFiles, GoogleFiles
from lakebed.errors import BadName, FileExists, FileMissing, FileReplaced
from lakebed.ports.files.files import Files, StrayLink
from lakebed.settings import FilesSettings
from lakebed.testing.files import MemoryFiles
from tests.servers.azurite import AzuriteServer
from tests.servers.s3 import S3Server
from tests.support.scale import SCALE

STORES = [
    "memory",
    "folder",
    pytest.param("s3", marks=pytest.mark.s3),
    pytest.param("azure", marks=pytest.mark.s3),
]
ODD_NAMES = [
    "two words.csv",
    " space at both ends ",
    "h#sh.csv",
    "100%.csv",
    "not%20encoded.csv",
    "a?b=c&d+e.csv",
    "grüße/日本語.csv",
    "😀/smile.csv",
    "quote'\".csv",
    "star*[1]{2}|^`~.csv",
    "...dots",
    "a/..b/c..",
    "year=2026/month=11/part-0.parquet",
    "x" * 200,
]
LEAVING = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../x",
    "a/../../x",
    "a/../x",
    "a/..",
    ".",
    "./a",
    "a//b",
    "a/",
]
UNSPELLABLE = [
    "a\0b",
    "a\nb",
    "a\\b",
    "\ud800",
    f"zone/.lakebed-{'0' * 32}.part",
    f"zone/.lakebed-{'0' * 32}.lock",
]
MIB = 1024 * 1024
Fresh = Callable[[], Files]


@pytest.fixture(params=STORES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fresh]:
    """Opens an empty store at each call."""
    if request.param == "memory":
        yield MemoryFiles
    elif request.param == "folder":
        count = iter(range(10**9))
        yield lambda: FolderFiles(tmp_path / f"lake {next(count)}")
    elif request.param == "azure":
        azurite: AzuriteServer = request.getfixturevalue("azure")
        yield lambda: open_location(azurite.fresh_prefix(), FilesSettings(), azurite.settings)
    else:
        server: S3Server = request.getfixturevalue("seaweed")
        yield lambda: _in_bucket(server)


def _in_bucket(server: S3Server) -> Files:
    place = server.fresh_prefix()
    return open_files(place.root, place.settings)


@pytest.fixture
def files(fresh: Fresh) -> Files:
    return fresh()


def paths(files: Files, folder: str = "") -> list[str]:
    return [info.path for info in files.list(folder)]


def test_what_was_written_is_read(files: Files) -> None:
    files.write("zone/a.csv", b"one")
    assert files.read("zone/a.csv") == b"one"


def test_writing_again_replaces_the_content_and_the_etag(files: Files) -> None:
    first = files.write("a", b"one")
    second = files.write("a", b"two")
    assert files.read("a") == b"two"
    assert first.etag != second.etag == files.info("a").etag


def test_an_empty_file_is_a_file(files: Files) -> None:
    files.create("empty", b"")
    assert (files.read("empty"), files.info("empty").size, paths(files)) == (b"", 0, ["empty"])


def test_a_large_file_comes_back_whole(files: Files) -> None:
    data = os.urandom(12 * 1024 * 1024)
    files.write("large", data)
    files.create("large too", data)
    assert files.read("large") == data
    assert files.read("large too", start=11_000_000, length=1000) == data[11_000_000:11_001_000]


def test_every_answer_describes_the_same_file(files: Files) -> None:
    written = files.write("zone/a.csv", b"one")
    described, [listed] = files.info("zone/a.csv"), list(files.list("zone"))
    assert listed == described
    assert (written.path, written.size, written.etag) == (
        described.path,
        described.size,
        described.etag,
    )
    assert (described.path, described.size) == ("zone/a.csv", 3)
    assert abs(datetime.now(UTC) - described.modified) < timedelta(minutes=1)


@pytest.mark.parametrize("ask", [Files.read, Files.info])
def test_an_absent_file_is_missing(files: Files, ask: Callable[[Files, str], object]) -> None:
    files.write("folder/a", b"")
    for path in ("absent", "folder/absent", "folder"):
        with pytest.raises(FileMissing, match=path):
            getattr(files, ask.__name__)(path)


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 4), (3, 4), (3, None), (8, 100), (10, None), (10, 1), (99, 5), (4, 0), (0, None)],
)
def test_a_range_is_the_slice_of_the_content(files: Files, start: int, length: int | None) -> None:
    files.write("digits", b"0123456789")
    expected = b"0123456789"[start:] if length is None else b"0123456789"[start : start + length]
    assert files.read("digits", start=start, length=length) == expected


@pytest.mark.parametrize(("start", "length"), [(-1, None), (0, -1)])
def test_a_range_never_counts_from_the_end(files: Files, start: int, length: int) -> None:
    files.write("digits", b"0123456789")
    with pytest.raises(ValueError, match="range"):
        files.read("digits", start=start, length=length)


def test_a_range_of_an_absent_file_is_missing(files: Files) -> None:
    with pytest.raises(FileMissing):
        files.read("absent", start=3, length=0)


def test_create_never_replaces(files: Files) -> None:
    files.create("a", b"first")
    with pytest.raises(FileExists, match="a"):
        files.create("a", b"second")
    assert files.read("a") == b"first"


WRITERS = pytest.mark.parametrize("write", ["create", "write"])


@WRITERS
def test_a_stream_becomes_a_file(files: Files, tmp_path: Path, write: str) -> None:
    data = os.urandom(40 * MIB)  # without a line's end for a long way, and over one part
    (tmp_path / "local").write_bytes(data)
    with (tmp_path / "local").open("rb") as file:
        made = getattr(files, write)("zone/from a file", file)
    assert (made.size, made.etag) == (len(data), files.info("zone/from a file").etag)
    assert files.read("zone/from a file") == data
    pieces = (data[start : start + 300_001] for start in range(0, 3 * MIB, 300_001))
    getattr(files, write)("zone/from pieces", pieces)
    assert files.read("zone/from pieces") == data[: files.info("zone/from pieces").size]
    getattr(files, write)("zone/from nothing", iter(()))
    assert files.read("zone/from nothing") == b""


@pytest.mark.parametrize("size", [5, 40 * MIB])
def test_a_stream_never_replaces_a_file_that_it_should_create(files: Files, size: int) -> None:
    files.create("a", b"first")
    with pytest.raises(FileExists, match="a"):
        files.create("a", pieces_of(size))
    assert files.read("a") == b"first"
    files.write("a", pieces_of(size))
    assert files.read("a") == b"".join(pieces_of(size))


@WRITERS
@pytest.mark.parametrize("error", [FileNotFoundError("of the source"), KeyboardInterrupt()])
@pytest.mark.parametrize("size", [5, 40 * MIB])
def test_a_stream_that_breaks_off_leaves_nothing(
    files: Files, write: str, error: BaseException, size: int
) -> None:
    def broken() -> Iterator[bytes]:
        yield from pieces_of(size)
        raise error

    with pytest.raises(type(error)) as raised:
        getattr(files, write)("zone/a", broken())
    assert raised.value is error
    assert paths(files) == []
    files.create("zone/a", b"new")
    assert paths(files) == ["zone/a"]


def test_a_stream_is_never_in_memory_as_a_whole(files: Files) -> None:
    """The store in memory keeps what it is given; the others hold a few parts of 16 MiB."""
    if isinstance(files, MemoryFiles):
        pytest.skip("it is the memory")
    if type(files) in (AzureFiles, GoogleFiles):
        pytest.skip("only datasets are there, whose files are given as bytes")
    tracemalloc.start()
    try:
        files.create("a", pieces_of(160 * MIB))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 80 * MIB
    assert files.info("a").size == 160 * MIB


def pieces_of(size: int) -> Iterator[bytes]:
    for start in range(0, size, MIB):
        yield bytes([start // MIB % 251]) * min(MIB, size - start)


def test_a_file_is_replaced_only_by_a_writer_that_has_seen_its_content(files: Files) -> None:
    first = files.create("zone/a", b"first")
    second = files.replace("zone/a", b"second", etag=first.etag)
    assert (second.path, second.size, second.etag) == ("zone/a", 6, files.info("zone/a").etag)
    with pytest.raises(FileReplaced, match="zone/a") as overtaken:
        files.replace("zone/a", b"third", etag=first.etag)
    assert overtaken.value.overtaken
    assert files.read("zone/a") == b"second"
    assert paths(files) == ["zone/a"]


def test_a_file_that_is_gone_is_not_brought_back_by_replacing_it(files: Files) -> None:
    gone = files.create("zone/a", b"first")
    files.delete("zone/a")
    for path in ("zone/a", "absent/a"):
        with pytest.raises(FileMissing, match=path):
            files.replace(path, b"second", etag=gone.etag)
    assert (paths(files), files.folders()) in (([], ("zone",)), ([], ()))


def test_a_deleted_file_can_be_created_again(files: Files) -> None:
    files.create("a", b"first")
    files.delete("a")
    files.create("a", b"second")
    assert files.read("a") == b"second"


def test_deleting_what_is_not_there_is_no_error(files: Files) -> None:
    files.write("folder/a", b"")
    for path in ("absent", "folder/absent", "folder", "folder/a/below"):
        files.delete(path)
    assert paths(files) == ["folder/a"]


def test_files_are_listed_in_the_order_of_their_paths(files: Files) -> None:
    given = [
        "b",
        "a/b",
        "a-b/c",
        "a.txt",
        "a b",
        "a/b.txt",
        "a0",
        "ä/x",
        "B",
        "\U0001f600",
        "\ufffd",
        "a/c/d/e",
    ]
    for path in given:
        files.write(path, b"")
    assert paths(files) == sorted(given)
    assert sorted(info.path for info in files.walk()) == sorted(given)


def test_listing_a_folder_shows_what_is_below_it_at_any_depth(files: Files) -> None:
    for path in ("zone/a", "zone/_processed/run/b", "zone2/c", "zone"[:-1] + "e.csv", "d"):
        files.write(path, b"")
    assert paths(files, "zone") == paths(files, "zone/") == ["zone/_processed/run/b", "zone/a"]
    walked = sorted(files.walk("zone"), key=lambda info: info.path)
    assert walked == list(files.list("zone"))
    assert list(files.walk("absent")) == []


def test_an_absent_folder_and_a_file_have_nothing_below_them(files: Files) -> None:
    assert paths(files) == []
    files.write("a", b"")
    assert paths(files, "absent") == paths(files, "a") == []


def test_listing_goes_beyond_one_page_of_an_s3_answer(files: Files) -> None:
    expected = [f"zone/{number:04}" for number in range(1100)]
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda path: files.write(path, b""), expected))
    assert paths(files, "zone") == expected


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_kept(files: Files, name: str) -> None:
    files.create(name, b"1")
    assert files.read(name) == b"1"
    assert paths(files) == [name]
    files.move(name, f"kept/{name}")
    assert paths(files, "kept") == [f"kept/{name}"]
    files.delete(f"kept/{name}")
    assert paths(files) == []


@pytest.mark.parametrize("path", LEAVING + UNSPELLABLE)
def test_a_path_that_leaves_the_root_or_names_no_file_is_refused(files: Files, path: str) -> None:
    files.write("a", b"")
    asks: list[Callable[[], object]] = [
        lambda: files.read(path),
        lambda: files.write(path, b""),
        lambda: files.create(path, b""),
        lambda: files.replace(path, b"", etag="x"),
        lambda: files.info(path),
        lambda: files.delete(path),
        lambda: files.move(path, "b"),
        lambda: files.move("a", path),
    ]
    if path not in {"", "a/"}:  # as a folder these are the root and `a`
        asks.append(lambda: files.list(path))
    for ask in asks:
        with pytest.raises(BadName, match="path"):
            ask()
    assert paths(files) == ["a"]


def test_moving_takes_the_content_along(files: Files) -> None:
    files.write("zone/a", b"one")
    moved = files.move("zone/a", "zone/_processed/run 1/a")
    assert paths(files) == ["zone/_processed/run 1/a"]
    assert files.read(moved.path) == b"one"
    assert (moved.size, moved.etag) == (3, files.info(moved.path).etag)


@pytest.mark.parametrize(
    "size", [3, 33 * 1024 * 1024]
)  # a bucket's server copies the larger one itself
def test_moving_replaces_nothing(files: Files, size: int) -> None:
    files.write("a", b"a" * size)
    files.write("b", b"b")
    with pytest.raises(FileExists, match="b"):
        files.move("a", "b")
    with pytest.raises(FileExists):
        files.move("a", "a")
    assert (len(files.read("a")), files.read("b")) == (size, b"b")
    assert files.move("a", "c").size == size
    assert paths(files) == ["b", "c"]


def test_moving_what_is_not_there_is_an_error(files: Files) -> None:
    with pytest.raises(FileMissing, match="absent"):
        files.move("absent", "b")
    assert paths(files) == []


def test_of_many_creators_exactly_one_wins(files: Files) -> None:
    for number in range(3 * SCALE):  # SeaweedFS takes a second a race
        assert _race(files.create, f"claim-{number}", racers=5) == [files.read(f"claim-{number}")]


def test_of_many_writers_that_replace_one_content_exactly_one_wins(files: Files) -> None:
    seen = files.create("pointer", b"start")
    for number in range(3 * SCALE):

        def replace(path: str, name: bytes, *, round: int = number, etag: str = seen.etag) -> None:
            files.replace(path, b"%d of round %d" % (int(name), round), etag=etag)

        [winner] = _race(replace, "pointer", racers=8)
        assert files.read("pointer") == b"%d of round %d" % (int(winner), number)
        seen = files.info("pointer")
    assert paths(files) == ["pointer"]


@pytest.mark.parametrize("other", ["write", "delete", "move"])
def test_what_races_with_a_replacement_comes_before_it_or_after_it(
    files: Files, other: str
) -> None:
    """A replacement that succeeds has replaced what its writer read, never what came between."""
    written = {"write": {"a": b"written"}, "delete": {}, "move": {"archive": b"replaced"}}[other]
    # a bucket's move has two steps: a file that comes between them stays, and so does the moved one
    beside = {"a": b"replaced", "archive": b"seen"} if other == "move" else written
    alone = {"archive": b"seen"} if other == "move" else written
    for _ in range(4 * SCALE):
        files.delete("archive")
        won = _race(_replacing(files, other, files.write("a", b"seen").etag), "a", racers=2)
        left = {path: files.read(path) for path in paths(files)}
        expected = {
            (b"0", b"1"): (written, beside),
            (b"0",): ({"a": b"replaced"},),  # a move that found another file than it had seen
            (b"1",): (alone,),
        }
        assert left in expected[tuple(won)]


def _replacing(files: Files, other: str, etag: str) -> Callable[[str, bytes], object]:
    """Racer 0 replaces the file, racer 1 does something else with it."""
    others: dict[str, Callable[[str], object]] = {
        "write": lambda path: files.write(path, b"written"),
        "delete": files.delete,
        "move": lambda path: files.move(path, "archive"),
    }
    return lambda path, name: (
        others[other](path) if int(name) else files.replace(path, b"replaced", etag=etag)
    )


def test_no_step_of_writers_that_count_together_is_lost(files: Files) -> None:
    files.create("count", b"0")
    each, writers = 5 * SCALE, 3
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(lambda _: _count(files, each), range(writers)))
    assert files.read("count") == str(each * writers).encode()
    assert paths(files) == ["count"]


def _count(files: Files, steps: int) -> None:
    while steps:
        seen = files.info("count")
        count = int(files.read("count"))
        try:
            files.replace("count", str(count + 1).encode(), etag=seen.etag)
        except FileReplaced:
            continue
        steps -= 1


def test_of_many_movers_to_one_place_exactly_one_wins(files: Files) -> None:
    for racer in range(4):
        files.write(f"from/{racer}", bytes([racer]) * 3)
    [winner] = _race(lambda _, name: files.move(f"from/{int(name)}", "to"), "to", racers=4)
    assert files.read("to") == bytes([int(winner)]) * 3
    assert len(paths(files, "from")) == 3


def _race(attempt: Callable[[str, bytes], object], path: str, *, racers: int) -> list[bytes]:
    """Who of several threads that start at once was not told that another was first."""
    start = Barrier(racers)

    def run(name: bytes) -> bool:
        start.wait()
        try:
            attempt(path, name)
        except (FileExists, FileReplaced, FileMissing):
            return False
        return True

    names = [str(racer).encode() for racer in range(racers)]
    with ThreadPoolExecutor(racers) as pool:
        return [name for name, won in zip(names, pool.map(run, names), strict=True) if won]


def test_readers_see_the_old_content_or_the_new_never_a_part(files: Files) -> None:
    contents = {bytes([letter]) * 300_000 for letter in b"abcdefgh"}
    files.write("a", min(contents))
    with ThreadPoolExecutor(4) as pool:
        writers = [
            pool.submit(files.write, "a", content) for content in sorted(contents) for _ in range(3)
        ]
        while not all(writer.done() for writer in writers):
            assert files.read("a") in contents
    assert paths(files) == ["a"]


def test_a_store_that_keeps_its_promises_passes_the_probe_and_is_left_as_it_was(
    files: Files,
) -> None:
    files.write("a", b"")
    files.probe()
    assert paths(files) == ["a"]


NAMES = st.sampled_from(["a", "b", "z/a", "z/b", "z/_p/a", "ü #%/a b"])
OPERATIONS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.binary(max_size=20)),
    st.tuples(st.just("create"), NAMES, st.binary(max_size=20)),
    st.tuples(st.just("replace"), NAMES, st.binary(max_size=20), st.booleans()),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("read"), NAMES),
    st.tuples(st.just("list"), st.sampled_from(["", "z", "z/_p", "absent"])),
)


@settings(
    max_examples=25 * SCALE,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(operations=st.lists(OPERATIONS, max_size=25))
def test_a_store_behaves_like_a_dictionary(fresh: Fresh, operations: list[tuple[str, ...]]) -> None:
    files, oracle = fresh(), dict[str, bytes]()
    for operation, *arguments in operations:
        assert _answer(files, operation, arguments) == _expected(oracle, operation, arguments)
    assert {path: files.read(path) for path in paths(files)} == oracle


def _answer(files: Files, operation: str, arguments: list[str]) -> object:
    try:
        if operation == "replace":
            path, data, *stale = arguments
            etag = "stale" if any(stale) else files.info(path).etag
            return files.replace(path, data, etag=etag).path  # type: ignore[arg-type]
        answer = getattr(files, operation)(*arguments)
    except (FileExists, FileMissing, FileReplaced) as error:
        return type(error)
    if operation == "list":
        return [info.path for info in answer]
    return answer if operation == "read" else None


def _expected(oracle: dict[str, bytes], operation: str, arguments: list[str]) -> object:
    match operation, arguments:
        case "write" | "create", [path, data]:
            if operation == "create" and path in oracle:
                return FileExists
            oracle[path] = data  # type: ignore[assignment]
        case "replace", [path, data, stale]:
            if path not in oracle or stale:
                return FileReplaced if path in oracle else FileMissing
            oracle[path] = data  # type: ignore[assignment]
            return path
        case "delete", [path]:
            oracle.pop(path, None)
        case "move", [path, to]:
            if path not in oracle or to in oracle:
                return FileMissing if path not in oracle else FileExists
            oracle[to] = oracle.pop(path)
        case "read", [path]:
            return oracle.get(path, FileMissing)
        case "list", [folder]:
            return sorted(path for path in oracle if not folder or path.startswith(f"{folder}/"))
    return None


def test_of_many_processes_exactly_one_creates_and_no_step_of_their_counting_is_lost(
    tmp_path: Path,
) -> None:
    claims, processes = 25 * SCALE, 4
    FolderFiles(tmp_path).create("count", b"0")
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(processes)
    with context.Pool(processes, initializer=_share, initargs=(start,)) as pool:
        won = pool.map(_claim_all, [(str(tmp_path), claims)] * processes, chunksize=1)
    assert sorted(claim for claims in won for claim in claims) == list(range(claims))
    assert len(paths(FolderFiles(tmp_path), "claims")) == claims
    assert FolderFiles(tmp_path).read("count") == str(claims * processes).encode()
    assert sorted(os.listdir(tmp_path)) == ["claims", "count"]


def _share(start: object) -> None:
    globals()["_start"] = start


def _claim_all(order: tuple[str, int]) -> list[int]:
    folder, claims = order
    globals()["_start"].wait(60)
    _count(FolderFiles(Path(folder)), claims)
    return [claim for claim in range(claims) if _claimed(FolderFiles(Path(folder)), claim)]


def _claimed(files: Files, claim: int) -> bool:
    try:
        files.create(f"claims/{claim:04}", b"")
    except FileExists:
        return False
    return True


def test_an_address_below_the_root_has_a_path_and_one_elsewhere_has_none(files: Files) -> None:
    root = files.address
    assert files.path_of(f"{root}/zone/a.csv") == "zone/a.csv"
    assert [
        files.path_of(other)
        for other in (root, f"{root}/", f"{root}-2/zone/a.csv", "s3://other/zone/a.csv")
    ] == [None] * 4


@pytest.mark.parametrize(
    "size", [3, 33 * 1024 * 1024]
)  # a bucket's server copies the larger one itself
def test_only_the_file_that_was_meant_is_moved_or_removed(files: Files, size: int) -> None:
    meant = files.write("a", b"a" * size)
    other = files.write("a", b"b" * size)
    with pytest.raises(FileMissing, match="a"):
        files.move("a", "b", etag=meant.etag)
    files.delete("a", etag=meant.etag)
    files.delete("absent", etag=meant.etag)
    assert paths(files) == ["a"]
    moved = files.move("a", "b", etag=other.etag)
    assert (paths(files), files.read("b")[:1], moved.etag) == (["b"], b"b", files.info("b").etag)
    files.delete("b", etag=moved.etag)
    assert paths(files) == []


def test_of_a_file_that_is_replaced_again_and_again_a_move_takes_the_one_that_was_read(
    files: Files,
) -> None:
    """A producer writes its file anew while it is archived: no version vanishes unread, none is
    archived unread.
    """
    if type(files) in (AzureFiles, GoogleFiles):
        pytest.skip("a file that comes between check and deletion is deleted: see ObjectFiles")
    versions = 60 * SCALE

    def write(number: int) -> None:
        files.write("zone/a", f"{number:08}".encode())
        time.sleep(0.005)  # clocks of file systems tick every few milliseconds

    with ThreadPoolExecutor(1) as producer:
        writing = producer.submit(lambda: list(map(write, range(versions))))
        taken: dict[str, bytes] = {}
        while not writing.done():
            try:
                seen, data = files.info("zone/a"), files.read("zone/a")
                if files.info("zone/a").etag == seen.etag:
                    taken[files.move("zone/a", f"archive/{len(taken)}", etag=seen.etag).path] = data
            except FileMissing:
                continue
        writing.result()
    assert {path: files.read(path) for path in paths(files, "archive")} == taken
    assert f"{versions - 1:08}".encode() in {
        *taken.values(),
        *(files.read(path) for path in paths(files, "zone")),
    }


def test_without_links_following_them_lists_what_walking_does(files: Files) -> None:
    for path in ("a", "zone/a", "zone/sub/b", "zones/c"):
        files.write(path, b"one")
    strays: list[StrayLink] = []
    followed = sorted(files.follow("zone", stray=strays.append), key=lambda info: info.path)
    assert (followed, strays) == (list(files.list("zone")), [])
