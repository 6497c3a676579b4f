"""Decisions on landing files among the lake's files: what the database knows of them, and a lost
database would take with it.

Expiry writes down that runs were published before it removes the snapshots that prove it; a
rollback writes down which files wait again and which are held. Each decision is a file of its own
that never changes. It is written before its commit, and the commit sets the table's property to
its id. Each names the one before it: those that lead to the property's value happened, in the state
of the table that has this property. One whose commit never happened is reached from nowhere.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from lakebed.errors import Conflict, LakebedError
from lakebed.ports import (
    LEDGER_DECISION,
    ConsumedFile,
    Descent,
    Files,
    FileState,
    FileStateChange,
    SetProperties,
    TableMetadata,
)
from lakebed.tables.ledger.copies import FOLDER
from lakebed.tables.ledger.descent import Descents
from lakebed.tables.ownership import LakeFormat, raise_format

_AT_ONCE = 8
FileKey = tuple[str, str]  # where a file landed, and the run that took it


@dataclass(frozen=True)
class LedgerDecision:
    """What becomes known or changes with one commit of a table. `published` runs are those whose
    snapshots no longer prove it.
    """

    id: str
    uuid: str  # the table's
    after: str  # the id of the decision before it; empty: it is the table's first
    published: tuple[str, ...] = ()
    states: tuple[tuple[FileState, tuple[FileKey, ...]], ...] = ()
    descents: tuple[Descent, ...] = ()

    @property
    def amendment(self) -> SetProperties:
        """By which the commit records that the decision happened."""
        return SetProperties({LEDGER_DECISION: self.id})


@dataclass(frozen=True)
class DecidedFiles:
    """What all decisions of a table come to."""

    published: frozenset[str]
    states: Mapping[FileKey, FileState]
    descents: tuple[Descent, ...]


def decide_rollback(
    metadata: TableMetadata, changes: Iterable[FileStateChange]
) -> LedgerDecision | None:
    """A rollback changes these states; None if it changes none."""
    states = tuple((change.state, change.files) for change in changes)
    return _next(metadata, states=states) if states else None


def decide_expiry(
    metadata: TableMetadata,
    ids: Collection[int],
    ledger: Iterable[ConsumedFile],
    recorded: Iterable[Descent],
    *,
    proved: Collection[str],
) -> LedgerDecision | None:
    """These snapshots expire: what they prove of the ledger's files. None if it has no files.

    Runs without a snapshot are included unless they are `proved`: another tool may have expired it,
    or they changed no row.
    """
    rows = tuple(ledger)
    if not rows:
        return None
    stay = {one.run_id for one in metadata.snapshots.values() if one.id not in set(ids)}
    published = {row.run_id for row in rows} - stay - set(proved)
    states: dict[FileState, list[FileKey]] = {}
    for row in rows:
        if row.run_id in published and row.state != "taken":
            states.setdefault(row.state, []).append((row.path, row.run_id))
    return _next(
        metadata,
        published=tuple(sorted(published)),
        states=tuple((state, tuple(keys)) for state, keys in sorted(states.items())),
        descents=Descents(metadata, recorded).of_expiring(ids),
    )


def _next(metadata: TableMetadata, **content: Any) -> LedgerDecision:
    after = metadata.properties.get(LEDGER_DECISION, "")
    return LedgerDecision(id=uuid4().hex, uuid=metadata.uuid, after=after, **content)


def write_decision(files: Files, decision: LedgerDecision) -> None:
    """Write a decision; it counts once its commit has happened."""
    raise_format(files, LakeFormat.LEDGER_DECISIONS)  # older versions would not know of it
    files.create(_path(decision.uuid, decision.id), json.dumps(asdict(decision)).encode())


@contextmanager
def recorded_by_commit(
    decision: LedgerDecision | None, files: Files
) -> Iterator[tuple[SetProperties, ...]]:
    """Write a decision for the commit in this block, which has to make these amendments; it is
    removed again if the commit certainly did not happen.
    """
    if decision is None:
        yield ()
        return
    write_decision(files, decision)
    try:
        yield (decision.amendment,)
    except LakebedError as error:
        if isinstance(error, Conflict) or not error.retryable:
            discard_decision(files, decision)
        raise


def discard_decision(files: Files, decision: LedgerDecision) -> None:
    """The commit of a decision certainly did not happen."""
    files.delete(_path(decision.uuid, decision.id))


def forget_decisions(files: Files, uuid: str) -> None:
    """A table was purged: nobody asks for its decisions any more."""
    files.clear(f"{FOLDER}/decisions/{uuid}")


def read_decisions(files: Files, metadata: TableMetadata) -> DecidedFiles:
    """What happened, in the order in which it did."""
    last = metadata.properties.get(LEDGER_DECISION, "")
    stored = _stored(files, metadata.uuid) if last else {}
    happened: list[LedgerDecision] = []
    while last in stored:
        happened.append(stored[last])
        last = stored[last].after
    states: dict[FileKey, FileState] = {}
    descents: dict[int, Descent] = {}  # the last word on each snapshot
    for decision in reversed(happened):
        for state, keys in decision.states:
            states |= dict.fromkeys(keys, state)
        descents |= {descent.snapshot: descent for descent in decision.descents}
    return DecidedFiles(
        published=frozenset(run_id for decision in happened for run_id in decision.published),
        states=states,
        descents=tuple(descents.values()),
    )


def _stored(files: Files, uuid: str) -> dict[str, LedgerDecision]:
    paths = [file.path for file in files.list(f"{FOLDER}/decisions/{uuid}")]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        decisions = [_decision(json.loads(text)) for text in pool.map(files.read, paths)]
    return {decision.id: decision for decision in decisions}


def _path(uuid: str, id: str) -> str:
    return f"{FOLDER}/decisions/{uuid}/{id}.json"


def _decision(stored: Mapping[str, Any]) -> LedgerDecision:
    return LedgerDecision(
        id=stored["id"],
        uuid=stored["uuid"],
        after=stored["after"],
        published=tuple(stored["published"]),
        states=tuple((state, tuple(map(tuple, keys))) for state, keys in stored["states"]),
        descents=tuple(Descent(**descent) for descent in stored["descents"]),
    )
