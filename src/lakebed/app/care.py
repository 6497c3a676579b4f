"""`care` wired to the lake's stores, pipelines, zones and releases."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from lakebed.app.run_services import scratch_folder
from lakebed.care import CareServices, Reaping, ZoneRules
from lakebed.care.observer import LakeObserver
from lakebed.care.pipeline_settings import ConfigFile, read_all_own_care
from lakebed.care.removal.copies import remove_unneeded_copies
from lakebed.derived.layouts import Layouts
from lakebed.engines.files import open_files
from lakebed.errors import BadName, LakebedError
from lakebed.landing import read_zone_spec, zone_folders
from lakebed.names import TableName
from lakebed.pipelines import RunServices
from lakebed.pipelines.definition.load import list_folders
from lakebed.pipelines.releases import fetch_content, reap_releases
from lakebed.pipelines.running.heal import heal
from lakebed.ports import Files, LakePorts, Lease
from lakebed.settings import DATA, IN_BUCKET, Root, Settings, TableCare, logs_folder, staging_place
from lakebed.tables.ownership import OwnedFiles, Ownership

CONFIG = "config.yaml"


def care_services(
    runs: RunServices, ownership: Ownership, environment: Mapping[str, str]
) -> CareServices:
    """What one care of this lake works with."""
    ports = runs.ports
    owned = partial(_owned, settings=ports.settings, ownership=ownership)
    return CareServices(
        ports=ports,
        observer=LakeObserver(ports),
        rooms=LakeRooms(runs),
        logs=owned(_log_places(ports, environment)),
        staging=owned(_staging_places(ports, environment)),
    )


@dataclass(frozen=True)
class LakeRooms:
    """The `OtherRooms` of a lake's care; see there."""

    runs: RunServices

    @property
    def layouts(self) -> Layouts:
        """Those of the lake's tables."""
        return self.runs.layouts

    def heal(self, table: TableName, lease: Lease) -> int:
        """Close a table's dead runs, and count them."""
        return len(heal(table, self.runs, lease=lease))

    def own_care(self) -> Mapping[TableName, TableCare | LakebedError]:
        """What pipelines say of the care of their tables, or why it cannot be read."""
        return read_all_own_care(_configs(self.runs.ports))

    def zones(self) -> tuple[ZoneRules, ...]:
        """The zones whose settings can be read."""
        return tuple(_zones(self.runs.ports))

    def reap(self, now: datetime, *, dry_run: bool) -> Reaping:
        """Remove what no release or draft needs any more, or only look for it."""
        return _reap(self.runs.ports, now, dry_run=dry_run)


def _configs(ports: LakePorts) -> Iterator[ConfigFile]:
    """The `config.yaml` of every draft, then of the newest releases."""
    for folder, paths in list_folders(ports.files).items():
        if table := _table_of(folder):
            where = f"{folder}/{CONFIG}"
            yield ConfigFile(
                table, where, partial(ports.files.read, where) if CONFIG in paths else None
            )
    for table, release in ports.releases.newest().items():
        if CONFIG in release.files:
            where = f"{table.pipeline_folder}/{CONFIG}, version {release.version}"
            yield ConfigFile(table, where, partial(_released, ports.files, release.files[CONFIG]))


def _table_of(folder: str) -> TableName | None:
    namespace, _, layer, name = folder.split("/")
    try:
        return TableName.of_pipeline(namespace, layer, name)
    except BadName:
        return None


def _released(files: Files, digest: str) -> bytes:
    return fetch_content(files, {CONFIG: digest})[CONFIG]


def _zones(ports: LakePorts) -> Iterator[ZoneRules]:
    """Zones whose settings can be read: without them nothing of a zone may be removed."""
    for zone in zone_folders(ports.files):
        try:
            spec = read_zone_spec(ports.files, zone)
        except LakebedError:
            continue
        readers = (
            {file.table for file in ports.records.consumed(zone)} if spec.auto_purge else set()
        )
        yield ZoneRules(zone, spec, tuple(sorted(readers)))


def _reap(ports: LakePorts, now: datetime, *, dry_run: bool) -> Reaping:
    reaped = reap_releases(
        ports.files, ports.releases, ports.settings.releases, now=now, dry_run=dry_run
    )
    names = ("drafts", "pipelines", "releases", "objects")
    before = now - timedelta(days=ports.settings.care.events_max_age_days)
    copies = remove_unneeded_copies(
        ports.files, ports.catalog, ports.records, before=before, dry_run=dry_run
    )
    return Reaping(
        {name: getattr(reaped, name) for name in names} | {"copies": copies}, reaped.bytes
    )


def _owned(places: Iterable[str], *, settings: Settings, ownership: Ownership) -> dict[str, Files]:
    """The files of these places, removed only while the lake is the database's: a copy of it may
    mean the same places.
    """
    roots = {place: Root(place if "://" in place else f"file://{place}") for place in places}
    return {
        place: OwnedFiles(open_files(root, settings.files), ownership)
        for place, root in roots.items()
    }


def _log_places(ports: LakePorts, environment: Mapping[str, str]) -> Iterator[str]:
    yield str(logs_folder(ports.settings, ports.root, environment))
    if ports.settings.places.logs == IN_BUCKET:
        yield ports.root.at(f"{DATA}/logs")


def _staging_places(ports: LakePorts, environment: Mapping[str, str]) -> Iterator[str]:
    root = ports.root
    yield str(scratch_folder(root, environment))
    yield staging_place(ports.settings, root, environment)
    if root.is_bucket:  # frames go through the bucket, wherever payloads wait
        yield root.at(f"{DATA}/staging")
