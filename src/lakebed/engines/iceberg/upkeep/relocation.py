"""Relocating a table that was moved: its metadata files are rewritten beside the old ones, with the
new addresses.

Data files stay as they are. New files are named after the old ones and the new root, so that an
interrupted relocation is repeated with the same names.
"""

import gzip
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.avro.rewriting import rewrite
from lakebed.engines.iceberg.upkeep.inspection import number_of
from lakebed.errors import DamagedTable, FileMissing, UsageError
from lakebed.ports import RelocatedTable
from lakebed.settings import Root, normalized_location

_AT_ONCE = 8
_GZIP = b"\x1f\x8b"
_ADDED_BEFORE = re.compile(r"-at[0-9a-f]{8}$")
_POSITION_DELETES, _DELETED = 1, 2


class Relocation:
    """Relocates from one root to another.

    With `only_look` everything is read and nothing written.
    """

    def __init__(
        self, places: FilesByUrl, *, origin: str, root: Root, only_look: bool = False
    ) -> None:
        self._places, self._root, self._only_look = places, root, only_look
        self._origin = normalized_location(origin).rstrip("/")
        # the old root may be a folder above the new one: what is here already stays
        self._is_above = normalized_location(root.url).startswith(f"{self._origin}/")
        self._mark = sha256(f"{self._origin}\n{root.url}".encode()).hexdigest()[:8]
        # old address of an Avro file → new one and its size; the same if nothing in it has moved
        self._written: dict[str, tuple[str, int]] = {}
        self._targets: set[str] = set()  # the new ones

    def moved(self, location: str) -> str:
        """The new address; addresses outside the old root stay the same."""
        spelt = normalized_location(location)
        if spelt != self._origin and not spelt.startswith(f"{self._origin}/"):
            return location
        if self._is_above and self._root.relative(location) is not None:
            return location
        return self._root.url + spelt.removeprefix(self._origin)

    def table(self, name: str, location: str) -> RelocatedTable:
        """Rewrite the metadata of the table, or of the view, at `location`."""
        document = self._document(name, location)
        snapshots = document.get("snapshots") or []
        lists = {
            place
            for snapshot in snapshots
            if (place := snapshot.get("manifest-list")) and self._may_name_moved(place)
        }
        before = len(self._targets)
        renamed = {
            place: self._reading(name, place, partial(self._list, name, place))
            for place in sorted(lists)
        }
        fresh = _replaced(document, lambda text: renamed.get(text) or self.moved(text))
        if "table-uuid" in document:
            entry = {
                "timestamp-ms": document["last-updated-ms"],
                "metadata-file": self.moved(location),
            }
            fresh["metadata-log"] = [*(fresh.get("metadata-log") or []), entry]
        target = self._next(location)
        self._write(target, json.dumps(fresh).encode())
        return RelocatedTable(target, len(self._targets) - before + 1)

    def _document(self, name: str, location: str) -> dict[str, Any]:
        data = self._reading(name, location, lambda: self._places.read(self.moved(location)))
        plain = gzip.decompress(data) if data.startswith(_GZIP) else data
        document: dict[str, Any] = self._reading(name, location, lambda: json.loads(plain))
        return document

    def _next(self, location: str) -> str:
        """The address of the new metadata file: always the same for the same relocation."""
        folder = self.moved(location).rpartition("/")[0]
        name = uuid5(NAMESPACE_URL, self._root.url + location)
        return f"{folder}/{number_of(location) + 1:05d}-{name}.metadata.json"

    def _list(self, name: str, place: str) -> str:
        if place in self._written:
            return self._written[place][0]
        data = self._places.read(self.moved(place))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            todo = [
                path
                for path in _manifests(data)
                if path not in self._written and self._may_name_moved(path)
            ]
            made = pool.map(
                lambda path: self._reading(name, path, lambda: self._manifest(name, path)), todo
            )
            self._written |= dict(zip(todo, made, strict=True))
        fresh = rewrite(data, self._of_list())
        stay = all(self._written.get(path, (path, 0))[0] == path for path in _manifests(data))
        return self._put(place, fresh if self._is_ours(place) or not stay else None, len(data))[0]

    def _of_list(self) -> dict[tuple[str, ...], Callable[[Any], Any]]:
        """Changes for a manifest list, where a manifest's address comes before its length."""
        last: list[tuple[str, int] | None] = [None]

        def path(value: str) -> str:
            last[0] = self._written.get(value)
            return last[0][0] if last[0] else value

        return {
            ("manifest_path",): path,
            ("manifest_length",): lambda value: last[0][1] if last[0] else value,
        }

    def _manifest(self, name: str, place: str) -> tuple[str, int]:
        status = [0]
        has_moved = [self._is_ours(place)]
        has_deletes = [False]

        def seen(value: int) -> int:
            status[0] = value
            return value

        def content(value: int) -> int:
            is_live = value == _POSITION_DELETES and status[0] != _DELETED
            has_deletes[0] = has_deletes[0] or is_live
            return value

        def address(value: str) -> str:
            has_moved[0] = has_moved[0] or self._is_ours(value)
            return self.moved(value)

        data = self._places.read(self.moved(place))
        fresh = rewrite(
            data,
            {
                ("status",): seen,
                ("data_file", "content"): content,
                ("data_file", "file_path"): address,
                ("data_file", "referenced_data_file"): address,
            },
        )
        if has_moved[0] and has_deletes[0]:
            what = (
                f"{name} has position delete files, which name data files by their old addresses."
            )
            raise UsageError(
                what,
                where=place,
                next="Move the lake back, rewrite the table's files, then move it again.",
            )
        return self._put(place, fresh if has_moved[0] else None, len(data))

    def _put(self, place: str, fresh: bytes | None, size: int) -> tuple[str, int]:
        """Write an Avro file beside the original, which has this size; None: the original stays."""
        if fresh is None:
            self._written[place] = (place, size)
            return self._written[place]
        stem = self.moved(place).removesuffix(".avro")
        target = f"{_ADDED_BEFORE.sub('', stem)}-at{self._mark}.avro"
        self._write(target, fresh)
        self._targets.add(target)
        self._written[place] = (target, len(fresh))
        return self._written[place]

    def _write(self, location: str, data: bytes) -> None:
        if not self._only_look:
            self._places.write(location, data)

    def _is_ours(self, location: str) -> bool:
        return self.moved(location) != location

    def _may_name_moved(self, location: str) -> bool:
        """Whether a file is to be read for addresses below the old root: it was there, or is here
        already.
        """
        return self._is_ours(location) or self._root.relative(location) is not None

    def _reading(self, name: str, place: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except FileMissing:
            where = self.moved(place)
            raise DamagedTable(name, where, f"there is no such file; it was at {place}.") from None
        except (ValueError, KeyError, IndexError, OSError) as error:
            raise DamagedTable(
                name, self.moved(place), f"{type(error).__name__}: {error}."
            ) from error


def _manifests(data: bytes) -> list[str]:
    """The addresses in a manifest list, each once."""
    found: dict[str, None] = {}

    def seen(path: str) -> str:
        found[path] = None
        return path

    rewrite(data, {("manifest_path",): seen})
    return list(found)


def _replaced(value: Any, change: Callable[[str], str]) -> Any:
    """The document with all strings changed except those of schemas."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_replaced(item, change) for item in value]
    if isinstance(value, dict):
        return {
            key: inner if key in {"schema", "schemas"} else _replaced(inner, change)
            for key, inner in value.items()
        }
    return value
