"""Commits of ours that another writer undid.

plateau replaces the metadata file without looking whether it has changed. A note of our last commit
beside the data tells when what it added is gone, or what it removed is back.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from lakebed.errors import FileMissing, LakebedError
from lakebed.kartothek.format.names import LAST_COMMIT, OWN_FOLDER
from lakebed.kartothek.format.state import DatasetState
from lakebed.ports.files.files import Files

_UNDONE = "undone-"


@dataclass(frozen=True)
class CommitNote:
    """What a commit of ours did."""

    commit: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def note_commit(files: Files, before: DatasetState, after: DatasetState) -> None:
    """Note our commit. If the state before was another writer's, keep a note that it undid."""
    if before.partitions and not before.commits:
        for note in undone_commits(files, before):
            files.write(_path(before.uuid, f"{_UNDONE}{note.commit}.json"), _document(note))
    added = tuple(after.partitions.keys() - before.partitions.keys())
    removed = tuple(before.partitions.keys() - after.partitions.keys())
    if added or removed:
        note = CommitNote(after.commits[-1], added, removed)
        files.write(_path(after.uuid, LAST_COMMIT), _document(note))


def undone_commits(files: Files, state: DatasetState) -> Iterator[CommitNote]:
    """Commits of ours that the state shows to be undone; plateau may also have removed their rows.

    A state that still knows our commits was not written by plateau.
    """
    if state.commits:
        return
    note = _read(files, _path(state.uuid, LAST_COMMIT))
    if note is None:
        return
    present = state.partitions.keys()
    is_gone = bool(note.added) and not present & set(note.added)
    if is_gone or present & set(note.removed):
        yield note


def undone_before(files: Files, uuid: str) -> Iterator[CommitNote]:
    """Commits that were found to be undone by later commits of ours."""
    for info in files.list(f"{uuid}/{OWN_FOLDER}"):
        if info.path.startswith(_path(uuid, _UNDONE)):
            note = _read(files, info.path)
            if note is not None:
                yield note


def _path(uuid: str, name: str) -> str:
    return f"{uuid}/{OWN_FOLDER}/{name}"


def _document(note: CommitNote) -> bytes:
    document = {"commit": note.commit, "added": note.added, "removed": note.removed}
    return json.dumps(document).encode()


def _read(files: Files, path: str) -> CommitNote | None:
    with suppress(FileMissing, ValueError, KeyError, TypeError, LakebedError):
        found = json.loads(files.read(path))
        return CommitNote(found["commit"], tuple(found["added"]), tuple(found["removed"]))
    return None
