"""Expiring snapshots: first they are removed from metadata, then the files go that nothing else
reaches.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import uuid4

from lakebed.care.ages import LETTING_GO, expirable, let_go
from lakebed.care.all_tables import Member, Stock
from lakebed.care.outcome import Done
from lakebed.care.removal.checkpoints import checkpoint_amendments
from lakebed.care.removal.landing_proofs import decide_on_landing_files
from lakebed.care.removal.protection import protected_by
from lakebed.care.removal.reachable import Look
from lakebed.care.removal.removal import (
    Removal,
    checksum_of,
    delete_files,
    discard_removal,
    removable,
    sized,
    write_removal,
)
from lakebed.care.services import CareServices
from lakebed.care.steps import ExpireSnapshots, FinishRemoval
from lakebed.errors import PointerMoved
from lakebed.names import TableName
from lakebed.ports import (
    ChangeRecords,
    Event,
    Pointer,
    RemoveSnapshots,
    TableMetadata,
)
from lakebed.settings import SAFE_DAYS, TableCare
from lakebed.tables import USED_MARKER, HeldLease
from lakebed.tables.ledger.decisions import recorded_by_commit
from lakebed.work import OnProgress, retry

ATTEMPTS = 5


def released(services: CareServices, *, now: datetime, days: float) -> dict[int, datetime]:
    """When refs stopped pointing at snapshots, as far back as it matters."""
    return let_go(
        services.ports.events.since(
            kinds=LETTING_GO, after=now - timedelta(days=days), limit=1_000_000
        )
    )


def expire(
    step: ExpireSnapshots,
    rules: TableCare,
    services: CareServices,
    held: HeldLease,
    *,
    now: datetime,
    on_progress: OnProgress,
) -> Done:
    """Remove snapshots from the table's metadata, then the files that nothing else reaches."""
    refuse_unresolved(services.observer.first_look)
    attempt = partial(_expire, step.table, rules, services, held, now=now)
    expired = retry(attempt, attempts=ATTEMPTS, repeatable=False, pause=lambda _: 0.0)
    if isinstance(expired, Done):
        return expired
    return with_counts(
        remove(expired, services, on_progress=on_progress), {"snapshots": len(expired.snapshots)}
    )


def _expire(
    table: TableName, rules: TableCare, services: CareServices, held: HeldLease, *, now: datetime
) -> Removal | Done:
    """Decides again under the lease: what was pinned, tagged or protected since the plan stays."""
    pointer = services.ports.catalog.pointers([table]).get(table)
    if pointer is None:
        return Done({}, message="the table is gone")
    metadata = services.ports.catalog.metadata([pointer])[table]
    freed = released(services, now=now, days=rules.snapshot_max_age_days)
    ids = expirable(metadata, rules, kept=services.kept(), released=freed, now=now)
    if not ids:
        return Done({}, message="nothing may expire any more")
    removal = _expiry(pointer, metadata, ids, services, now=now)
    write_removal(services.ports.files, removal)
    try:
        _forget_snapshots(pointer, metadata, ids, services, held)
    except PointerMoved:
        discard_removal(services.ports.files, removal)
        raise
    return removal


def refuse_unresolved(look: Look) -> Look:
    """Refuse to expire anything while a table points outside the lake, or to an unknown place.

    One that is damaged stops nothing here: files wait until it can be read.
    """
    if look.in_the_way:
        raise look.in_the_way
    return look


def with_counts(done: Done, counts: Mapping[str, int]) -> Done:
    """The same result with more counts."""
    return Done({**counts, **done.counts}, done.bytes, done.message)


def _forget_snapshots(
    pointer: Pointer,
    metadata: TableMetadata,
    ids: tuple[int, ...],
    services: CareServices,
    held: HeldLease,
) -> None:
    head = metadata.head()
    event = Event(
        "expired", pointer.table, head.id if head else None, {"snapshots": ",".join(map(str, ids))}
    )
    decision = decide_on_landing_files(pointer.table, metadata, ids, services)
    checkpoints = checkpoint_amendments(pointer, metadata, ids, services.ports)
    with recorded_by_commit(decision, services.ports.files) as recording:
        services.ports.catalog.amend(
            pointer.table,
            [*checkpoints, RemoveSnapshots(ids), *recording],
            expected=pointer,
            leases=[held.require()],
            records=ChangeRecords(events=(event,), descents=decision.descents if decision else ()),
        )


