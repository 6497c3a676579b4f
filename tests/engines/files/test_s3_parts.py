"""Large files in a bucket: made of parts, and none of them left behind."""

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from lakebed.engines.files.s3 import S3Files, TransferSizes
from lakebed.engines.files.s3_signing import AwsKeys, S3Request, signed_headers
from lakebed.errors import FileExists, FileMissing, FilesUnreachable
from lakebed.settings import FilesSettings
from tests.servers.lossy import lossy_way
from tests.servers.s3 import Bucket

pytestmark = pytest.mark.s3

MIB = 1024 * 1024
# Sizes of a server's least, in place of AWS's most.
SMALL = TransferSizes(part=5 * MIB, through_us=MIB, one_copy=2 * MIB, copied_part=5 * MIB)
SIZE = 12 * MIB + 345


def small(bucket: Bucket, settings: FilesSettings | None = None) -> S3Files:
    return S3Files(bucket.root, settings or bucket.settings, sizes=SMALL)


def content(size: int = SIZE) -> bytes:
    return b"".join(b"%08d" % number for number in range(size // 8 + 1))[:size]


def pieces(data: bytes) -> Iterator[bytes]:
    return (data[start : start + 777_777] for start in range(0, len(data), 777_777))


def unfinished_uploads(bucket: Bucket) -> int:
    """How many uploads below its prefix the server keeps parts of."""
    server = bucket.server
    request = S3Request(
        "GET", f"{server.endpoint}/{server.bucket}", {"uploads": "", "prefix": bucket.prefix}
    )
    keys = AwsKeys(server.access_key_id, server.secret_access_key)
    headers = signed_headers(request, keys, region=server.region, now=datetime.now(UTC))
    url = f"{request.url}?{request.query_text}"
    with urlopen(Request(url, headers=headers), timeout=30) as answer:
        return int(answer.read().decode().count("<UploadId>"))


def test_a_file_over_the_limit_of_a_copy_is_moved_whole(bucket: Bucket) -> None:
    files = small(bucket)
    files.write("zone/a #1", content())
    moved = files.move("zone/a #1", "archive/b ü")
    assert [info.path for info in files.list()] == ["archive/b ü"]
    assert (moved.size, moved.etag) == (SIZE, files.info("archive/b ü").etag)
    assert files.read("archive/b ü") == content()
    assert unfinished_uploads(bucket) == 0


def test_a_file_over_the_limit_of_a_copy_replaces_nothing_and_stays(bucket: Bucket) -> None:
    files = small(bucket)
    files.write("a", content())
    files.write("b", b"b")
    with pytest.raises(FileExists, match="b"):
        files.move("a", "b")
    assert (files.read("a"), files.read("b")) == (content(), b"b")
    assert unfinished_uploads(bucket) == 0


class Interrupted(S3Files):
    """Another writer does something while the server copies."""

    def meanwhile(self) -> None:
        raise NotImplementedError

    def _etag(self, path: str) -> str | None:
        seen = super()._etag(path)
        if path == "b" and seen is None:  # before the copy
            self.meanwhile()
        return seen


class TakesTheTarget(Interrupted):
    def meanwhile(self) -> None:
        self.write("b", b"another's")


class ReplacesTheSource(Interrupted):
    def meanwhile(self) -> None:
        self.write("a", b"new " + content())


class RemovesTheSource(Interrupted):
    def meanwhile(self) -> None:
        self.delete("a")


@pytest.mark.parametrize(
    ("files", "told", "left"),
    [
        (TakesTheTarget, FileExists, {"a": content(), "b": b"another's"}),
        (ReplacesTheSource, FileMissing, {"a": b"new " + content()}),
        (RemovesTheSource, FileMissing, {}),
    ],
)
def test_a_large_move_that_is_overtaken_loses_nothing_and_leaves_no_part(
    bucket: Bucket, files: type[S3Files], told: type[Exception], left: dict[str, bytes]
) -> None:
    raced = files(bucket.root, bucket.settings, sizes=SMALL)
    raced.write("a", content())
    with pytest.raises(told):
        raced.move("a", "b")
    assert {info.path: raced.read(info.path) for info in raced.list()} == left
    assert unfinished_uploads(bucket) == 0


def test_a_stream_that_breaks_off_leaves_no_part_in_the_bucket(bucket: Bucket) -> None:
    files, seen = small(bucket), list[int]()

    def broken() -> Iterator[bytes]:
        yield from pieces(content())
        seen.append(unfinished_uploads(bucket))
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        files.create("a", broken())
    assert (seen, unfinished_uploads(bucket)) == ([1], 0)
    assert list(files.list()) == []


def test_a_file_that_appears_while_a_stream_is_uploaded_is_kept(bucket: Bucket) -> None:
    files = small(bucket)

    def slow() -> Iterator[bytes]:
        yield from pieces(content())
        files.create("a", b"another's")

    with pytest.raises(FileExists, match="a"):
        files.create("a", slow())
    assert files.read("a") == b"another's"
    assert unfinished_uploads(bucket) == 0


@pytest.mark.parametrize("lost", [b"POST", b"PUT"])
def test_an_upload_whose_answers_are_lost_is_finished_and_known_as_ones_own(
    bucket: Bucket, lost: bytes
) -> None:
    seen: list[bytes] = []

    def loses(sent: bytes) -> bool:
        """The first answer of this kind: of a part, or of the completion."""
        first = sent.startswith(lost) and b"uploadId" in sent[:2000]
        if first and sent[:300] not in seen and not seen:
            seen.append(sent[:300])
            return True
        return False

    port = urlsplit(bucket.settings.endpoint).port or 0
    with lossy_way(port, loses=loses) as way:
        through = bucket.settings.model_copy(update={"endpoint": f"http://127.0.0.1:{way}"})
        made = small(bucket, through).create("a", pieces(content()))
    files = small(bucket)
    assert seen
    assert made.etag == files.info("a").etag
    assert files.read("a") == content()
    assert unfinished_uploads(bucket) == 0


def test_a_server_that_is_gone_is_reported(bucket: Bucket) -> None:
    with lossy_way(urlsplit(bucket.settings.endpoint).port or 0, loses=lambda _: True) as way:
        through = bucket.settings.model_copy(update={"endpoint": f"http://127.0.0.1:{way}"})
        with pytest.raises(FilesUnreachable):
            small(bucket, through).write("a", pieces(content()))
