"""What only a bucket can do wrong: answers that get lost."""

from urllib.parse import urlsplit

import pytest

from lakebed.engines.files import open_files
from lakebed.errors import FileExists, FileReplaced, FilesUnreachable
from lakebed.settings import FilesSettings
from tests.servers.lossy import lossy_way
from tests.servers.s3 import Bucket

pytestmark = pytest.mark.s3


def through(port: int, settings: FilesSettings) -> FilesSettings:
    return settings.model_copy(update={"endpoint": f"http://127.0.0.1:{port}"})


def port_of(bucket: Bucket) -> int:
    return urlsplit(bucket.settings.endpoint).port or 0


def test_a_creator_whose_answer_was_lost_knows_its_own_file(bucket: Bucket) -> None:
    lost: list[bytes] = []

    def loses_the_first_put(sent: bytes) -> bool:
        if sent.startswith(b"PUT") and not lost:
            lost.append(sent)
            return True
        return False

    with lossy_way(port_of(bucket), loses=loses_the_first_put) as port:
        made = open_files(bucket.root, through(port, bucket.settings)).create("claim", b"mine")
    files = open_files(bucket.root, bucket.settings)
    assert lost
    assert made.etag == files.info("claim").etag
    assert files.read("claim") == b"mine"


def test_a_creator_whose_answer_was_lost_is_not_taken_for_another_that_wrote_the_same(
    bucket: Bucket,
) -> None:
    open_files(bucket.root, bucket.settings).create("claim", b"same bytes")
    with lossy_way(port_of(bucket), loses=lambda sent: False) as port, pytest.raises(FileExists):
        open_files(bucket.root, through(port, bucket.settings)).create("claim", b"same bytes")


def test_a_writer_whose_answer_was_lost_knows_its_own_replacement(bucket: Bucket) -> None:
    files = open_files(bucket.root, bucket.settings)
    seen = files.create("pointer", b"old")
    lost: list[bytes] = []

    def loses_the_first_put(sent: bytes) -> bool:
        if sent.startswith(b"PUT") and not lost:
            lost.append(sent)
            return True
        return False

    with lossy_way(port_of(bucket), loses=loses_the_first_put) as port:
        through_it = open_files(bucket.root, through(port, bucket.settings))
        made = through_it.replace("pointer", b"mine", etag=seen.etag)
        assert lost
        with pytest.raises(FileReplaced):
            through_it.replace("pointer", b"mine", etag=seen.etag)
    assert made.etag == files.info("pointer").etag
    assert files.read("pointer") == b"mine"


def test_a_way_that_loses_everything_is_reported(bucket: Bucket) -> None:
    with lossy_way(port_of(bucket), loses=lambda sent: True) as port:
        files = open_files(bucket.root, through(port, bucket.settings))
        for ask in (
            lambda: files.read("a"),
            lambda: list(files.list()),
            lambda: files.write("a", b""),
        ):
            with pytest.raises(FilesUnreachable):
                ask()
