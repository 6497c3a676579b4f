"""Frozen files for programs that read paths."""

from pathlib import Path

import duckdb
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import BadFiles
from lakebed.landing import link_files
from lakebed.names import ZoneName
from lakebed.ports import Files
from lakebed.testing import MemoryFiles
from tests.support.lakes.landing_zones import zipped

ZONE = ZoneName("shop", "api_data")
NAMES = ("a.json", "sub/a.json", 'it\'s "quoted".json', "st*r[1].json", "ü #%20.json", "z.json.gz")


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    return MemoryFiles() if request.param == "memory" else FolderFiles(tmp_path / "lake")


def test_duckdb_reads_exactly_the_frozen_files_through_the_path(
    files: Files, tmp_path: Path
) -> None:
    frozen = []
    for number, name in enumerate(NAMES):
        text = f'{{"id": {number}}}\n'
        frozen.append(
            files.write(
                f"{ZONE.folder}/{name}", zipped(text) if name.endswith("gz") else text.encode()
            )
        )
    files.write(f"{ZONE.folder}/later.json", b'{"id": 99}\n')
    path = link_files(files, frozen, tmp_path / "scratch" / "zone")
    found = (
        duckdb.connect().execute(f"SELECT id FROM read_json_auto('{path}') ORDER BY id").fetchall()
    )
    assert found == [(number,) for number in range(len(NAMES))]


def test_filling_the_folder_again_leaves_nothing_of_before(files: Files, tmp_path: Path) -> None:
    first, second = (files.write(f"{ZONE.folder}/{name}", b"{}") for name in ("a.json", "b.json"))
    link_files(files, [first, second], tmp_path / "scratch")
    link_files(files, [second], tmp_path / "scratch")
    assert [place.name for place in (tmp_path / "scratch").iterdir()] == ["000000-b.json"]


def test_files_on_this_machine_are_not_copied(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path / "lake")
    link_files(files, [files.write(f"{ZONE.folder}/a.json", b"{}")], tmp_path / "scratch")
    assert (tmp_path / "scratch" / "000000-a.json").is_symlink()


def test_a_file_of_a_bucket_that_changed_is_not_copied(tmp_path: Path) -> None:
    files = MemoryFiles()
    frozen = files.write(f"{ZONE.folder}/a.json", b"{}")
    files.write(f"{ZONE.folder}/a.json", b'{"id": 1}')
    with pytest.raises(BadFiles, match="changed"):
        link_files(files, [frozen], tmp_path / "scratch")
