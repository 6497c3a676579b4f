"""A catalog from metadata files alone: the newest file and the name of each table. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from lakebed.care.fsck.pointing import newest
from lakebed.errors import BadName
from lakebed.names import TableName
from lakebed.ports import NAME, UNPUBLISHED, MetadataFile
from lakebed.settings import Root
from lakebed.tables import table_folder

_FRESH = re.compile(r"-[0-9a-f]{8}$")  # see TableName.fresh_folder
_LEAD = re.compile(r"^~([0-9a-f]{2})")  # see names.folder_name
_CUT = re.compile(r"~[0-9a-f]{16}$")


@dataclass(frozen=True)
class Candidate:
    """A table that is not in the catalog, at its newest metadata file. `former_root`: the lake was
    there when the file was written; empty if the lake was here.
    """

    name: TableName
    file: MetadataFile
    former_root: str = ""


@dataclass(frozen=True)
class Rebuild:
    """What is to be registered again, what is to be relocated first because it points `elsewhere`,
    and what is skipped, with the reason.
    """

    register: tuple[Candidate, ...]
    elsewhere: tuple[Candidate, ...]
    skipped: tuple[tuple[str, str], ...]


def plan_rebuild(
    files: Iterable[MetadataFile],
    root: Root,
    *,
    present: Collection[str],
    names: Collection[TableName],
    dropped: Collection[str],
    former_roots: Mapping[str, str] | None = None,
) -> Rebuild:
    """`present` and `dropped` are uuids still in the database, `names` are taken: nothing is ever
    overwritten.

    `former_roots`: where the lake was, by the metadata files that were written for another place.
    """
    taken = {name.folded for name in names}
    candidates: list[Candidate] = []
    skipped: list[tuple[str, str]] = []
    for file in _newest_first(files, leave={*present, *dropped}):
        names = _possible_names(file, root)
        name = next((name for name in names if name.folded not in taken), None)
        reason = _not_wanted(file, names) or (
            "" if name else "its name is taken by another table, or unknown"
        )
        if reason or name is None:
            skipped.append((file.location, reason))
        else:
            taken.add(name.folded)
            candidates.append(Candidate(name, file, (former_roots or {}).get(file.location, "")))
    candidates.sort(key=lambda candidate: candidate.name)
    return Rebuild(
        register=tuple(one for one in candidates if not one.former_root),
        elsewhere=tuple(one for one in candidates if one.former_root),
        skipped=tuple(sorted(skipped)),
    )


def _newest_first(files: Iterable[MetadataFile], *, leave: Collection[str]) -> list[MetadataFile]:
    """Every unregistered table's newest file; the newest of several gets a shared name."""
    by_uuid: dict[str, list[MetadataFile]] = {}
    for file in files:
        if file.metadata.uuid not in leave:
            by_uuid.setdefault(file.metadata.uuid, []).append(file)
    chosen = [last for group in by_uuid.values() if (last := newest(group))]
    return sorted(chosen, key=lambda file: (file.metadata.updated_at, file.number), reverse=True)


def _not_wanted(file: MetadataFile, names: Collection[TableName]) -> str:
    if UNPUBLISHED in file.metadata.properties:
        return "a first run that was not published"
    return "a hidden table of a run" if any(name.temporary for name in names) else ""


def _possible_names(file: MetadataFile, root: Root) -> tuple[TableName, ...]:
    """The best first. A derived table gets only the name of one: under another it would be shown to
    users.
    """
    names = tuple(_names(file, root))
    return tuple(name for name in names if name.derived or not names[0].derived)


def _names(file: MetadataFile, root: Root) -> Iterator[TableName]:
    """The table's former name: from its metadata, or else from its folder."""
    said = _parsed(file.metadata.properties)
    if said:
        yield said
    # in a lake that was moved, the metadata names a folder elsewhere: the file's own place tells
    for location in dict.fromkeys((file.metadata.location, table_folder(file.location))):
        parts = (root.relative(location) or "").split("/")
        if len(parts) == 4 and parts[1] == "warehouse":
            namespace, _, layer, folder = parts
            yield from _named(namespace, layer, _FRESH.sub("", folder))
            yield from _named(namespace, layer, folder)


def _parsed(properties: Mapping[str, str]) -> TableName | None:
    try:
        return TableName.parse(properties[NAME]) if NAME in properties else None
    except BadName:
        return None


def _named(namespace: str, layer: str, folder: str) -> Iterator[TableName]:
    if _CUT.search(folder) or _CUT.search(layer):
        return  # the folder has only the beginning of the name
    try:
        yield TableName(namespace, _unfolded(layer), _unfolded(folder))
    except BadName:
        return


def _unfolded(part: str) -> str:
    return _LEAD.sub(lambda lead: chr(int(lead[1], 16)), part)
