"""Care of a lake: `care` wired to the lake's stores, pipelines, zones and releases."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lakebed.app.run_services import scratch_folder
from lakebed.app.stores import Stores
from lakebed.care import CareListener, CareRequest, CareResult, CareServices, Reaping, ZoneRules, read_own_care, take_care
from lakebed.care.observer import LakeObserver
from lakebed.care.spec import action_named
from lakebed.engines.files import open_files
from lakebed.errors import BadName, FileMissing, LakebedError, UnknownName
from lakebed.landing import read_zone_spec, zone_folders
from lakebed.names import TableName
from lakebed.pipelines import RunServices
from lakebed.pipelines.definition.load import list_folders
from lakebed.pipelines.releases import fetch_content, reap_releases
from lakebed.pipelines.running.heal import heal
from lakebed.pipelines.running.ledger_copies import remove_old_copies
from lakebed.ports import CareEntry, Files, Lease
from lakebed.settings import DATA, IN_BUCKET, Root, Settings, TableCare, effective_care, logs_folder, staging_place
from lakebed.tables.lookup.names import find_by_name, tables_matching

CONFIG = "config.yaml"
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class CareView:
    """How a table is cared for: what holds for all tables, what differs for this one, and what that amounts to."""

    table: TableName
    system: Mapping[str, Any]
    overrides: Mapping[str, Mapping[str, Any]]  # by who says so
    effective: Mapping[str, Any]


class Care:
    """The care of one lake."""

    def __init__(
        self,
        root: Root,
        settings: Settings,
        stores: Stores,
        *,
        tools: Callable[[], RunServices],
        logs: Path,
        staging: Iterable[str],
        watch: Any,
    ) -> None:
        self._root, self._settings, self._stores = root, settings, stores
        self._tools, self._logs, self._staging, self._watch = tools, logs, tuple(staging), watch

    def take(
        self,
        tables: Iterable[str] = (),
        *,
        dry_run: bool = False,
        only: Iterable[str] = (),
        orphans: bool = False,
        now: datetime | None = None,
        listener: CareListener | None = None,
    ) -> CareResult:
        """Do what is due: for the tables that fit, or for the whole lake."""
        wanted = self._tables(tuple(tables))
        request = CareRequest(wanted, tuple(map(action_named, only)), dry_run, orphans)
        return take_care(self.tools(), request, now=now or datetime.now(UTC), listener=listener)

    def history(self, *, subject: str | None = None, limit: int = 50) -> tuple[CareEntry, ...]:
        """What care did, newest first."""
        return self._stores.care.entries(subject=subject, limit=limit)

    def settings_of(self, name: str) -> CareView:
        """How a table is cared for, and who says so."""
        table = find_by_name(name, self._known())
        said = self.own_care().get(table, TableCare())
        if isinstance(said, LakebedError):
            raise said
        lake, namespaces, tables = self._settings.care, self._settings.namespaces, self._settings.tables
        levels = {
            "lake": effective_care(lake),
            f"namespace {table.namespace}": namespaces[table.namespace].care if table.namespace in namespaces else TableCare(),
            "table": tables[str(table)].care if str(table) in tables else TableCare(),
            "pipeline": said,
        }
        overrides = {level: care.model_dump(exclude_unset=True) for level, care in levels.items()}
        effective = self._settings.care_for(table, own=said).model_dump()
        return CareView(table, TableCare().model_dump(), {level: own for level, own in overrides.items() if own}, effective)

    def tools(self) -> CareServices:
        """What care of this lake works with."""
        stores = self._stores
        return CareServices(
            self._root,
            self._settings,
            stores.files,
            stores.catalog,
            stores.leases,
            stores.records,
            stores.events,
            stores.reach,
            LakeObserver(self._root, stores.files, stores.catalog, stores.reach),
            stores.care,
            self._tools().holder,
            compute=lambda run_id: self._tools().compute(run_id),
            heal=self._heal,
            own_care=self.own_care,
            zones=self._zones,
            reap=self._reap,
            logs=self._log_places(),
            staging={place: _opened(place, self._settings) for place in dict.fromkeys(self._staging)},
            watch=self._watch,
        )

    def own_care(self) -> dict[TableName, TableCare | LakebedError]:
        """What each pipeline says: its draft, or its newest release where the draft is gone."""
        found: dict[TableName, TableCare | LakebedError] = {}
        for folder, paths in list_folders(self._stores.files).items():
            if CONFIG in paths and (table := _table_of(folder)):
                where = f"{folder}/{CONFIG}"
                found[table] = _read(lambda where=where: self._stores.files.read(where), where)  # type: ignore[misc]
            elif table := _table_of(folder):
                found[table] = TableCare()
        for table, release in self._stores.releases.newest().items():
            if table not in found and CONFIG in release.files:
                kept = {CONFIG: release.files[CONFIG]}
                where = f"{table.pipeline_folder}/{CONFIG}, version {release.version}"
                found[table] = _read(lambda kept=kept: fetch_content(self._stores.files, kept)[CONFIG], where)  # type: ignore[misc]
        return found

    def _heal(self, table: TableName, lease: Lease) -> int:
        return len(heal(table, self._tools(), lease=lease))

    def _zones(self) -> tuple[ZoneRules, ...]:
        """Zones whose settings can be read; what they say is needed before anything of them goes."""
        found = []
        for zone in zone_folders(self._stores.files):
            try:
                spec = read_zone_spec(self._stores.files, zone)
            except LakebedError:
                continue
            takers = {file.table for file in self._stores.records.consumed(zone)} if spec.auto_purge else set()
            found.append(ZoneRules(zone, spec, tuple(sorted(takers))))
        return tuple(found)

    def _reap(self, now: datetime, dry_run: bool) -> Reaping:
        stores = self._stores
        reaped = reap_releases(stores.files, stores.releases, self._settings.releases, now=now, dry_run=dry_run)
        names = ("drafts", "pipelines", "releases", "objects")
        before = now - timedelta(days=self._settings.care.events_max_age_days)
        copies = remove_old_copies(stores.files, before=before, dry_run=dry_run)
        return Reaping({name: getattr(reaped, name) for name in names} | {"copies": copies}, reaped.bytes)

    def _log_places(self) -> dict[str, Files]:
        places = {str(self._logs): _opened(str(self._logs), self._settings)}
        if self._settings.places.logs == IN_BUCKET:
            bucket = self._root.at(f"{DATA}/logs")
            places[bucket] = _opened(bucket, self._settings)
        return places

    def _known(self) -> set[TableName]:
        stores = self._stores
        dropped = (gone.table for gone in stores.catalog.dropped())
        return {*stores.catalog.pointers(), *dropped, *(run.table for run in stores.records.summaries())}

    def _tables(self, asked: tuple[str, ...]) -> frozenset[TableName] | None:
        """Names, ends of names, or patterns; dropped tables and those of runs can be named too."""
        if not asked:
            return None
        known = self._known()
        found: set[TableName] = set()
        for text in asked:
            if not any(sign in text for sign in "*?"):
                found.add(find_by_name(text, known))
            elif not (fitting := tables_matching(text, known)):
                raise UnknownName("table", text, map(str, known))
            else:
                found.update(fitting)
        return frozenset(found)


def _opened(place: str, settings: Settings) -> Files:
    return open_files(Root(place if "://" in place else f"file://{place}"), settings.files)


def _table_of(folder: str) -> TableName | None:
    namespace, _, layer, name = folder.split("/")
    try:
        return TableName.of_pipeline(namespace, layer, name)
    except BadName:
        return None


def _read(content: Callable[[], bytes], where: str) -> TableCare | LakebedError:
    try:
        return read_own_care(content().decode(errors="replace"), where=where)
    except FileMissing:
        return TableCare()
    except LakebedError as error:
        return error


def open_care(
    root: Root,
    settings: Settings,
    stores: Stores,
    services: RunServices,
    environment: Mapping[str, str],
    *,
    watch: Any,
) -> Care:
    """The care of a lake, with the places where its logs and staged files are."""
    staging = [str(scratch_folder(root, environment)), staging_place(settings, root, environment)]
    if root.is_bucket:  # frames go through the bucket, wherever payloads wait
        staging.append(root.at(f"{DATA}/staging"))
    logs = logs_folder(settings, root, environment)
    return Care(root, settings, stores, tools=lambda: services, logs=logs, staging=staging, watch=watch)
