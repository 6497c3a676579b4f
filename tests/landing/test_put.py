"""Files put into a zone, and what must not get out of it."""

import tracemalloc
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import BadName, FileExists, LinkRefused
from lakebed.landing import ZoneSpec, freeze, put_file, put_local_file
from lakebed.names import ZoneName
from lakebed.testing import MemoryFiles

ZONE = ZoneName("shop", "orders")


@pytest.mark.parametrize(
    "name",
    [
        "a.csv",
        "sub/a.csv",
        "a b.csv",
        "ü☃.csv",
        "a#b%20c.csv",
        "a*[1]{2}.csv",
        "%2e%2e/a.csv",
        "...a".lstrip(".") + ".csv",
        "a..b.csv",
    ],
)
def test_a_file_keeps_its_name(name: str, tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    assert put_file(files, ZONE, name, b"id\n").path == f"shop/landing/orders/{name}"
    assert (tmp_path / "shop/landing/orders" / name).read_bytes() == b"id\n"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "lead out of the zone"),
        ("..", "lead out of the zone"),
        ("../a.csv", "lead out of the zone"),
        ("sub/../../a.csv", "lead out of the zone"),
        ("/etc/passwd", "lead out of the zone"),
        ("sub//a.csv", "lead out of the zone"),
        ("sub/", "lead out of the zone"),
        ("./a.csv", "lead out of the zone"),
        ("..\\a.csv", "not allowed"),
        ("C:\\a.csv", "not allowed"),
        ("a\0.csv", "not allowed"),
        ("a\n.csv", "not allowed"),
        ("a\x7f.csv", "not allowed"),
        ("_processed/a.csv", "are not read"),
        ("sub/_a.csv", "are not read"),
        (".a.csv", "are not read"),
        ("zone.yaml", "settings"),
        ("a.csv.tmp", "still being written"),
        ("a.csv~", "still being written"),
        ("a\ud800.csv", "Unicode"),
    ],
)
def test_a_name_that_leads_elsewhere_or_would_not_be_read_is_refused(
    name: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(BadName, match=why):
        put_file(FolderFiles(tmp_path / "lake"), ZONE, name, b"id\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_is_replaced_only_on_demand() -> None:
    files = MemoryFiles()
    put_file(files, ZONE, "a.csv", b"1")
    with pytest.raises(FileExists, match="--replace"):
        put_file(files, ZONE, "a.csv", b"2")
    assert files.read(put_file(files, ZONE, "a.csv", b"2", replace=True).path) == b"2"


def test_samples_go_to_their_own_folder(tmp_path: Path) -> None:
    files = MemoryFiles()
    (tmp_path / "Orders 1.csv").write_bytes(b"id\n")
    assert (
        put_local_file(files, ZONE, tmp_path / "Orders 1.csv").path
        == "shop/landing/orders/Orders 1.csv"
    )
    put_local_file(files, ZONE, tmp_path / "Orders 1.csv", name="s.csv", sample=True)
    assert [file.path for file in freeze(files, ZONE, ZoneSpec(settle_seconds=0)).files] == [
        "shop/landing/orders/Orders 1.csv"
    ]


def test_nothing_outside_the_lake_is_read_or_written_through_links(tmp_path: Path) -> None:
    outside, zone = tmp_path / "outside", tmp_path / "lake" / ZONE.folder
    outside.mkdir()
    (outside / "secret.csv").write_text("id\n1\n")
    zone.mkdir(parents=True)
    (zone / "link.csv").symlink_to(outside / "secret.csv")
    (zone / "folder").symlink_to(outside)
    files = FolderFiles(tmp_path / "lake")
    with pytest.raises(LinkRefused, match=r"leads out of shop/landing/orders: to .*/outside"):
        freeze(files, ZONE, ZoneSpec(settle_seconds=0))
    with pytest.raises(BadName, match="out of the lake"):
        put_file(files, ZONE, "folder/a.csv", b"id\n")
    put_file(
        files, ZONE, "link.csv", b"id\n2\n", replace=True
    )  # the link goes, what it led to stays
    assert (outside / "secret.csv").read_text() == "id\n1\n"
    assert sorted(path.name for path in outside.iterdir()) == ["secret.csv"]


def test_a_zone_that_is_itself_a_link_out_of_the_lake_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.csv").write_text("id\n1\n")
    (tmp_path / "lake" / "shop" / "landing").mkdir(parents=True)
    (tmp_path / "lake" / ZONE.folder).symlink_to(tmp_path / "outside")
    with pytest.raises(BadName, match="out of the lake"):
        freeze(FolderFiles(tmp_path / "lake"), ZONE, ZoneSpec(settle_seconds=0))


@pytest.mark.parametrize("replace", [False, True])
def test_a_local_file_larger_than_memory_can_be_put(tmp_path: Path, replace: bool) -> None:
    local = tmp_path / "large.csv"
    with local.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    tracemalloc.start()
    try:
        put_local_file(FolderFiles(tmp_path / "lake"), ZONE, local, replace=replace)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 16 * 1024 * 1024
