"""Whose keys are used: of the settings, of AWS's variables, of a profile, of the machine."""

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from lakebed.engines.duckdb import s3_secret
from lakebed.engines.files import open_files
from lakebed.engines.files.aws_keys import found_keys
from lakebed.engines.files.s3 import S3Files, TransferSizes
from lakebed.engines.iceberg import file_properties
from lakebed.engines.spark.conf import session_conf
from lakebed.errors import FilesRefused, MissingExtra
from lakebed.settings import FilesSettings, Root, Settings
from tests.servers.aws_credentials import credential_service
from tests.servers.s3 import Bucket

AWS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def _no_other_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine that knows nothing of AWS."""
    for name in AWS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")  # as obstore spells it
    found_keys.cache_clear()
    yield
    found_keys.cache_clear()


def profile(tmp_path: Path, key: str, secret: str, *, token: str = "") -> str:
    """A new profile with these keys."""
    name = f"lake-{uuid4().hex[:8]}"
    with (tmp_path / "credentials").open("a") as file:
        file.write(f"[{name}]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
        if token:
            file.write(f"aws_session_token = {token}\n")
    return name


def keyless(bucket: Bucket, **changes: str) -> FilesSettings:
    unset = {"access_key_id": None, "secret_access_key": None}
    return bucket.settings.model_copy(update={**unset, **changes})


@pytest.mark.s3
def test_the_keys_of_a_profile_reach_the_bucket(bucket: Bucket, tmp_path: Path) -> None:
    server = bucket.server
    right = profile(tmp_path, server.access_key_id, server.secret_access_key)
    settings = keyless(bucket, profile=right)
    files = S3Files(bucket.root, settings, sizes=TransferSizes(part=5 * MIB))
    files.probe()
    files.create("a", b"written")
    files.create("large", iter([b"x" * 6 * MIB]))  # which Lakebed signs itself
    assert [(info.path, info.size) for info in files.list()] == [("a", 7), ("large", 6 * MIB)]


@pytest.mark.s3
def test_a_profile_that_is_wrong_or_absent_is_named_and_shows_no_secret(
    bucket: Bucket, tmp_path: Path
) -> None:
    wrong = profile(tmp_path, bucket.server.access_key_id, "canary-secret")
    with pytest.raises(FilesRefused, match="SignatureDoesNotMatch") as refused:
        open_files(bucket.root, keyless(bucket, profile=wrong)).read("a")
    assert "canary-secret" not in str(refused.value)
    with pytest.raises(FilesRefused, match=r"request: The config profile \(no-such-profile\)"):
        open_files(bucket.root, keyless(bucket, profile="no-such-profile")).read("a")


@pytest.mark.s3
def test_keys_in_variables_win_over_a_profile(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = profile(tmp_path, "other", "other")
    open_files(bucket.root, bucket.settings.model_copy(update={"profile": wrong})).create("a", b"")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bucket.server.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.server.secret_access_key)
    open_files(bucket.root, keyless(bucket, profile=wrong)).create("b", b"")


@pytest.mark.s3
@pytest.mark.parametrize("with_boto3", [True, False])
def test_the_keys_of_a_container_reach_the_bucket(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_boto3: bool
) -> None:
    server = bucket.server
    (tmp_path / "pod token").write_text("of the pod")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "pod token"))
    if not with_boto3:  # obstore asks alone, as before there was the extra
        monkeypatch.setitem(sys.modules, "boto3", None)
    with credential_service(server.access_key_id, server.secret_access_key) as service:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{service.url}/container")
        files = S3Files(bucket.root, keyless(bucket), sizes=TransferSizes(part=5 * MIB))
        files.create("a", b"written")
        files.create("large", iter([b"x" * 6 * MIB]))
    assert "GET /container" in service.asked
    assert files.info("large").size == 6 * MIB


@pytest.mark.s3
def test_the_keys_of_an_instance_reach_the_bucket_and_duckdb(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = bucket.server
    with credential_service(server.access_key_id, server.secret_access_key) as service:
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.url)
        open_files(bucket.root, keyless(bucket)).create("a", b"written")
        [statement] = s3_secret(bucket.root, keyless(bucket), {})
    assert service.asked[0] == "PUT /latest/api/token"  # IMDSv2
    assert f"KEY_ID '{server.access_key_id}'" in statement


def test_without_any_keys_the_error_says_so() -> None:
    with pytest.raises(FilesRefused, match="there are no keys"):
        s3_secret(Root.parse("s3://lake"), FilesSettings(), {})


def test_a_profile_without_the_extra_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lakebed\[aws\]'"):
        open_files(Root.parse("s3://lake"), FilesSettings(profile="someone"))


def test_every_engine_is_given_the_keys_of_the_profile(tmp_path: Path) -> None:
    """As if they were in the settings, which real engines are tested with."""
    root = Root.parse("s3://lake/prod")
    named = {"profile": profile(tmp_path, "key", "secret", token="token")}
    spelt = {"access_key_id": "key", "secret_access_key": "secret", "session_token": "token"}
    catalog = {"kind": "postgres", "url": "postgresql://db/lake"}
    by_name, by_keys = (
        Settings.model_validate({"files": files, "catalog": catalog}) for files in (named, spelt)
    )
    assert session_conf(by_name, root) == session_conf(by_keys, root)
    assert file_properties(by_name.files) == file_properties(by_keys.files)
    assert s3_secret(root, by_name.files, {}) == s3_secret(root, by_keys.files, {})
    assert session_conf(by_name, root)["spark.hadoop.fs.s3a.session.token"] == "token"
    assert file_properties(by_name.files)["s3.session-token"] == "token"
    assert "SESSION_TOKEN 'token'" in s3_secret(root, by_name.files, {})[0]
