"""`care` wired to the lake's stores, pipelines, zones and releases."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from lakebed.app.run_services import scratch_folder
from lakebed.app.stores import Stores
from lakebed.care import CareServices, Reaping, ZoneRules
from lakebed.care.observer import LakeObserver
from lakebed.care.pipeline_settings import ConfigFile, read_all_own_care
from lakebed.care.removal.copies import remove_unneeded_copies
from lakebed.engines.files import open_files
from lakebed.errors import BadName, LakebedError
from lakebed.landing import read_zone_spec, zone_folders
from lakebed.names import TableName
from lakebed.pipelines import RunServices
from lakebed.pipelines.definition.load import list_folders
from lakebed.pipelines.releases import fetch_content, reap_releases
from lakebed.pipelines.running.heal import heal
from lakebed.ports import Files, Lease
from lakebed.settings import DATA, IN_BUCKET, Root, Settings, logs_folder, staging_place
from lakebed.tables.ownership import OwnedFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from lakebed.derived.layouts import Layouts
    from lakebed.work import OnProgress

    Watch = Callable[[OnProgress], AbstractContextManager[None]]

CONFIG = "config.yaml"


def care_services(
    root: Root,
    settings: Settings,
    stores: Stores,
    runs: RunServices,
    environment: Mapping[str, str],
    *,
    watch: "Watch",
    layouts: "Callable[[], Layouts]",
) -> CareServices:
    """What one care of this lake works with."""
    return CareServices(
        root,
        settings,
        stores.files,
        stores.catalog,
        stores.leases,
        stores.records,
        stores.events,
        stores.reach,
        LakeObserver(root, stores.files, stores.catalog, stores.reach),
        stores.care,
        runs.holder,
        compute=runs.compute,
        heal=partial(_heal, runs),
        own_care=lambda: read_all_own_care(_configs(stores)),
        zones=lambda: tuple(_zones(stores)),
        reap=partial(_reap, stores, settings),
        logs=_owned(_log_places(root, settings, environment), stores, settings),
        staging=_owned(_staging_places(root, settings, environment), stores, settings),
        layouts=layouts,
        scans=lambda: stores.scans,
        watch=watch,
    )


def _heal(runs: RunServices, table: TableName, lease: Lease) -> int:
    return len(heal(table, runs, lease=lease))


def _configs(stores: Stores) -> Iterator[ConfigFile]:
    """The `config.yaml` of every draft, then of the newest releases."""
    for folder, paths in list_folders(stores.files).items():
        if table := _table_of(folder):
            where = f"{folder}/{CONFIG}"
            yield ConfigFile(
                table, where, partial(stores.files.read, where) if CONFIG in paths else None
            )
    for table, release in stores.releases.newest().items():
        if CONFIG in release.files:
            where = f"{table.pipeline_folder}/{CONFIG}, version {release.version}"
            yield ConfigFile(table, where, partial(_released, stores.files, release.files[CONFIG]))


def _table_of(folder: str) -> TableName | None:
    namespace, _, layer, name = folder.split("/")
    try:
        return TableName.of_pipeline(namespace, layer, name)
    except BadName:
        return None


def _released(files: Files, digest: str) -> bytes:
    return fetch_content(files, {CONFIG: digest})[CONFIG]


def _zones(stores: Stores) -> Iterator[ZoneRules]:
    """Zones whose settings can be read: without them nothing of a zone may be removed."""
    for zone in zone_folders(stores.files):
        try:
            spec = read_zone_spec(stores.files, zone)
        except LakebedError:
            continue
        readers = (
            {file.table for file in stores.records.consumed(zone)} if spec.auto_purge else set()
        )
        yield ZoneRules(zone, spec, tuple(sorted(readers)))


def _reap(stores: Stores, settings: Settings, now: datetime, dry_run: bool) -> Reaping:
    reaped = reap_releases(
        stores.files, stores.releases, settings.releases, now=now, dry_run=dry_run
    )
    names = ("drafts", "pipelines", "releases", "objects")
    before = now - timedelta(days=settings.care.events_max_age_days)
    copies = remove_unneeded_copies(
        stores.files, stores.catalog, stores.records, before=before, dry_run=dry_run
    )
    return Reaping(
        {name: getattr(reaped, name) for name in names} | {"copies": copies}, reaped.bytes
    )


def _owned(places: Iterable[str], stores: Stores, settings: Settings) -> dict[str, Files]:
    """The files of these places, removed only while the lake is the database's: a copy of it may
    mean the same places.
    """
    roots = {place: Root(place if "://" in place else f"file://{place}") for place in places}
    return {
        place: OwnedFiles(open_files(at, settings.files), stores.ownership)
        for place, at in roots.items()
    }


def _log_places(root: Root, settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    yield str(logs_folder(settings, root, environment))
    if settings.places.logs == IN_BUCKET:
        yield root.at(f"{DATA}/logs")


def _staging_places(
    root: Root, settings: Settings, environment: Mapping[str, str]
) -> Iterator[str]:
    yield str(scratch_folder(root, environment))
    yield staging_place(settings, root, environment)
    if root.is_bucket:  # frames go through the bucket, wherever payloads wait
        yield root.at(f"{DATA}/staging")