def _expiry(
    pointer: Pointer,
    metadata: TableMetadata,
    ids: tuple[int, ...],
    services: CareServices,
    *,
    now: datetime,
) -> Removal:
    """All that these snapshots reach, and older metadata files; what the table still needs is
    sorted out at the end.
    """
    path_of = services.ports.files.path_of
    found: dict[str, int | None] = {}
    for file in services.ports.reach.files(pointer, snapshots=ids):
        found[path_of(file.location) or ""] = file.size
    for location in metadata.statistics:
        found[path_of(location) or ""] = None
    found |= dict(_metadata_files(path_of(metadata.location), services, now=now))
    folders = services.observer.first_look.stock.folders
    return removal_of(
        "expired", pointer.table, metadata.uuid, found, services, folders=folders, snapshots=ids
    )


def _metadata_files(
    folder: str | None, services: CareServices, *, now: datetime
) -> Iterator[tuple[str, int]]:
    """Metadata files so old that no commit can still be about to use them."""
    for file in services.ports.files.list(f"{folder}/metadata") if folder else ():
        if ".metadata.json" in file.path and file.modified < now - timedelta(days=SAFE_DAYS):
            yield file.path, file.size


def removal_of(
    kind: Literal["expired", "dropped"],
    table: TableName,
    uuid: str,
    found: Mapping[str, int | None],
    services: CareServices,
    *,
    folders: AbstractSet[str],
    snapshots: tuple[int, ...] = (),
) -> Removal:
    """What is to be removed of the files that were found: those in warehouses, and in the folders
    of tables.
    """
    ours = {path: size for path, size in found.items() if removable(path, folders)}
    sizes = sized(services.ports.files, ours)
    return Removal(uuid4().hex, kind, str(table), uuid, snapshots, sizes)


def remove(removal: Removal, services: CareServices, *, on_progress: OnProgress) -> Done:
    """Delete what no table of the catalog reaches now, whoever wrote it: files are shared in more
    ways than we know of.

    If a table cannot be read, or one of the snapshots is protected, the files wait for the next
    care: cloning protects a snapshot first, then checks that it exists, and unprotects it once the
    clone is there.
    """
    kept = services.kept()
    look = services.observer.look()
    if holder := protected_by(removal.snapshots, kept, look.stock):
        message = f"its files are kept for now: {holder} protects a snapshot"
        return Done({"files": 0}, message=message)
    if look.refused:
        return Done({"files": 0}, message=f"its files are kept for now: {look.refused}")
    doomed = look.unneeded(removal.files)
    _mark(removal, doomed, look.stock, services)
    count = delete_files(services.ports.files, list(doomed), on_progress=on_progress)
    if not services.ports.root.is_bucket:
        delete_files(
            services.ports.files, [checksum_of(path) for path in doomed], on_progress=on_progress
        )
    discard_removal(services.ports.files, removal)
    return Done({"files": count}, sum(doomed.values()))


def _mark(
    removal: Removal, doomed: Mapping[str, int], stock: Stock, services: CareServices
) -> None:
    """A dropped table's folder keeps a marker that it was used, so that no other table is placed in
    it.
    """
    if removal.kind != "dropped" or removal.name.temporary:
        return
    for folder in {path.rpartition("/metadata/")[0] for path in doomed if ".metadata.json" in path}:
        if folder not in stock.folders:
            services.ports.files.write(f"{folder}/{USED_MARKER}", b"")


def finish(step: FinishRemoval, services: CareServices, *, on_progress: OnProgress) -> Done:
    """Complete a removal whose process died; one whose commit never happened is forgotten."""
    removal = step.removal
    same = [
        member for member in services.observer.take_stock().members if member.uuid == removal.uuid
    ]
    happened = (
        not same
        if removal.kind == "dropped"
        else not any(_knows(member, removal) for member in same)
    )
    if not happened:
        discard_removal(services.ports.files, removal)
        return Done({}, message="its commit never happened")
    return remove(removal, services, on_progress=on_progress)


def _knows(member: Member, removal: Removal) -> bool:
    return member.metadata is None or not member.metadata.snapshots.keys().isdisjoint(
        removal.snapshots
    )
