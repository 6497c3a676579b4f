"""Symbolic links below a folder: followed within it, and named where they lead elsewhere."""

import os
from pathlib import Path

import pytest

from lakebed.engines.files import FolderFiles
from lakebed.ports import StrayLink


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = FolderFiles(tmp_path / "lake")
    files.write("zone/a", b"one")
    files.write("zone/sub/b", b"two")
    files.write("other/c", b"three")
    return tmp_path / "lake"


def follow(root: Path, folder: str = "zone") -> tuple[dict[str, str], dict[str, str]]:
    """The targets of files by their paths, and the faults of stray links by theirs."""
    strays: list[StrayLink] = []
    listed = list(FolderFiles(root).follow(folder, stray=strays.append))
    paths = [info.path for info in listed]
    assert len(set(paths)) == len(paths)
    return {info.path: info.target for info in listed}, {link.path: link.fault for link in strays}


def test_files_behind_links_within_the_folder_are_listed_with_their_own_paths(root: Path) -> None:
    (root / "zone" / "c").symlink_to("sub/b")
    (root / "zone" / "also").symlink_to(root / "zone" / "sub")
    (root / "zone" / "sub" / "up").symlink_to("../a")
    listed, strays = follow(root)
    assert listed == {
        "zone/a": "",
        "zone/sub/b": "",
        "zone/sub/up": "zone/a",
        "zone/c": "zone/sub/b",
        "zone/also/b": "zone/sub/b",
        "zone/also/up": "zone/a",
    }
    assert strays == {}
    files = FolderFiles(root)
    etags = {info.path: info.etag for info in files.follow("zone", stray=print)}
    assert etags["zone/also/b"] == files.info("zone/also/b").etag == files.info("zone/sub/b").etag


def test_links_that_lead_elsewhere_are_named_and_nothing_behind_them_is_listed(
    root: Path, tmp_path: Path
) -> None:
    zone = root / "zone"
    (tmp_path / "outside").mkdir()
    os.mkfifo(zone / "pipe")
    for name, target in {
        "out": str(tmp_path / "outside"),
        "neighbour": "../other",
        "broken": "nowhere",
        "self": "self",
        "around": "..",
        "here": ".",
        "to_pipe": "pipe",
    }.items():
        (zone / name).symlink_to(target)
    listed, strays = follow(root)
    assert sorted(listed) == ["zone/a", "zone/sub/b"]
    assert strays == {
        "zone/out": "leads out of zone",
        "zone/neighbour": "leads out of zone",
        "zone/around": "leads out of zone",
        "zone/broken": "leads to nothing",
        "zone/self": "leads back to itself",
        "zone/here": "leads back to a folder that it is in",
        "zone/to_pipe": "leads to what is neither a file nor a folder",
    }


def test_links_that_lead_to_each_other_end(root: Path) -> None:
    for folder, other in (("x", "y"), ("y", "x")):
        (root / "zone" / folder).mkdir()
        (root / "zone" / folder / other).symlink_to(f"../{other}")
    listed, strays = follow(root)
    assert sorted(listed) == ["zone/a", "zone/sub/b"]
    assert set(strays) == {"zone/x/y/x", "zone/y/x/y"}


def test_a_folder_that_a_broken_link_stands_for_is_not_taken_for_empty(root: Path) -> None:
    (root / "gone").symlink_to("nowhere")
    assert follow(root, "gone") == ({}, {"gone": "leads to nothing"})
    assert follow(root, "gone/zone") == ({}, {"gone/zone": "leads to nothing"})
    assert follow(root, "never/there") == ({}, {})


def test_a_folder_that_is_a_link_itself_is_followed_as_what_it_leads_to(root: Path) -> None:
    (root / "moved").symlink_to("zone")
    (root / "zone" / "c").symlink_to("sub/b")
    listed, strays = follow(root, "moved")
    assert listed == {"moved/a": "", "moved/sub/b": "", "moved/c": "moved/sub/b"}
    assert strays == {}
