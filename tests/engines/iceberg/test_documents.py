"""Metadata of tables that others made in ways PyIceberg does not know: a change leaves in them
whatever it is not about.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.io import load_file_io
from pyiceberg.table.update import update_table_metadata

from lakebed.engines.iceberg.metadata.cloning import cloned
from lakebed.engines.iceberg.metadata.documents import as_modelled, changed_document, read_document
from lakebed.engines.iceberg.metadata.staging import moves_forward, stage_amendments, updates_for
from lakebed.errors import NewerFormat
from lakebed.names import TableName
from lakebed.ports import Amendment, RefMove, RemoveSnapshots, SetProperties, SetRef

TABLE = TableName("shop", "silver", "events")
VARIANTS = {"type": "list", "element-id": 4, "element": "variant", "element-required": False}
FIELDS = [
    {"id": 1, "name": "id", "required": False, "type": "long", "write-default": 4, "note": "of a newer writer"},
    {"id": 2, "name": "v", "required": False, "type": "variant"},
    {"id": 3, "name": "vs", "required": False, "type": VARIANTS},
    {"id": 5, "name": "d", "required": False, "type": "int", "initial-default": 7, "write-default": 7},
]  # fmt: skip


def snapshot(number: int) -> dict[str, Any]:
    return {
        "snapshot-id": number, "sequence-number": number, "timestamp-ms": 1_000 * number, "manifest-list": f"s3://b/{number}.avro",
        "summary": {"operation": "append"}, "schema-id": 0, "first-row-id": 10 * number, "added-rows": 10, "key-id": "k1",
        **({"parent-snapshot-id": number - 1} if number > 1 else {}),
    }  # fmt: skip


def document(version: int = 3, location: str = "s3://b/events") -> dict[str, Any]:
    return {
        "format-version": version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": location,
        "last-sequence-number": 3, "last-updated-ms": 3_000, "last-column-id": 5, "current-schema-id": 0,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": FIELDS}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"owner": "somebody"}, "current-snapshot-id": 2, "next-row-id": 40,
        "refs": {"main": {"snapshot-id": 2, "type": "branch"}, "run": {"snapshot-id": 3, "type": "branch"}},
        "snapshots": [snapshot(1), snapshot(2), snapshot(3)],
        "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": 1_000}, {"snapshot-id": 2, "timestamp-ms": 2_000}],
        "metadata-log": [], "encryption-keys": [{"key-id": "k1", "encrypted-key-metadata": "c2VjcmV0"}],
    }  # fmt: skip


def after(*amendments: Amendment) -> Any:
    present = as_modelled(document())
    changed = update_table_metadata(
        present, updates_for(amendments, present), metadata_location="s3://b/events/metadata/0.json"
    )
    return changed_document(document(), present, changed)


def test_a_tag_changes_nothing_but_the_tags() -> None:
    found, was = after(SetRef("t", 1, "tag")), document()
    assert found["refs"] == {**was["refs"], "t": {"snapshot-id": 1, "type": "tag"}}
    differing = {
        key
        for key in found.keys() | was.keys()
        if found.get(key) != was.get(key) and found.get(key) != []
    }
    assert differing == {"refs", "last-updated-ms", "metadata-log"}


def test_snapshots_that_stay_keep_their_row_ids_and_keys() -> None:
    found = after(SetRef("main", 3), RemoveSnapshots((1,)))
    assert [one["snapshot-id"] for one in found["snapshots"]] == [2, 3]
    assert found["snapshots"][1] == snapshot(3)
    assert (found["snapshots"][0]["first-row-id"], found["snapshots"][0]["key-id"]) == (20, "k1")
    assert (found["current-snapshot-id"], found["next-row-id"]) == (3, 40)


def test_properties_are_set_beside_those_that_are_there() -> None:
    assert after(SetProperties({"a": "b"}))["properties"] == {"owner": "somebody", "a": "b"}


def test_columns_that_a_publication_renames_keep_types_and_defaults() -> None:
    present = as_modelled(document())
    move = RefMove(
        TABLE, "run", to=3, base=2, columns=("id", "v", "vs", "d"), renames=(("v", "value"),)
    )
    changed = update_table_metadata(
        present, moves_forward(move, present), metadata_location="s3://b/events/metadata/0.json"
    )
    found = changed_document(document(), present, changed)
    assert found["schemas"][0]["fields"] == FIELDS
    assert found["schemas"][1]["fields"] == [FIELDS[0], {**FIELDS[1], "name": "value"}, *FIELDS[2:]]
    assert found["current-schema-id"] == 1
    assert "run" not in found["refs"]


def test_a_clone_keeps_row_ids_and_types() -> None:
    present = as_modelled(document())
    found = changed_document(document(), present, cloned(present, snapshot=2, to="s3://b/copy"))
    assert (found["location"], found["next-row-id"], found["schemas"]) == (
        "s3://b/copy",
        40,
        document()["schemas"],
    )
    assert [(one["snapshot-id"], one["first-row-id"]) for one in found["snapshots"]] == [(2, 20)]
    assert found["encryption-keys"] == document()["encryption-keys"]


def test_a_table_of_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "00000-a.metadata.json"
    file.write_text(json.dumps(document(4, location=str(tmp_path))))
    with pytest.raises(
        NewerFormat, match="format version 4; this Lakebed supports versions up to 3"
    ):
        read_document(load_file_io({}, str(file)), str(file))
    with pytest.raises(NewerFormat):
        stage_amendments(str(file), [SetRef("t", 1, "tag")], properties={}, now=time.time())
    assert list(tmp_path.iterdir()) == [file]


def test_a_staged_file_of_format_3_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "00004-a.metadata.json"
    file.write_text(json.dumps(document(location=str(tmp_path))))
    staged = stage_amendments(str(file), [SetRef("t", 1, "tag")], properties={}, now=time.time())
    assert staged.startswith(f"{tmp_path}/metadata/00005-")
    found = json.loads(Path(staged).read_text())
    assert (found["format-version"], found["next-row-id"], found["refs"]["t"]["snapshot-id"]) == (
        3,
        40,
        1,
    )
