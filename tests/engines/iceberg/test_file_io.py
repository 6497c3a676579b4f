"""Metadata files on disk, written without PyArrow."""

from pathlib import Path

import pytest
from pyiceberg.io import load_file_io

from lakebed.engines.iceberg.metadata.file_io import DiskFileIO, open_file_io


@pytest.mark.parametrize("form", ["file://{}", "file:{}", "{}"])
def test_every_form_of_a_location_is_the_file_that_pyiceberg_means(
    tmp_path: Path, form: str
) -> None:
    location = form.format(tmp_path / "new folder" / "it's 1%.json")
    with open_file_io({}, location).new_output(location).create() as file:
        file.write(b"{}")
    theirs = load_file_io({}, location).new_input(location)
    assert len(theirs) == 2
    with open_file_io({}, location).new_input(location).open() as file:
        assert file.read() == b"{}"
    open_file_io({}, location).delete(location)
    assert not theirs.exists()


def test_a_file_that_exists_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    output = DiskFileIO().new_output(str(tmp_path / "a.json"))
    with output.create() as file:
        file.write(b"first")
    with pytest.raises(FileExistsError):
        output.create()
    assert len(output.to_input_file()) == 5


def test_a_file_that_is_gone_is_missed(tmp_path: Path) -> None:
    absent = DiskFileIO().new_input(str(tmp_path / "none.json"))
    assert not absent.exists()
    with pytest.raises(FileNotFoundError):
        absent.open()


def test_a_bucket_is_left_to_pyiceberg() -> None:
    assert not isinstance(open_file_io({"s3.region": "us-east-1"}, "s3://b/a.json"), DiskFileIO)
