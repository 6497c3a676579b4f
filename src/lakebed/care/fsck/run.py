"""A check of a lake, and its repairs: reads through ports, compares with pure functions, repairs
under leases.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from lakebed.care.fsck.folders import moved_lake
from lakebed.care.fsck.lost import with_repair
from lakebed.care.fsck.plan import FsckState, each_once, judge
from lakebed.care.fsck.protections import judge_protections, read_protections, release_dead
from lakebed.care.fsck.services import FsckServices
from lakebed.care.fsck.spec import (
    SAMPLE,
    ClearStage,
    Finding,
    FsckReport,
    GiveBack,
    Heal,
    Looked,
    PointBack,
    Purge,
    Relist,
    Repair,
    RepairOutcome,
    Settle,
    Unpin,
)
from lakebed.care.fsck.walk import (
    Inventory,
    judge_counterparts,
    judge_folders,
    read_some,
    read_stored,
    take_inventory,
    walk_table,
    walk_tables,
)
from lakebed.derived.identity import DERIVED_TABLES, layouts_lease, listing
from lakebed.errors import DamagedTable, LakebedError
from lakebed.names import TableName, run_of_hidden
from lakebed.ports import ChangeRecords, Event, Pointer, SetProperties, TableMetadata
from lakebed.tables import (
    amend,
    former_root,
    require_relocated,
    settle_publications,
)

_MANY = 100_000


def run_fsck(
    services: FsckServices, *, repair: bool = False, sample: int | None = SAMPLE
) -> FsckReport:
    """Check the lake; `repair` makes the repairs that lose nothing, and checks again."""
    report = check(services, sample=sample)
    if not repair or not any(found.repair for found in report.findings):
        return report
    repairs = make_repairs(services, report.findings)
    return replace(check(services, sample=sample), repairs=repairs)


def check(services: FsckServices, *, sample: int | None) -> FsckReport:
    """Check everything; `sample` files of data and as many of metadata are read in full, None: all.
    Changes no table.
    """
    services.report("listing files")
    inventory = take_inventory(services)
    pointers = services.ports.catalog.pointers()
    moved = tuple(_outside(services, pointers.values()))
    at_home = {
        table: pointer
        for table, pointer in pointers.items()
        if pointer.location not in {found.where for found in moved}
    }
    walked = walk_tables(services, inventory, at_home)
    findings = [
        *_database(services),
        *moved,
        *(with_repair(services, found, at_home.values()) for found in walked),
    ]
    for gone in services.ports.catalog.dropped():
        findings += walk_table(services, inventory, gone.pointer, dropped=True)
    if services.pointer_rows:
        findings += judge_counterparts(inventory)
    findings += judge(_state(services, inventory))
    findings += judge_protections(read_protections(services))
    if not any(found.kind == "moved lake" for found in findings):
        findings += judge_folders(
            inventory, any_table=bool(pointers) or bool(services.ports.catalog.dropped())
        )
    findings += read_some(services, inventory, sample=sample)
    findings += read_stored(services)
    looked = Looked(len(pointers), len(inventory.reached), inventory.read, inventory.bytes)
    return FsckReport(each_once(findings), looked)


def _database(services: FsckServices) -> Iterator[Finding]:
    if fault := services.audit.database_fault():
        advice = "Make a copy of it, then restore a backup: lakebed restore BACKUP --force --newest"
        yield Finding(
            "damaged database",
            "problem",
            services.ports.catalog.where,
            f"the database is damaged: {fault}",
            advice=advice,
        )


def _outside(services: FsckServices, pointers: Iterable[Pointer]) -> Iterator[Finding]:
    if services.pointer_rows is None:
        return  # a separate catalog server places tables wherever it likes
    for pointer in pointers:
        if services.ports.root.relative(pointer.location) is None:
            yield moved_lake(pointer.location, f"{pointer.table} points outside the lake")
        elif was := _former_root(services, pointer):
            yield moved_lake(
                pointer.location, f"{pointer.table} names files at {was}", former_root=was
            )


def _former_root(services: FsckServices, pointer: Pointer) -> str:
    try:
        metadata = services.ports.catalog.metadata([pointer])[pointer.table]
    except DamagedTable:  # its walk reports the damage
        return ""
    return former_root(pointer.location, metadata, services.ports.files.path_of)


def _state(services: FsckServices, inventory: Inventory) -> FsckState:
    """Tables are read before the records of runs, so that the record of every run that created
    something is found.
    """
    tables, damaged = _readable(services)
    running = services.ports.records.runs(state="running", limit=_MANY)
    work = {*tables, *damaged, *(record.table for record in running)}
    rows = services.pointer_rows.rows() if services.pointer_rows else ()
    return FsckState(
        tables,
        damaged,
        dropped=frozenset(gone.uuid for gone in services.ports.catalog.dropped()),
        views=frozenset(row.table for row in rows if row.kind == "view" and row.table),
        leased=frozenset(table for table in work if services.ports.leases.holder(str(table))),
        running=running,
        pins=services.audit.pins(),
        holds=services.ports.events.protected(),
        ledger=services.audit.consumed_counts(),
        unsettled=services.ports.catalog.unsettled(),
        unsettled_changes=services.ports.catalog.unsettled_changes(),
        pipelines=services.pipelines,
        shared=_shared(services, tables, inventory),
    )


def _readable(
    services: FsckServices,
) -> tuple[dict[TableName, TableMetadata], frozenset[TableName]]:
    found: dict[TableName, TableMetadata] = {}
    damaged = set()
    for table, pointer in services.ports.catalog.pointers().items():
        try:
            found |= services.ports.catalog.metadata([pointer])
        except DamagedTable:
            damaged.add(table)
    return found, frozenset(damaged)


def _shared(
    services: FsckServices, tables: dict[TableName, TableMetadata], inventory: Inventory
) -> frozenset[TableName]:
    """Tables of runs in whose folders other tables have files, which would be removed, too."""
    places = {
        table: f"{services.ports.root.relative(metadata.location)}/"
        for table, metadata in tables.items()
        if run_of_hidden(table.name)
    }
    return frozenset(
        table
        for table, place in places.items()
        if any(
            path.startswith(place) and owner != str(table)
            for path, (owner, _) in inventory.reached.items()
        )
    )


def make_repairs(services: FsckServices, findings: Iterable[Finding]) -> tuple[RepairOutcome, ...]:
    """Make every repair once. One that fails, because its table is in use, does not stop the
    others.
    """
    repairs = dict.fromkeys(found.repair for found in findings if found.repair)
    return tuple(_make_repair(services, repair) for repair in repairs)


def _make_repair(services: FsckServices, repair: Repair) -> RepairOutcome:
    ports = services.ports
    services.report(str(repair))
    try:
        if isinstance(repair, Heal | PointBack | Purge | Relist):  # these write metadata
            require_relocated(ports.catalog, ports.files, ports.root, [repair.table])
        _do(services, repair)
    except LakebedError as error:
        return RepairOutcome(str(repair), done=False, detail=error.what)
    return RepairOutcome(str(repair), done=True)


def _do(services: FsckServices, repair: Repair) -> None:
    match repair:
        case Heal(table):
            services.heal(table)
        case PointBack():
            _point_back(services, repair)
        case Purge(table):
            with services.holding(str(table)):
                services.ports.catalog.purge(table)
        case ClearStage(folder, run_id):
            _clear_stage(services, folder, run_id)
        case Unpin(run_ids):
            services.ports.records.unpin(run_ids)
        case GiveBack():
            release_dead(services, repair)
        case Settle():
            settle_publications(services.ports.catalog)
        case Relist():
            _relist(services, repair)
        case _:
            assert_never(repair)


def _relist(services: FsckServices, repair: Relist) -> None:
    listed = SetProperties({DERIVED_TABLES: listing(repair.derived)})
    with services.holding(layouts_lease(repair.table)):
        amend(services.ports.catalog, repair.table, [listed])


def _point_back(services: FsckServices, repair: PointBack) -> None:
    if services.pointer_rows is None:
        return  # found only if the catalog's rows are in our database
    table, move = repair.table, repair.move
    with services.holding(str(table)) as held:
        event = Event("altered", table, detail={"by": "fsck", "metadata": move.to})
        to = services.pointer_rows.stage(move.to, repair.replay) if repair.replay else move.to
        records = ChangeRecords(events=(event,))
        services.pointer_rows.change(
            [replace(move, to=to)], leases=[held.require()], records=records
        )


def _clear_stage(services: FsckServices, folder: str, run_id: str) -> None:
    """Under the lease of the run's table, which an active run would hold."""
    record = services.ports.records.run(run_id)
    with services.holding(str(record.table) if record else folder):
        services.ports.files.clear(folder)
