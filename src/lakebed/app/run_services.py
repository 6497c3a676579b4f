"""Wiring: the engines and stores that runs work with."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.app.stores import Stores
from lakebed.errors import BadSettings, LakebedError
from lakebed.pipelines import RunServices
from lakebed.ports import Compute, Files, LocalSession
from lakebed.settings import DATA, SETTINGS_FILE, Root, Settings, cache_folder, logs_folder
from lakebed.tables import TablePlacement

if TYPE_CHECKING:
    from lakebed.derived.layouts import Layouts
    from lakebed.names import TableName
    from lakebed.ports import CareEntry
    from lakebed.tables import HeldLease

    Care = Callable[[TableName, HeldLease], Sequence[CareEntry]]


def open_run_services(
    placement: TablePlacement,
    stores: Stores,
    *,
    compute: Callable[[str], Compute],
    cancel: Callable[[], None],
    holder: str,
    own_spark: bool,
    environment: Mapping[str, str],
    layouts: "Callable[[], Layouts]",
    care: "Care",
) -> RunServices:
    """The services of a lake's runs.

    Starts no engine: `compute` and the local session are opened when a run needs them.
    """
    settings, root = placement.settings, placement.root
    logs = logs_folder(settings, root, environment)
    return RunServices(
        placement,
        stores.leases,
        stores.records,
        compute=compute,
        cancel=cancel,
        workbench=lambda: _local_session(stores, settings),
        scratch=lambda run_id: scratch_folder(root, environment) / run_id,
        log=lambda run_id: logs / "runs" / f"{run_id}.log",
        holder=holder,
        releases=stores.releases,
        snapshots=lambda: stores.snapshots,
        own_spark=own_spark,
        elsewhere=partial(_elsewhere, settings, root),
        layouts=layouts,
        scans=lambda: stores.scans,
        care=care,
    )


def _elsewhere(settings: Settings, lake: Root, store: str) -> tuple[Files, Root]:
    from lakebed.engines.files import FolderFiles, open_files
    from lakebed.engines.spark import reads_s3

    if store == "/":
        return FolderFiles(Path("/")), Root("file://")
    if not reads_s3(settings, lake):
        raise BadSettings(
            f"a source is in the bucket {store}, and no setting says how buckets are reached.",
            where=SETTINGS_FILE,
            next="Set files.region; for a server other than AWS files.endpoint, and its keys.",
        )
    root = Root.parse(store)
    return open_files(root, settings.files), root


def scratch_folder(root: Root, environment: Mapping[str, str]) -> Path:
    """Where runs keep files for a while: on this machine, and on the lake's disk if it has one, as
    links do not cross disks.
    """
    base = cache_folder(environment) if root.is_bucket else root.folder / DATA
    return base / "staging"


def _local_session(stores: Stores, settings: Settings) -> LocalSession:
    from lakebed.engines.duckdb import DuckWorkbench
    from lakebed.engines.iceberg import file_properties

    return DuckWorkbench(
        stores.catalog,
        timezone=settings.timezone,
        properties=file_properties(settings.files),
        spill=settings.places.spill,
    )


def keep_logs(files: Files, folder: Path) -> None:
    """Copy this machine's logs to the bucket. If that fails they stay where they are."""
    with suppress(LakebedError):
        for log in sorted(folder.rglob("*.log")):
            with log.open("rb") as file:
                files.write(f"{DATA}/logs/{log.relative_to(folder).as_posix()}", file)
