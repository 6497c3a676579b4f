"""Commits of ours that another writer undid.

plateau replaces the metadata file without looking whether it has changed, and can undo several
commits at once. A note of each of our last commits beside the data tells when what it added is
gone, or what it removed is back.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from lakebed.errors import FileMissing, LakebedError
from lakebed.kartothek.format.names import COMMIT_NOTES, OWN_FOLDER
from lakebed.kartothek.format.state import DatasetState
from lakebed.ports.files.files import Files

REMEMBERED_COMMITS = 20  # in a state, by which a writer finds out that its own was made
_UNDONE = "undone-"


@dataclass(frozen=True)
class CommitNote:
    """What a commit of ours did."""

    commit: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def note_commit(files: Files, before: DatasetState, after: DatasetState) -> None:
    """Note our commit, and forget that of a commit so long ago that states do not name it any more.

    If the state before was another writer's, keep notes of what it undid.
    """
    if before.partitions and not before.commits:
        _set_undone_aside(files, before)
    added = tuple(after.partitions.keys() - before.partitions.keys())
    removed = tuple(before.partitions.keys() - after.partitions.keys())
    if added or removed:
        note = CommitNote(after.commits[-1], added, removed)
        files.write(_note_path(after.uuid, note.commit), _document(note))
    _forget(files, after.uuid, set(before.commits) - set(after.commits))


def _set_undone_aside(files: Files, state: DatasetState) -> None:
    """Each is told of from here on whatever the dataset becomes; those that stand and are not among
    the last ones are forgotten.
    """
    notes = tuple(_notes(files, _path(state.uuid, f"{COMMIT_NOTES}/")))
    undone = _undone(notes, state.partitions.keys())
    for note in undone:
        files.write(_path(state.uuid, f"{_UNDONE}{note.commit}.json"), _document(note))
    standing = sorted({note.commit for note in notes} - {note.commit for note in undone})
    kept = standing[-REMEMBERED_COMMITS:]
    _forget(files, state.uuid, [note.commit for note in notes if note.commit not in kept])


def _forget(files: Files, uuid: str, commits: Iterable[str]) -> None:
    for commit in commits:
        files.delete(_note_path(uuid, commit))


def undone_commits(files: Files, state: DatasetState) -> tuple[CommitNote, ...]:
    """Commits of ours that the state shows to be undone; plateau may also have removed their rows.

    A state that still knows our commits was not written by plateau.
    """
    if state.commits:
        return ()
    notes = tuple(_notes(files, _path(state.uuid, f"{COMMIT_NOTES}/")))
    return _undone(notes, state.partitions.keys())


def _undone(notes: Collection[CommitNote], present: Collection[str]) -> tuple[CommitNote, ...]:
    """The commits of which nothing is left, or whose removals are back. Pure.

    What a commit added may have been removed by a later one of ours, but not by one that is undone
    itself.
    """
    undone: set[CommitNote] = set()
    while True:
        standing = [note for note in notes if note not in undone]
        replaced = {label for note in standing for label in note.removed}
        more = {note for note in standing if _is_undone(note, set(present), replaced)}
        if not more:
            return tuple(sorted(undone, key=lambda note: note.commit))
        undone |= more


def _is_undone(note: CommitNote, present: set[str], replaced: set[str]) -> bool:
    expected = set(note.added) - replaced
    is_gone = bool(expected) and not expected & present
    return is_gone or bool(present & set(note.removed))


def undone_before(files: Files, uuid: str) -> Iterator[CommitNote]:
    """Commits that were found to be undone by later commits of ours."""
    return _notes(files, _path(uuid, _UNDONE))


def _notes(files: Files, beginning: str) -> Iterator[CommitNote]:
    for info in files.list(beginning.rpartition("/")[0]):
        if info.path.startswith(beginning):
            note = _read(files, info.path)
            if note is not None:
                yield note


def _path(uuid: str, name: str) -> str:
    return f"{uuid}/{OWN_FOLDER}/{name}"


def _note_path(uuid: str, commit: str) -> str:
    return _path(uuid, f"{COMMIT_NOTES}/{commit}.json")


def _document(note: CommitNote) -> bytes:
    document = {"commit": note.commit, "added": note.added, "removed": note.removed}
    return json.dumps(document).encode()


def _read(files: Files, path: str) -> CommitNote | None:
    with suppress(FileMissing, ValueError, KeyError, TypeError, LakebedError):
        found = json.loads(files.read(path))
        return CommitNote(found["commit"], tuple(found["added"]), tuple(found["removed"]))
    return None
