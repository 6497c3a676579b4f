"""Roots: folders and buckets, and one spelling for every place."""

from pathlib import Path

import pytest

from lakebed.errors import BadRoot
from lakebed.settings import SETTINGS_FILE, Root, find_root, normalized_location


@pytest.mark.parametrize("sign", ["#", "%", "?"])
@pytest.mark.parametrize("root", ["/lakes/a{}b", "s3://bucket/a{}b"])
def test_a_root_that_engines_read_differently_is_refused(root: str, sign: str) -> None:
    with pytest.raises(BadRoot, match="may not contain") as refused:
        Root.parse(root.format(sign))
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("root", ["gs://bucket/x", "http://host/x", "s3://ab/x", "s3:///x"])
def test_what_is_neither_folder_nor_bucket_is_refused(root: str) -> None:
    with pytest.raises(BadRoot):
        Root.parse(root)


def test_a_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = Root.parse("my lake")
    assert root.folder == tmp_path.resolve() / "my lake"
    assert root.url == f"file://{root.folder}"
    assert str(root) == str(root.folder)


def test_a_bucket_root_knows_bucket_and_prefix() -> None:
    root = Root.parse("s3://bucket/some/prefix/")
    assert (root.bucket, root.prefix, root.is_bucket) == ("bucket", "some/prefix", True)
    assert root.at("a/b") == "s3://bucket/some/prefix/a/b"
    with pytest.raises(BadRoot):
        _ = root.folder


@pytest.mark.parametrize("location", ["file:/l/s/x/y", "file:///l/s/x/y", "/l/s/x/y"])
def test_every_spelling_of_a_file_is_below_the_same_root(location: str) -> None:
    assert Root.parse("/l/s").relative(location) == "x/y"


@pytest.mark.parametrize("location", ["s3://bucket/p/x", "s3a://bucket/p/x", "s3n://bucket/p/x"])
def test_every_spelling_of_a_bucket_is_below_the_same_root(location: str) -> None:
    assert Root.parse("s3://bucket/p").relative(location) == "x"


def test_a_neighbour_with_a_longer_name_is_elsewhere() -> None:
    assert Root.parse("/l/s").relative("file:///l/s2/x") is None
    assert Root.parse("s3://bucket/p").relative("s3://bucket/pp/x") is None
    assert normalized_location("hdfs://h/x") == "hdfs://h/x"


def test_a_lake_is_found_from_any_folder_within(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_root(inner) is None
    (tmp_path / SETTINGS_FILE).touch()
    found = find_root(inner)
    assert found is not None
    assert found.folder == tmp_path.resolve()
