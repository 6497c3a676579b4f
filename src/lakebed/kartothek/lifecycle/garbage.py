"""Files that no state of a dataset needs any more."""

from datetime import UTC, datetime, timedelta

from lakebed.errors import UsageError
from lakebed.kartothek.format.names import COMMIT_NOTES, OWN_FOLDER, SCHEMA_FILE
from lakebed.kartothek.history.versions import needed_files
from lakebed.kartothek.reading.states import load_state
from lakebed.ports.files.file_paths import require_path
from lakebed.ports.files.files import Files

SAFE_AGE = timedelta(hours=24)


def collect_garbage(
    files: Files, uuid: str, *, older_than: timedelta = SAFE_AGE, dry_run: bool = False
) -> tuple[str, ...]:
    """Remove files in the dataset's folder that its state does not name; returns their paths.

    Younger files stay: a writer may be about to commit them, and a reader may have planned with
    the state before. With `dry_run` nothing is removed. `BadName` if the state has a path that
    stores spell otherwise.
    """
    if older_than < timedelta(0):
        raise UsageError(f"the age of garbage cannot be negative: {older_than}.")
    limit = datetime.now(UTC) - older_than
    # Listed before the state is read: what is committed in between is then in the state.
    found = [info for info in files.list(uuid) if info.modified <= limit]
    needed = needed_files(files, load_state(files, uuid), now=datetime.now(UTC))
    for path in needed:
        require_path(path)  # a folder lists 'a//b' as 'a/b', which would pass for garbage
    garbage = [info for info in found if info.path not in needed and not _is_kept(info.path)]
    if not dry_run:
        for info in garbage:
            files.delete(info.path, etag=info.etag)
    return tuple(info.path for info in garbage)


def _is_kept(path: str) -> bool:
    is_note = path.split("/")[1:3] == [OWN_FOLDER, COMMIT_NOTES]
    return is_note or path.rpartition("/")[2] == SCHEMA_FILE
