"""Metadata trees written anew: addresses change, the rest does not, and what cannot be moved is
refused.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from lakebed.care.relocation import origins_of
from lakebed.engines.files import FolderFiles
from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.avro.rewriting import rewrite
from lakebed.engines.iceberg.avro.values import packed
from lakebed.engines.iceberg.upkeep.relocation import Relocation
from lakebed.errors import UsageError
from lakebed.settings import FilesSettings, Root
from tests.engines.iceberg.test_avro import container, text

OLD = "file:/old/lake"
LIST = {
    "type": "record",
    "name": "manifest_file",
    "fields": [
        {"name": "manifest_path", "type": "string"},
        {"name": "manifest_length", "type": "long"},
    ],
}
DATA_FILE = {
    "type": "record",
    "name": "r2",
    "fields": [
        {"name": "content", "type": "int"},
        {"name": "file_path", "type": "string"},
        {
            "name": "partition",
            "type": {
                "type": "record",
                "name": "r102",
                "fields": [{"name": "file_path", "type": "string"}],
            },
        },
    ],
}
MANIFEST = {
    "type": "record",
    "name": "manifest_entry",
    "fields": [{"name": "status", "type": "int"}, {"name": "data_file", "type": DATA_FILE}],
}


def entry(status: int, content: int, path: str) -> bytes:
    return packed(status) + packed(content) + text(path) + text(f"{OLD}/is a value")


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root.parse(tmp_path / "new lake")


def tree(root: Root, *entries: bytes, inside: str = OLD) -> str:
    """The files of a table, moved; returns where the catalog believes its metadata to be."""
    folder = root.folder / "shop/warehouse/silver/t/metadata"
    folder.mkdir(parents=True)
    manifest = container(MANIFEST, "deflate", (len(entries), b"".join(entries)))
    (folder / "m0.avro").write_bytes(manifest)
    place = f"{inside}/shop/warehouse/silver/t/metadata"
    (folder / "snap-1-x.avro").write_bytes(
        container(LIST, "deflate", (1, text(f"{place}/m0.avro") + packed(len(manifest))))
    )
    document = {
        "table-uuid": "u1",
        "location": place.removesuffix("/metadata"),
        "last-updated-ms": 5,
        "schemas": [{"fields": [{"name": "a", "doc": f"{OLD}/stays"}]}],
        "properties": {
            "write.data.path": "file:///old/lake/data",
            "other": "/old/lake-two",
            "s3": "s3://bucket/x",
        },
        "snapshots": [{"snapshot-id": 1, "manifest-list": f"{place}/snap-1-x.avro"}],
        "metadata-log": [{"timestamp-ms": 1, "metadata-file": f"{place}/00000-a.metadata.json"}],
    }
    (folder / "00001-b.metadata.json").write_text(json.dumps(document))
    return f"{place}/00001-b.metadata.json"


def relocation(root: Root, **options: Any) -> Relocation:
    places = FilesByUrl(root, FolderFiles(root.folder), FilesSettings())
    return Relocation(places, origin="/old/lake", root=root, **options)


def values(data: bytes, *paths: tuple[str, ...]) -> list[Any]:
    """What stands at these paths, in the order of the file."""
    found: list[Any] = []

    def note(value: Any) -> Any:
        found.append(value)
        return value

    rewrite(data, dict.fromkeys(paths, note))
    return found


def test_every_address_is_changed_and_nothing_else(root: Root) -> None:
    written = relocation(root).table(
        "t", tree(root, entry(1, 0, f"{OLD}/a.parquet"), entry(2, 1, "s3://elsewhere/b"))
    )
    place = Path(written.location.removeprefix("file://"))
    assert place.name.startswith("00002-")
    assert written.files == 3
    document = json.loads(place.read_text())
    assert document["location"] == root.at("shop/warehouse/silver/t")
    assert document["properties"] == {
        "write.data.path": root.at("data"),
        "other": "/old/lake-two",
        "s3": "s3://bucket/x",
    }
    assert document["schemas"][0]["fields"][0]["doc"] == f"{OLD}/stays"
    assert [one["metadata-file"].rsplit("/", 1)[-1] for one in document["metadata-log"]] == [
        "00000-a.metadata.json",
        "00001-b.metadata.json",
    ]
    made = Path(document["snapshots"][0]["manifest-list"].removeprefix("file://"))
    (manifest,) = place.parent.glob("m0-at*.avro")
    assert values(made.read_bytes(), ("manifest_path",), ("manifest_length",)) == [
        manifest.as_uri().replace("%20", " "),
        manifest.stat().st_size,
    ]
    paths = values(
        manifest.read_bytes(), ("data_file", "file_path"), ("data_file", "partition", "file_path")
    )
    assert paths == [
        root.at("a.parquet"),
        f"{OLD}/is a value",
        "s3://elsewhere/b",
        f"{OLD}/is a value",
    ]
    again = relocation(root)
    assert (
        again.table("t", f"{OLD}/shop/warehouse/silver/t/metadata/00001-b.metadata.json") == written
    ), "done again onto the same names"
    assert made.exists()


def test_looking_writes_nothing(root: Root) -> None:
    location = tree(root, entry(1, 0, f"{OLD}/a.parquet"))
    before = {file: file.read_bytes() for file in root.folder.rglob("*") if file.is_file()}
    assert relocation(root, only_look=True).table("t", location).files == 3
    assert {file: file.read_bytes() for file in root.folder.rglob("*") if file.is_file()} == before


def test_live_position_deletes_are_refused_and_dead_ones_are_not(root: Root) -> None:
    with pytest.raises(UsageError, match="position delete"):
        relocation(root).table("t", tree(root, entry(0, 1, f"{OLD}/deletes.parquet")))


@pytest.mark.parametrize(
    ("spelt", "moved"),
    [
        ("file:/old/lake/a", "/a"),
        ("file:///old/lake/a b", "/a b"),
        ("/old/lake/a", "/a"),
        ("/old/lake", ""),
        ("/old/lake2/a", None),
        ("/other/old/lake/a", None),
        ("s3://old/lake/a", None),
    ],
)
def test_whatever_lay_below_the_old_root_lies_below_the_new_one(
    root: Root, spelt: str, moved: str | None
) -> None:
    assert relocation(root).moved(spelt) == (spelt if moved is None else root.url + moved)


def test_the_old_root_is_told_by_the_pointers() -> None:
    tables = [
        "file:/a/b/shop/warehouse/silver/t/metadata/1.json",
        "file:///a/b/other/warehouse/x/y-1234/metadata/2.json",
    ]
    assert origins_of([*tables, "s3a://somewhere/else.json"]) == {"/a/b"}
    assert origins_of(["s3a://bucket/p/shop/warehouse/silver/t/metadata/1.json"]) == {
        "s3://bucket/p"
    }
