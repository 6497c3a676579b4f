"""Former states that a dataset keeps if it is asked to: readers can go back to them.

Before a commit replaces a state, the state is copied; so a copy was always a state of the dataset.
States that plateau replaced are not among them.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakebed.errors import FileExists, FileMissing, UnknownName, UsageError
from lakebed.kartothek.format.documents import parse_state, state_document
from lakebed.kartothek.format.names import OWN_FOLDER, MetadataFormat
from lakebed.kartothek.format.state import KEEP, DatasetState
from lakebed.kartothek.history.commit_ids import commit_time, foreign_id
from lakebed.kartothek.reading.states import StoredState, load_to_change
from lakebed.ports.files.files import Files

_SUFFIX = ".json"


@dataclass(frozen=True)
class DatasetVersion:
    """A state of a dataset: since when it was the current one, and until when."""

    version: str
    since: datetime
    until: datetime | None
    partitions: int


def versions(files: Files, uuid: str) -> tuple[DatasetVersion, ...]:
    """The states that are kept, and the current one last."""
    found = [*_kept(files, uuid), _version_of(load_to_change(files, uuid))]
    ends = [since for _, since, _ in found[1:]]
    return tuple(
        DatasetVersion(id, since, until, len(state.partitions))
        for (id, since, state), until in zip(found, [*ends, None], strict=True)
    )


def state_at(files: Files, uuid: str, at: str | datetime) -> DatasetState:
    """The state at a time, or the version of that id.

    `UnknownName` for an unknown id, `UsageError` for a time before all that is kept.
    """
    found = [*_kept(files, uuid), _version_of(load_to_change(files, uuid))]
    time = at if isinstance(at, datetime) else _time(at)
    if time is None:
        for id, _, state in found:
            if id == at:
                return state
        raise UnknownName(f"version of the dataset {uuid}", str(at), [id for id, _, _ in found])
    past = [state for _, since, state in found if since <= time]
    if not past:
        raise UsageError(
            f"no state of the dataset at {time.isoformat()} is kept.",
            where=uuid,
            next="lakebed kartothek versions lists those that are.",
        )
    return past[-1]


def keep_state(files: Files, stored: StoredState) -> None:
    """Copy a state that is about to be replaced, if the dataset keeps its states."""
    if KEEP not in stored.state.metadata:
        return
    id, _, state = _version_of(stored)
    with suppress(FileExists):
        files.create(_path(state.uuid, id), state_document(state, format=MetadataFormat.JSON))


def needed_files(files: Files, state: DatasetState, *, now: datetime) -> frozenset[str]:
    """The files of the state, and of those before it that are kept long enough."""
    kept = kept_states(files, state, now=now)
    return state.needed.union(kept, *(former.needed for former in kept.values()))


def kept_states(files: Files, state: DatasetState, *, now: datetime) -> Mapping[str, DatasetState]:
    """The states before this one that must be kept still, by the paths of their copies."""
    days = state.metadata.get(KEEP)
    if days is None:
        return {}
    limit = now - timedelta(days=float(days))
    found = list(_kept(files, state.uuid))
    current = commit_time(state.commits[-1]) if state.commits else None
    ends = [*(since for _, since, _ in found[1:]), current or now]
    return {
        _path(state.uuid, id): kept
        for (id, _, kept), until in zip(found, ends, strict=False)
        if until > limit
    }


def days_text(days: float) -> str:
    """For how long states are kept, as the metadata has it."""
    if days < 0:
        raise UsageError(f"states cannot be kept for {days} days.")
    return f"{days:g}"


def _kept(files: Files, uuid: str) -> Iterable[tuple[str, datetime, DatasetState]]:
    for info in files.list(f"{uuid}/{OWN_FOLDER}/states"):
        id = info.path.rpartition("/")[2].removesuffix(_SUFFIX)
        with suppress(FileMissing):  # garbage collection was faster
            data = files.read(info.path)
            state = parse_state(data, format=MetadataFormat.JSON, path=info.path)
            yield id, commit_time(id) or info.modified, state


def _version_of(stored: StoredState) -> tuple[str, datetime, DatasetState]:
    modified = stored.modified or datetime.now(UTC)
    ids = [id for id in stored.state.commits[-1:] if commit_time(id)]
    id = ids[0] if ids else foreign_id(modified)
    return id, commit_time(id) or modified, stored.state


def _path(uuid: str, id: str) -> str:
    return f"{uuid}/{OWN_FOLDER}/states/{id}{_SUFFIX}"


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
