"""Creating a lake."""

import json
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

from lakebed.app.lake import Lake
from lakebed.app.stores import open_stores
from lakebed.errors import FileExists, FileMissing, LakeExists, UnknownName
from lakebed.ports import Files
from lakebed.settings import DATA, SETTINGS_FILE, Root, Settings, load_settings
from lakebed.starters import STARTERS

_HEAD = """\
# A Lakebed lake. Every setting has a default; docs/reference.md lists them all.
# LAKEBED_* variables override this file; secrets are given by variables only.
"""
NO_FILES: Mapping[str, bytes] = {}
_KEEP_OUT = "Lakebed's own files: change nothing here. See docs/how-it-works.md.\n"


def create_lake(
    path: str | Path | Root,
    *,
    template: str | None = None,
    files: Mapping[str, bytes] = NO_FILES,
    settings: Mapping[str, Any] | Settings | None = None,
    environment: Mapping[str, str] | None = None,
) -> Lake:
    """Create a lake in a folder or at an s3:// address, and open it.

    `settings` go into `lakebed.yaml`; `template` names the files to start with, besides those in
    `files`. Settings that could never work are refused before anything is written.
    """
    environment = os.environ if environment is None else environment
    root = path if isinstance(path, Root) else Root.parse(path)
    text = settings_text(_plain_settings(settings))
    checked = load_settings(text, environment, root=root)
    _write_lake(root, checked, text, starter_files(template) | dict(files))
    return Lake(root, checked, environment=environment)


def _write_lake(root: Root, settings: Settings, text: str, starter: Mapping[str, bytes]) -> None:
    stores = open_stores(settings, root)
    with closing(stores.database):
        _require_no_lake(stores.files, root)
        stores.files.probe()
        stores.ownership.claim_new()
        stores.files.write(f"{DATA}/README", _KEEP_OUT.encode())
        for path, data in starter.items():
            stores.files.write(path, data)
        try:
            stores.files.create(SETTINGS_FILE, text.encode())  # last: a lake exists from here on
        except FileExists:
            raise LakeExists(str(root)) from None


def _plain_settings(settings: Mapping[str, Any] | Settings | None) -> Mapping[str, Any]:
    """Settings as `lakebed.yaml` writes them; of a `Settings`, those that were given."""
    if isinstance(settings, Settings):
        return settings.model_dump(mode="json", exclude_unset=True)
    return settings or {}


def variables_to_set(
    root: Root, values: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, str]:
    """Variables to set besides the lake's address: how to reach a bucket cannot be read from a file
    in it.
    """
    given = values.get("files", {}) if root.is_bucket else {}
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in given.items()
    }
    named = {f"LAKEBED_FILES_{name.upper()}": text for name, text in texts.items()}
    return {name: text for name, text in named.items() if environment.get(name) != text}


def settings_text(values: Mapping[str, Any]) -> str:
    """The first `lakebed.yaml`: the given settings, and where to read more."""
    chosen = {"timezone": "UTC", "catalog": {"kind": "sqlite"}} | dict(values)
    return _HEAD + yaml.safe_dump(chosen, sort_keys=False)


def starter_files(template: str | None) -> dict[str, bytes]:
    """The files that a lake starts with beside `lakebed.yaml`, by path."""
    if template is None:
        return {}
    if template not in STARTERS:
        raise UnknownName("template", template, STARTERS)
    return STARTERS[template]()


def schema_files(path: Path, *, namespace: str) -> dict[str, bytes]:
    """The pipelines of a file with `tables:`, by path."""
    from lakebed.pipelines.definition.schema_file import pipelines_of_schema

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileMissing(str(path)) from error
    return pipelines_of_schema(text, where=path.name, namespace=namespace)


def _require_no_lake(files: Files, root: Root) -> None:
    try:
        files.info(SETTINGS_FILE)
    except FileMissing:
        return
    raise LakeExists(str(root))
