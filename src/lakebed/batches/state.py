"""What a table's snapshots say about its batches: which files each was made from. Pure.

Every commit of a batch says so in its summary. The ancestors of a branch are what was published
there, in order, so that a rollback takes the state back with the rows.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from lakebed.ports import MAIN, Snapshot, TableMetadata

BATCH = "lakebed.batch"  # summary key: the batch that the snapshot replaces, as JSON, or several
# below the root, in the folder of the table that was written
_SIDECAR = re.compile(r"(?!\.data/)[^/]+(?:/[^/]+)*/metadata/batches/[0-9a-f]{64}\.json\.gz")
OTHERS = "others"
CHECKPOINT = "lakebed.batches"  # property: the state at a snapshot whose ancestors have expired


@dataclass(frozen=True)
class BatchState:
    """What a batch of a table was made from."""

    label: str
    digest: str  # of its files; empty: the source has none any more
    config: str  # digest of the settings that decide its rows
    schema: str = ""  # digest of its columns as they were read
    files: int = 0
    bytes: int = 0
    rows: int | None = None
    at: datetime | None = None  # when it was committed
    snapshot: int | None = None
    file_list: str = ""  # path of the sidecar with its files
    # of a batch that had no rows any more when a checkpoint was written: who had removed them, the
    # run id of a manual change or `OTHERS`
    removed_by: str = ""

    @property
    def is_gone(self) -> bool:
        return not self.digest


@dataclass(frozen=True)
class Checkpoint:
    """The state at a snapshot, in a sidecar."""

    at: int
    path: str


@dataclass(frozen=True)
class BatchStates:
    """The batches of a table, by label.

    `foreign` are snapshots that others have written since; `incomplete` if earlier ones expired
    without a checkpoint, so that batches may be in the table and not here.
    """

    batches: Mapping[str, BatchState]
    foreign: tuple[int, ...] = ()
    incomplete: bool = False


def batch_summary(*states: BatchState) -> str:
    """The value of the summary key `BATCH`; what the snapshot tells itself is left out."""
    told = [_told(state) for state in states]
    return json.dumps(told[0] if len(told) == 1 else told)


def _told(state: BatchState) -> dict[str, Any]:
    return {
        "label": state.label,
        "digest": state.digest,
        "config": state.config,
        "schema": state.schema,
        "files": state.files,
        "bytes": state.bytes,
        "list": state.file_list,
    }


def sidecars(summaries: Iterable[str | None], checkpoint: str | None) -> tuple[str, ...]:
    """The sidecars that a table needs, below the lake's root: from the values of `BATCH` in its
    snapshots' summaries, and of its property `CHECKPOINT`.
    """
    found = (_listed(text) for text in (*summaries, checkpoint) if text)
    return tuple(dict.fromkeys(path for path in found if path))


def _listed(text: str) -> str:
    """The sidecar that a value names; any other path is not ours."""
    try:
        path = str(json.loads(text)["list"])
    except (ValueError, KeyError, TypeError):
        return ""
    return path if _SIDECAR.fullmatch(path) else ""


def batches_of(snapshot: Snapshot) -> tuple[BatchState, ...]:
    """The batches that a snapshot replaced; none if it says nothing that can be understood."""
    try:
        told: Any = json.loads(snapshot.summary.get(BATCH, ""))
        if isinstance(told, list):  # how many rows are of which is not told
            return tuple(replace(_state(one, snapshot), rows=None) for one in told)
        return (_state(told, snapshot),)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()


def _state(told: dict[str, Any], snapshot: Snapshot) -> BatchState:
    return BatchState(
        label=str(told["label"]),
        digest=str(told["digest"]),
        config=str(told["config"]),
        schema=str(told.get("schema", "")),
        files=int(told.get("files", 0)),
        bytes=int(told.get("bytes", 0)),
        rows=snapshot.count("added-records") or 0,
        at=snapshot.at,
        snapshot=snapshot.id,
        file_list=_listed(json.dumps(told)),
    )


def checkpoint_of(metadata: TableMetadata) -> Checkpoint | None:
    """Where the state of expired snapshots is; None if there is none that can be understood."""
    try:
        told: dict[str, Any] = json.loads(metadata.properties.get(CHECKPOINT, ""))
        return Checkpoint(int(told["at"]), str(told["list"]))
    except (ValueError, KeyError, TypeError):
        return None


def checkpoint_property(checkpoint: Checkpoint) -> str:
    """The value of the property `CHECKPOINT`."""
    return json.dumps({"at": checkpoint.at, "list": checkpoint.path}, sort_keys=True)


def fold(
    metadata: TableMetadata,
    checkpointed: Iterable[BatchState] | None = None,
    *,
    at: int | None = None,
    ref: str = MAIN,
) -> BatchStates:
    """The state at a snapshot, by default the head of a ref.

    `checkpointed` is what the table's checkpoint holds; None if it has none, or it is lost.
    """
    head = metadata.head(ref)
    start = at if at is not None else head.id if head else None
    checkpoint = checkpoint_of(metadata)
    known: dict[str, BatchState] = {}
    foreign: list[int] = []
    incomplete = False
    for snapshot in metadata.ancestry(start):
        if checkpoint and snapshot.id == checkpoint.at and checkpointed is not None:
            known = {state.label: state for state in checkpointed} | known
            break
        if found := batches_of(snapshot):
            for state in found:
                known.setdefault(state.label, state)
        elif snapshot.operation != "replace" and snapshot.changes_rows:
            foreign.append(snapshot.id)
        incomplete = _lacks_ancestors(snapshot, metadata)
    states = {label: state for label, state in sorted(known.items()) if not state.is_gone}
    return BatchStates(states, tuple(foreign), incomplete)


def _lacks_ancestors(snapshot: Snapshot, metadata: TableMetadata) -> bool:
    """Whether snapshots before this one have expired; some tools then say that it had none."""
    if snapshot.parent is not None:
        return snapshot.parent not in metadata.snapshots
    return (snapshot.count("total-records") or 0) > (snapshot.count("added-records") or 0)


def oldest_kept(metadata: TableMetadata, removed: Iterable[int], *, ref: str = MAIN) -> int | None:
    """The oldest ancestor of a ref that stays when others are removed; None if all stay.

    Only the ancestors from the head down to the first that is removed stay connected.
    """
    gone, head = frozenset(removed), metadata.head(ref)
    oldest: int | None = None
    for snapshot in metadata.ancestry(head.id if head else None):
        if snapshot.id in gone:
            return oldest
        oldest = snapshot.id
    return None


def has_batches(metadata: TableMetadata) -> bool:
    """Whether any snapshot, or a checkpoint, tells of batches."""
    return CHECKPOINT in metadata.properties or any(
        BATCH in snapshot.summary for snapshot in metadata.snapshots.values()
    )


def sidecar_paths(metadata: TableMetadata) -> tuple[str, ...]:
    """The sidecars that a table needs, below the lake's root."""
    told = (snapshot.summary.get(BATCH) for snapshot in metadata.snapshots.values())
    return sidecars(told, metadata.properties.get(CHECKPOINT))


def state_line(state: BatchState) -> dict[str, Any]:
    """A state as a checkpoint stores it: without the list of its files, which goes with the
    snapshot.
    """
    return asdict(replace(state, file_list="")) | {"at": state.at.isoformat() if state.at else None}


def read_state(line: Mapping[str, Any]) -> BatchState:
    """The state that a line of a checkpoint holds; fields of a newer Lakebed are left out."""
    names = BatchState.__dataclass_fields__.keys()
    known = BatchState(**{name: value for name, value in line.items() if name in names})
    return replace(known, at=datetime.fromisoformat(line["at"]) if line.get("at") else None)
