"""Commits: the metadata file is replaced if it is still the one that was read.

Readers take no lock: they see the state before or after a commit. A writer that finds another
state decides again on that one, so that no commit is lost. plateau replaces the file without
looking: a commit of its own can still undo ours, and nothing can prevent that from here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from lakebed.errors import (
    Conflict,
    DatasetChanged,
    FileExists,
    FileMissing,
    FileReplaced,
    LakebedError,
    Unavailable,
)
from lakebed.kartothek.format.documents import state_document
from lakebed.kartothek.format.names import MetadataFormat, index_path, metadata_path
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.history.commit_ids import new_commit_id
from lakebed.kartothek.history.undone import REMEMBERED_COMMITS, note_commit
from lakebed.kartothek.history.versions import keep_state
from lakebed.kartothek.reading.states import StoredState, load_state, load_to_change
from lakebed.ports.files.file_content import Content
from lakebed.ports.files.files import Files
from lakebed.work import retry

_ATTEMPTS = 200


class UncommittedFiles:
    """Files that a commit needs; those of an attempt that failed are removed again."""

    def __init__(self, files: Files) -> None:
        self._files, self._made = files, list[str]()

    def create(self, path: str, data: Content) -> None:
        self._files.create(path, data)
        self._made.append(path)

    def create_index(
        self, uuid: str, column: str, data: bytes, *, at: datetime | None = None
    ) -> str:
        """Write an index under the present time, or the next moment that is free."""
        moment = at or datetime.now(UTC)
        while True:
            path = index_path(uuid, column, moment)
            with suppress(FileExists):
                self.create(path, data)
                return path
            moment += timedelta(microseconds=1)

    def remove(self) -> None:
        for path in self._made:
            with suppress(LakebedError):  # garbage collection removes what stays
                self._files.delete(path)


Change = Callable[[DatasetState, UncommittedFiles], DatasetState]


def commit(
    files: Files, uuid: str, change: Change, *, known: StoredState | None = None
) -> DatasetState:
    """Replace the state by the changed one; `change` decides again whenever another was faster.

    A `known` state is not read again if it is still the current one.
    """

    def attempt() -> DatasetState:
        stored = load_to_change(files, uuid, known=known)
        with removed_unless_committed(files) as made:
            decided = change(stored.state, made)
            if decided == stored.state:
                return decided
            changed = _with_commit(decided)
            document = state_document(changed, format=stored.format)
            keep_state(files, stored)
            try:
                files.replace(stored.path, document, etag=stored.etag or "")
            except (FileReplaced, FileMissing):
                if not _was_made(files, changed):
                    raise DatasetChanged(uuid) from None
            except Unavailable:  # the answer may be all that was lost
                if not _was_made(files, changed):
                    raise
        with suppress(LakebedError):  # the commit is made whether or not it is noted
            note_commit(files, stored.state, changed)
        return changed

    return retry(attempt, repeatable=False, attempts=_ATTEMPTS)


def create_state(files: Files, state: DatasetState, *, format: MetadataFormat) -> DatasetState:
    """Make a dataset visible that did not exist; `FileExists` if another writer made it first."""
    made = _with_commit(state)
    files.create(metadata_path(state.uuid, format), state_document(made, format=format))
    return made


@contextmanager
def removed_unless_committed(files: Files) -> Iterator[UncommittedFiles]:
    """Remove what was written if the block fails.

    If it is not known whether the commit was made, everything stays.
    """
    made = UncommittedFiles(files)
    try:
        yield made
    except LakebedError as error:
        if nothing_was_done(error):
            made.remove()
        raise


def nothing_was_done(error: LakebedError) -> bool:
    """Whether an error says for sure that a commit was not made."""
    return isinstance(error, Conflict) or not error.retryable


def _with_commit(state: DatasetState) -> DatasetState:
    return replace(state, commits=(*state.commits, new_commit_id())[-REMEMBERED_COMMITS:])


def _was_made(files: Files, state: DatasetState) -> bool:
    """Whether our commit is among the last ones: its answer may have been lost."""
    return state.commits[-1] in load_state(files, state.uuid).commits
