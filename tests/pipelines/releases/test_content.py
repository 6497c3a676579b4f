"""Content is kept by what it is, and what differs is told."""

import hashlib
from pathlib import Path

import pytest

from lakebed.engines.files.folder import FolderFiles
from lakebed.errors import DamagedRelease
from lakebed.pipelines.releases.content import (
    OBJECTS,
    ensure_stored,
    fetch_content,
    object_path,
    store_content,
)
from lakebed.pipelines.releases.diff import compare, summary_lines
from lakebed.testing import MemoryFiles

SQL, BINARY = b"SELECT 1 AS id\n", bytes(range(256))


def test_content_is_named_by_its_sha256_and_kept_once() -> None:
    files = MemoryFiles()
    kept = store_content(
        files, {"pipeline.sql": SQL, "tests/quality/same.sql": SQL, "model.bin": BINARY}
    )
    assert kept["pipeline.sql"] == kept["tests/quality/same.sql"] == hashlib.sha256(SQL).hexdigest()
    assert {file.path for file in files.list(OBJECTS)} == {
        object_path(digest) for digest in kept.values()
    }
    assert fetch_content(files, kept) == {
        "pipeline.sql": SQL,
        "tests/quality/same.sql": SQL,
        "model.bin": BINARY,
    }


def test_keeping_other_content_leaves_the_former_as_it_was() -> None:
    files = MemoryFiles()
    first = store_content(files, {"pipeline.sql": SQL})
    store_content(files, {"pipeline.sql": b"SELECT 2"})
    assert fetch_content(files, first) == {"pipeline.sql": SQL}


def test_a_flipped_byte_is_seen_and_released_again_it_is_whole(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    kept = store_content(files, {"pipeline.sql": SQL})
    stored = tmp_path / object_path(kept["pipeline.sql"])
    stored.write_bytes(bytes([SQL[0] ^ 1]) + SQL[1:])
    with pytest.raises(DamagedRelease, match=r"pipeline\.sql was changed: its SHA-256") as damaged:
        fetch_content(files, kept)
    assert damaged.value.where == object_path(kept["pipeline.sql"])
    store_content(files, {"pipeline.sql": SQL})
    assert fetch_content(files, kept) == {"pipeline.sql": SQL}


def test_what_is_gone_is_said_to_be() -> None:
    files = MemoryFiles()
    kept = store_content(files, {"pipeline.sql": SQL})
    files.delete(object_path(kept["pipeline.sql"]))
    with pytest.raises(DamagedRelease, match="is gone"):
        fetch_content(files, kept)
    ensure_stored(files, {"pipeline.sql": SQL})
    assert fetch_content(files, kept) == {"pipeline.sql": SQL}


def test_reused_content_becomes_young() -> None:
    files = MemoryFiles()
    place = object_path(store_content(files, {"a": SQL})["a"])
    before = files.info(place).modified
    store_content(files, {"b": SQL})
    assert files.info(place).modified > before


BEFORE = {
    "config.yaml": b"tags: [a]\n",
    "pipeline.sql": b"SELECT 1 AS id\nFROM a\n",
    "m.bin": BINARY,
    "gone.sql": b"x\n",
}
AFTER = {
    "config.yaml": b"tags: [a]\n",
    "pipeline.sql": b"SELECT 2 AS id\nFROM a",
    "m.bin": BINARY[::-1],
    "new.sql": b"y\n",
}
TEXT = """\
--- release 1/gone.sql
+++ /dev/null
@@ -1 +0,0 @@
-x
Binary files release 1/m.bin and draft/m.bin differ
--- /dev/null
+++ draft/new.sql
@@ -0,0 +1 @@
+y
--- release 1/pipeline.sql
+++ draft/pipeline.sql
@@ -1,2 +1,2 @@
-SELECT 1 AS id
-FROM a
+SELECT 2 AS id
+FROM a
\\ No newline at end of file
"""


def test_a_diff_tells_files_and_lines() -> None:
    changes = compare(BEFORE, AFTER, names=("release 1", "draft"))
    assert (changes.added, changes.removed, changes.changed) == (
        ("new.sql",),
        ("gone.sql",),
        ("m.bin", "pipeline.sql"),
    )
    assert changes.summary == "1 added, 1 removed, 2 changed"
    assert list(summary_lines(changes)) == ["+ new.sql", "- gone.sql", "~ m.bin", "~ pipeline.sql"]
    assert changes.text == TEXT


def test_a_diff_the_other_way_is_the_reverse() -> None:
    back = compare(AFTER, BEFORE, names=("draft", "release 1"))
    assert (back.added, back.removed) == (("gone.sql",), ("new.sql",))
    assert "-SELECT 2 AS id\n" in back.text
    assert "+SELECT 1 AS id\n" in back.text


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": b""}, {}, "--- one/a\n+++ /dev/null\n"),
        ({"a": b"x\r\n"}, {"a": b"x\n"}, "--- one/a\n+++ two/a\n@@ -1 +1 @@\n-x\r\n+x\n"),
        (
            {"a": b"x\x0cy\n"},
            {"a": b"x\x0cz\n"},
            "--- one/a\n+++ two/a\n@@ -1 +1 @@\n-x\x0cy\n+x\x0cz\n",
        ),
    ],
)
def test_a_diff_shows_what_is_easily_overlooked(
    before: dict[str, bytes], after: dict[str, bytes], shown: str
) -> None:
    assert compare(before, after, names=("one", "two")).text == shown


def test_the_same_files_do_not_differ() -> None:
    changes = compare(BEFORE, dict(BEFORE), names=("a", "b"))
    assert not changes
    assert (changes.summary, changes.text) == ("no change", "")
