"""Symbolic links: those in a zone, and those that programs get which read paths."""

from pathlib import Path

import duckdb
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import BadFiles, LinkRefused
from lakebed.landing import (
    ZoneReader,
    Zones,
    ZoneSpec,
    each_once,
    freeze,
    link_files,
    list_zone,
    plan_archive,
    processed_files,
)
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo, Files
from lakebed.testing import MemoryFiles, MemoryRecords
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


TABLE = TableName("shop", "bronze", "orders")
READY = ZoneSpec(settle_seconds=0)


@pytest.fixture
def zone(tmp_path: Path) -> Path:
    folder = tmp_path / "lake" / ZONE.folder
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("id\n1\n")
    return folder


def lake_files(zone: Path) -> FolderFiles:
    return FolderFiles(zone.parents[2])


def read(zone: Path, *taken: FileInfo) -> dict[str, str]:
    """The files that a table reads which has taken others, and what links lead to."""
    rows = [
        ConsumedFile(TABLE, ZONE, file.path, file.etag, file.size, "0123456789ab") for file in taken
    ]
    frozen = freeze(lake_files(zone), ZONE, READY).files
    chosen = each_once(frozen, rows)
    start = f"{ZONE.folder}/"
    return {file.path.removeprefix(start): file.target.removeprefix(start) for file in chosen}


def test_a_landing_file_that_was_replaced_by_a_link_to_it_is_read_once(zone: Path) -> None:
    (taken,) = list_zone(lake_files(zone), ZONE)
    (zone / "kept").mkdir()
    (zone / "a.csv").rename(zone / "kept" / "a.csv")
    (zone / "a.csv").symlink_to("kept/a.csv")
    (zone / "b.csv").symlink_to("kept/a.csv")
    assert read(zone) == {"kept/a.csv": "kept/a.csv"}
    assert read(zone, taken) == {"a.csv": "kept/a.csv"}  # the path that the ledger has
    (zone / "kept").rename(zone / "_kept")
    for name in ("a.csv", "b.csv"):
        (zone / name).unlink()
        (zone / name).symlink_to("_kept/a.csv")
    assert read(zone) == {"a.csv": "_kept/a.csv"}


@pytest.mark.parametrize("where", ["../../elsewhere/a.csv", "../other/a.csv", "nowhere.csv"])
def test_a_landing_file_that_was_moved_away_behind_a_link_is_never_taken_for_gone(
    zone: Path, where: str
) -> None:
    target = zone / where
    if "nowhere" not in where:
        target.parent.mkdir()
        (zone / "a.csv").rename(target)
    (zone / "a.csv").unlink(missing_ok=True)
    (zone / "a.csv").symlink_to(where)
    with pytest.raises(LinkRefused) as refused:
        freeze(lake_files(zone), ZONE, READY)
    assert refused.value.where == f"{ZONE.folder}/a.csv"
    assert str(target.resolve()) in refused.value.what
    shown = Zones(lake_files(zone), MemoryRecords(), readers=lambda: ()).show(str(ZONE))
    assert [link.path for link in shown.refused_links] == [f"{ZONE.folder}/a.csv"]


def test_links_that_no_run_would_read_are_passed_over(zone: Path, tmp_path: Path) -> None:
    for name in (".hidden", "_notes", "b.csv.tmp"):
        (zone / name).symlink_to(tmp_path)
    assert read(zone) == {"a.csv": ""}


def test_archived_files_behind_a_broken_link_are_not_left_out_of_a_full_refresh(
    zone: Path,
) -> None:
    (zone / "_processed").mkdir()
    (zone / "_processed" / "0123456789ab").symlink_to("../../elsewhere")
    assert read(zone) == {"a.csv": ""}
    with pytest.raises(LinkRefused, match="_processed/0123456789ab"):
        processed_files(lake_files(zone), ZONE, READY)


def test_archiving_moves_neither_a_link_nor_what_it_leads_to(zone: Path) -> None:
    (zone / "b.csv").write_text("id\n2\n")
    (zone / "link.csv").symlink_to("a.csv")
    present = list_zone(lake_files(zone), ZONE)
    rows = [
        ConsumedFile(TABLE, ZONE, file.path, file.etag, file.size, "0123456789ab")
        for file in present
    ]
    moves = plan_archive(present, rows, [(TABLE, None)])
    assert [move.path for move in moves] == [f"{ZONE.folder}/b.csv"]


def test_zone_show_says_which_path_of_a_file_is_read(zone: Path) -> None:
    (zone / "link.csv").symlink_to("a.csv")
    readers = (ZoneReader(TABLE, ZONE),)
    shown = Zones(lake_files(zone), MemoryRecords(), readers=lambda: readers).show(str(ZONE))
    assert [(file.path, file.state) for file in shown.files] == [
        ("a.csv", "waiting"),
        ("link.csv", "ignored"),
    ]
    assert "read once" in shown.files[1].reason
