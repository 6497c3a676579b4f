"""Adopting a folder: it is looked at first, then published like a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakebed.names import TableName
from lakebed.pipelines.options import ManualChange
from lakebed.pipelines.running.adopting.refusal import already_there
from lakebed.pipelines.running.manual import WriteOptions
from lakebed.pipelines.running.manual_writes import apply_change
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.tables import table_folder
from lakebed.tables.adopting.look import Adoption, FoundFolder, look_at
from lakebed.tables.adopting.place import folder_address, require_adoptable, store_of


def adopt_folder(
    services: RunServices, folder: str | Path, table: TableName, *, rewrite: bool, gates: bool
) -> RunRecord:
    """Make a table of a folder's files; if this raises, there is no such table."""
    services.placement.require_relocated()
    with _looked_at(services, folder, table, rewrite=rewrite) as found:
        options = WriteOptions(partition_by=found.adoption.partition_by)
        change = ManualChange(folder=found)
        return apply_change(services, table, options, change, gates=gates)


def plan_folder(
    services: RunServices, folder: str | Path, table: TableName, *, rewrite: bool
) -> Adoption:
    """What `adopt_folder` would do; nothing is changed."""
    with _looked_at(services, folder, table, rewrite=rewrite) as found:
        return found.adoption


@contextmanager
def _looked_at(
    services: RunServices, folder: str | Path, table: TableName, *, rewrite: bool
) -> Iterator[FoundFolder]:
    ports = services.ports
    pointers = ports.catalog.pointers()
    if table in pointers:
        raise already_there(table)
    services.placement.require_no_view(table)
    address = folder_address(folder)
    places = [table_folder(pointer.location) for pointer in pointers.values()]
    require_adoptable(address, ports.root, places, rewrite=rewrite)
    store, path = store_of(address, ports.root)
    files, root = services.source_store(store)
    with look_at(files, root, path, table=table, folder=address, rewrite=rewrite) as found:
        yield found
