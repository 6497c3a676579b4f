"""Making a lake."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from lakebed.app.stores import open_stores
from lakebed.errors import FileExists, FileMissing, LakeExists, UnknownName
from lakebed.ports import Files
from lakebed.settings import DATA, SETTINGS_FILE, Root, Settings, load_settings
from lakebed.starters import STARTERS

_HEAD = """\
# A Lakebed lake. Every setting has a default; docs/reference.md lists them all.
# LAKEBED_* variables override what stands here; secrets come from there only.
"""
_KEEP_OUT = "Lakebed's own: touch nothing here by hand. See docs/how-it-works.md.\n"


def create_lake(
    root: Root, *, values: Mapping[str, Any], template: str | None, environment: Mapping[str, str]
) -> tuple[Settings, tuple[str, ...]]:
    """Make a lake and return its settings and the files it starts with; refuses what could never work, before it writes."""
    text = settings_text(values)
    settings = load_settings(text, environment, root=root)
    starts_with = _starter(template)
    stores = open_stores(settings, root)
    _refuse_existing(stores.files, root)
    stores.files.probe()
    stores.files.write(f"{DATA}/README", _KEEP_OUT.encode())
    stores.database.prepare()
    for path, data in starts_with.items():
        stores.files.write(path, data)
    try:
        stores.files.create(SETTINGS_FILE, text.encode())  # last: a lake exists from here on
    except FileExists:
        raise LakeExists(str(root)) from None
    finally:
        stores.database.close()
    return settings, (SETTINGS_FILE, *starts_with)


def variables_to_set(root: Root, values: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
    """What a shell must say beside the lake's address: how a bucket is reached cannot be read from a file in it."""
    given = values.get("files", {}) if root.is_bucket else {}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    named = {f"LAKEBED_FILES_{name.upper()}": text for name, text in texts.items()}
    return {name: text for name, text in named.items() if environment.get(name) != text}


def settings_text(values: Mapping[str, Any]) -> str:
    """The first `lakebed.yaml`: what was asked for, and where to read on."""
    chosen = {"timezone": "UTC", "catalog": {"kind": "sqlite"}} | dict(values)
    return _HEAD + yaml.safe_dump(chosen, sort_keys=False)


def _starter(template: str | None) -> dict[str, bytes]:
    if template is None:
        return {}
    if template not in STARTERS:
        raise UnknownName("template", template, STARTERS)
    return STARTERS[template]()


def _refuse_existing(files: Files, root: Root) -> None:
    try:
        files.info(SETTINGS_FILE)
    except FileMissing:
        return
    raise LakeExists(str(root))
