"""The probe against real servers: good ones, bad ones and absent ones."""

import socket
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from lakebed.engines.files import open_files
from lakebed.errors import FilesRefused, FilesUnreachable, UnsafeStore
from lakebed.settings import FilesSettings, Root
from tests.servers.processes import LOOPBACK, free_ports
from tests.servers.rclone import rclone_s3
from tests.servers.s3 import Bucket, S3Server

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def rclone() -> Iterator[S3Server]:
    with rclone_s3() as server:
        yield server


def unreachable(settings: FilesSettings, *, root: str = "s3://lake/x") -> str:
    with pytest.raises(FilesUnreachable) as caught:
        open_files(Root.parse(root), settings).probe()
    return str(caught.value)


def test_seaweedfs_is_accepted_and_left_as_it_was(bucket: Bucket) -> None:
    files = open_files(bucket.root, bucket.settings)
    files.probe()
    assert list(files.list()) == []


def test_rclone_is_refused_because_every_racer_wins(rclone: S3Server) -> None:
    place = rclone.fresh_prefix()
    files = open_files(place.root, place.settings)
    with pytest.raises(
        UnsafeStore, match=r"not atomic: of 4 racing writers of one file [234] were told"
    ) as refused:
        files.probe()
    # What is left there is rclone's affair: it may finish a racer's write after the probe has
    # deleted the file.
    assert place.url in str(refused.value)


def test_a_server_that_is_not_there_is_reported_in_time(bucket: Bucket) -> None:
    [port] = free_ports(1)
    settings = bucket.settings.model_copy(update={"endpoint": f"http://{LOOPBACK}:{port}"})
    assert settings.endpoint in unreachable(settings)


def test_a_server_that_never_answers_is_reported_in_time(bucket: Bucket) -> None:
    with socket.create_server((LOOPBACK, 0)) as silent:
        endpoint = f"http://{LOOPBACK}:{silent.getsockname()[1]}"
        unreachable(bucket.settings.model_copy(update={"endpoint": endpoint}))


def test_an_unknown_host_is_reported_in_time(bucket: Bucket) -> None:
    settings = bucket.settings.model_copy(update={"endpoint": "http://no-such-host.invalid:8333"})
    assert "no-such-host.invalid" in unreachable(settings)


def test_a_wrong_secret_is_reported_without_showing_it(bucket: Bucket) -> None:
    wrong = bucket.settings.model_copy(update={"secret_access_key": SecretStr("canary-secret")})
    with pytest.raises(FilesRefused, match="SignatureDoesNotMatch") as refused:
        open_files(bucket.root, wrong).probe()
    assert "canary-secret" not in str(refused.value)


def test_a_bucket_that_is_not_there_is_told_from_a_missing_file(bucket: Bucket) -> None:
    with pytest.raises(FilesRefused, match="no such bucket"):
        open_files(Root.parse("s3://no-such-bucket/x"), bucket.settings).read("a")
    with pytest.raises(FilesRefused, match="no such bucket"):
        list(open_files(Root.parse("s3://no-such-bucket/x"), bucket.settings).list())


def test_a_session_token_of_other_keys_is_not_sent(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of somebody else")
    files = open_files(bucket.root, bucket.settings)
    files.create("a", b"written")
    assert files.read("a") == b"written"


def test_without_keys_in_the_settings_those_of_the_environment_are_used(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bucket.server.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.server.secret_access_key)
    keyless = bucket.settings.model_copy(update={"access_key_id": None, "secret_access_key": None})
    open_files(bucket.root, keyless).create("a", b"")
