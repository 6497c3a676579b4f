"""A check of a lake, and its repairs: looks through ports, lets the plans judge, does what they say under leases."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lakebed.care.fsck.lost import with_repair
from lakebed.care.fsck.plan import FsckState, each_once, judge
from lakebed.care.fsck.services import FsckServices
from lakebed.care.fsck.spec import (
    ClearStage,
    Finding,
    FsckReport,
    GiveBack,
    Heal,
    Looked,
    Mended,
    PointBack,
    Purge,
    Repair,
    Settle,
    Unpin,
)
from lakebed.care.fsck.walk import Inventory, judge_folders, read_some, read_stored, take_inventory, walk_table, walk_tables
from lakebed.errors import DamagedTable, LakebedError
from lakebed.names import TableName
from lakebed.ports import Along, Event, Pointer, TableMetadata
from lakebed.tables import hold_lease, settle_publications

_MANY = 100_000


def check(tools: FsckServices, *, sample: int | None) -> FsckReport:
    """Look everything over; `sample` files of data and as many of metadata are read whole, None: all. Changes no table."""
    tools.report("listing files")
    inventory = take_inventory(tools)
    pointers = tools.catalog.pointers()
    moved = tuple(_outside(tools, pointers.values()))
    at_home = {table: pointer for table, pointer in pointers.items() if pointer.location not in {found.where for found in moved}}
    walked = walk_tables(tools, inventory, at_home)
    findings = [*_database(tools), *moved, *(with_repair(tools, found, at_home.values()) for found in walked)]
    for gone in tools.catalog.dropped():
        findings += walk_table(tools, inventory, gone.pointer, dropped=True)
    # Derived tables, once there are some, are compared with their sources here.
    findings += judge(_state(tools, inventory))
    if not moved:
        findings += judge_folders(inventory, any_table=bool(pointers) or bool(tools.catalog.dropped()))
    findings += read_some(tools, inventory, sample=sample)
    findings += read_stored(tools)
    looked = Looked(len(pointers), len(inventory.reached), inventory.read, inventory.bytes)
    return FsckReport(each_once(findings), looked)


def _database(tools: FsckServices) -> Iterator[Finding]:
    if fault := tools.audit.database_fault():
        advice = "Make a copy of it, then restore a backup: lakebed restore BACKUP --force --newest"
        yield Finding("damaged database", "problem", tools.catalog.where, f"the database is damaged: {fault}", advice=advice)


def _outside(tools: FsckServices, pointers: Iterable[Pointer]) -> Iterator[Finding]:
    if tools.pointing is None:
        return  # a server of its own places tables where it likes
    for pointer in pointers:
        if tools.root.relative(pointer.location) is None:
            what = f"{pointer.table} points outside the lake"
            yield Finding("moved lake", "problem", pointer.location, what, advice="If the lake was moved: lakebed relocate")


def _state(tools: FsckServices, inventory: Inventory) -> FsckState:
    """Tables are read before the records of runs: whatever a run has made by then, its record is there."""
    tables, damaged = _readable(tools)
    running = tools.records.runs(state="running", limit=_MANY)
    work = {*tables, *damaged, *(record.table for record in running)}
    rows = tools.pointing.rows() if tools.pointing else ()
    return FsckState(
        tables,
        damaged,
        views=frozenset(row.table for row in rows if row.kind == "view" and row.table),
        leased=frozenset(table for table in work if tools.leases.holder(str(table))),
        running=running,
        pins=tools.audit.pins(),
        holds=tools.events.protected(),
        ledger=tools.audit.consumed_counts(),
        unsettled=tools.catalog.unsettled(),
        pipelines=tools.pipelines,
        shared=_shared(tools, tables, inventory),
    )


def _readable(tools: FsckServices) -> tuple[dict[TableName, TableMetadata], frozenset[TableName]]:
    found: dict[TableName, TableMetadata] = {}
    damaged = set()
    for table, pointer in tools.catalog.pointers().items():
        try:
            found |= tools.catalog.metadata([pointer])
        except DamagedTable:
            damaged.add(table)
    return found, frozenset(damaged)


def _shared(tools: FsckServices, tables: dict[TableName, TableMetadata], inventory: Inventory) -> frozenset[TableName]:
    """Hidden tables in whose folders others have files: removing one would take these along."""
    places = {table: f"{tools.root.relative(metadata.location)}/" for table, metadata in tables.items() if table.hidden}
    return frozenset(
        table
        for table, place in places.items()
        if any(path.startswith(place) and owner != str(table) for path, (owner, _) in inventory.reached.items())
    )


def mend(tools: FsckServices, findings: Iterable[Finding]) -> tuple[Mended, ...]:
    """Carry out every repair once. One that is refused, as somebody works on the table, does not keep others from being done."""
    repairs = dict.fromkeys(found.repair for found in findings if found.repair)
    return tuple(_mended(tools, repair) for repair in repairs)


def _mended(tools: FsckServices, repair: Repair) -> Mended:
    tools.report(str(repair))
    try:
        _do(tools, repair)
    except LakebedError as error:
        return Mended(str(repair), done=False, detail=error.what)
    return Mended(str(repair), done=True)


def _do(tools: FsckServices, repair: Repair) -> None:
    match repair:
        case Heal(table):
            tools.heal(table)
        case PointBack(table, move, replay) if tools.pointing:
            with hold_lease(tools.leases, str(table), holder=tools.holder, limit=tools.limit) as held:
                event = Event("altered", table, detail={"by": "fsck", "metadata": move.to})
                to = tools.pointing.stage(move.to, replay) if replay else move.to
                tools.pointing.change([replace(move, to=to)], leases=[held.require()], records=Along(events=(event,)))
        case Purge(table):
            with hold_lease(tools.leases, str(table), holder=tools.holder, limit=tools.limit):
                tools.catalog.purge(table)
        case ClearStage(folder, run_id):
            _clear_stage(tools, folder, run_id)
        case Unpin(run_ids):
            tools.records.unpin(run_ids)
        case GiveBack(holder, table):
            tools.events.unprotect(holder, table)
        case Settle():
            settle_publications(tools.catalog)


def _clear_stage(tools: FsckServices, folder: str, run_id: str) -> None:
    """Under the lease of the run's table: as long as the run is at work, nobody else gets that."""
    record = tools.records.run(run_id)
    with hold_lease(tools.leases, str(record.table) if record else folder, holder=tools.holder, limit=tools.limit):
        tools.files.clear(folder)
