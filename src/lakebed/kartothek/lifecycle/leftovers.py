"""Files in a dataset's folder that belong to nothing, and what they say about undone commits."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from lakebed.errors import LakebedError
from lakebed.kartothek.format.names import (
    COMMIT_NOTES,
    INDEX_FOLDER,
    OWN_FOLDER,
    SCHEMA_FILE,
    DataFormat,
)
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.history.commit_ids import commit_time
from lakebed.kartothek.history.undone import undone_before, undone_commits
from lakebed.kartothek.history.versions import needed_files
from lakebed.kartothek.lifecycle.findings import DatasetFinding
from lakebed.kartothek.reading.data_files import open_parquet
from lakebed.kartothek.writing.partition_files import OURS
from lakebed.ports.files.files import FileInfo, Files
from lakebed.sizes import format_size


def undone_findings(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo]
) -> Iterator[DatasetFinding]:
    """Commits of ours that another writer undid."""
    for note in (*undone_commits(files, state), *undone_before(files, state.uuid)):
        at = commit_time(note.commit)
        when = f" of {at.isoformat(timespec='seconds')}" if at else ""
        yield DatasetFinding(
            "warning",
            f"our commit{when} is not in the dataset any more: {len(note.added)} partitions that it"
            f" added are gone, or some of {len(note.removed)} that it removed are back.",
            state.uuid,
            "Another writer that does not look for other commits, such as plateau, undid it or"
            " removed its rows. If that was not meant, write the rows again.",
        )
    notes = f"{state.uuid}/{OWN_FOLDER}/{COMMIT_NOTES}/"
    if not state.commits and not any(path.startswith(notes) for path in present):
        yield from _undone_creation(files, state, present)


def _undone_creation(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo]
) -> Iterator[DatasetFinding]:
    """A creation leaves no note, but data files that are marked as ours."""
    unused = _unused(files, state, present)
    if any(_is_our_data(files, info.path) for info in unused):
        yield DatasetFinding(
            "warning",
            "the dataset is another writer's, and there are data files of ours that it does not"
            " name: either that writer replaced the dataset as we created it, or removed our rows,"
            " or a write of ours failed.",
            state.uuid,
            "If rows are missing, write them again.",
        )


def _is_our_data(files: Files, path: str) -> bool:
    if not path.endswith(f".{DataFormat.PARQUET}") or path.split("/")[1] == INDEX_FOLDER:
        return False
    with suppress(LakebedError):
        return OURS in (open_parquet(files, path).metadata.metadata or {})
    return False


def unused_findings(
    files: Files, state: DatasetState, present: Mapping[str, FileInfo]
) -> Iterator[DatasetFinding]:
    """What garbage collection will remove."""
    unused = _unused(files, state, present)
    if unused:
        size = sum(info.size for info in unused)
        count = len(unused)
        yield DatasetFinding(
            "info",
            f"{count} file{'s' if count > 1 else ''} of {format_size(size)} belong to no partition"
            " or index now.",
            state.uuid,
            "Garbage collection removes them once they are old enough.",
        )


def _unused(files: Files, state: DatasetState, present: Mapping[str, FileInfo]) -> list[FileInfo]:
    needed = needed_files(files, state, now=datetime.now(UTC))
    return [
        info
        for path, info in present.items()
        if path not in needed
        and not path.endswith(f"/{SCHEMA_FILE}")
        and not path.startswith(f"{state.uuid}/{OWN_FOLDER}/")
    ]
