"""A lake's landing zones: which there are, and how far each of their files has come."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from lakebed.errors import BadName, FileExists, FileMissing, UnknownName, UsageError, near, suggestion
from lakebed.landing import ZONE_FILE, ZoneSpec, freeze, matches_pattern, put_local_file, require_file_name
from lakebed.landing.plan import PROCESSED, QUARANTINE, SAMPLES, is_data, path_in_zone
from lakebed.names import TableName, ZoneName
from lakebed.pipelines import Pipelines, PipelineSpec, read_zone_spec
from lakebed.pipelines.planning.ledger import known_files
from lakebed.pipelines.running.steps.archiving import drafts_and_releases, zone_readers
from lakebed.ports import ConsumedFile, FileInfo, Files
from lakebed.settings import DATA

State = Literal["waiting", "taken", "held", "writing", "ignored", "processed", "quarantined", "sample"]
STATES: tuple[State, ...] = ("waiting", "taken", "held", "writing", "ignored", "processed", "quarantined", "sample")
_PLACES: dict[str, State] = {PROCESSED: "processed", QUARANTINE: "quarantined", SAMPLES: "sample"}
_REASON = ".reason.json"
Readers = tuple[tuple[TableName, str | None], ...]


@dataclass(frozen=True)
class ZoneFile:
    """A file of a zone: taken, once every table that reads the zone has it."""

    path: str  # below the zone
    state: State
    size: int
    modified: datetime
    taken_by: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    run: str = ""
    reason: str = ""


@dataclass(frozen=True)
class ZoneColumn:
    """What a column of a zone's files is read as, and who says so: zone.yaml, or the runs so far."""

    column: str
    type: str
    said_by: Literal["zone.yaml", "earlier runs"]
    pattern: str = ""  # of the files that are meant; empty: all


@dataclass(frozen=True)
class Zone:
    """A zone, who reads it, what its columns are read as, and its files."""

    zone: ZoneName
    spec: ZoneSpec
    readers: Readers
    files: tuple[ZoneFile, ...]
    types: tuple[ZoneColumn, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {state: sum(file.state == state for file in self.files) for state in STATES}


class Zones:
    """The landing zones of one lake; who reads them is looked up once."""

    def __init__(self, pipelines: Pipelines) -> None:
        self._pipelines = pipelines

    @cached_property
    def _specs(self) -> tuple[PipelineSpec, ...]:
        return drafts_and_releases(self._pipelines.load().specs, self._pipelines.services)

    @property
    def _files(self) -> Files:
        return self._pipelines.services.placement.files

    def names(self) -> tuple[ZoneName, ...]:
        """Those that have a folder, and those that a pipeline reads."""
        read = (zone for spec in self._specs for zone in spec.zone_names)
        return tuple(sorted({*zone_folders(self._files), *read}))

    def find(self, text: str, *, new: bool = False) -> ZoneName:
        """The zone of this name; its last part suffices where it fits one only. A `new` one is given its whole name."""
        known = self.names()
        found = [zone for zone in known if text in (str(zone), zone.name)]
        if len(found) > 1:
            raise UsageError(f"{text!r} fits several zones: {', '.join(map(str, found))}.", next="Give the whole name.")
        if not found and new and text.count(".") == 1:
            return ZoneName(*text.split("."))
        if not found and new:
            raise self._unnamed(text, known)
        if not found:
            raise UnknownName("zone", text, _spelt(text, known))
        return found[0]

    def _unnamed(self, text: str, known: Iterable[ZoneName]) -> UsageError:
        """A new zone without its namespace: say how to name it."""
        close = suggestion(near(text, _spelt(text, known)))
        namespaces = sorted({*(zone.namespace for zone in known), *(spec.table.namespace for spec in self._specs)})
        example = f"lakebed zone put {namespaces[0] if namespaces else 'shop'}.{text.rpartition('.')[2]} FILE"
        return UsageError(
            f"there is no zone {text!r} yet, and a new one is given its whole name, namespace.zone.",
            next=f"{close} For example: {example}".lstrip(),
        )

    def look(self, zone: ZoneName, *, watch: bool = False) -> Zone:
        """A zone's files. With `watch`, young ones are watched for as long as a run would, to see which still grow."""
        tools = self._pipelines.services
        spec = read_zone_spec(zone, tools)
        changing = {file.path for file in freeze(self._files, zone, spec).waiting} if watch else set()
        readers = zone_readers(zone, self._specs)
        listed = [file for file in self._files.list(zone.folder) if not file.path.endswith(_REASON)]
        takers: dict[tuple[str, str], list[ConsumedFile]] = {}
        for row in known_files(zone, listed, tools):
            if not row.table.hidden:  # a dropped table's books
                takers.setdefault((row.path, row.etag), []).append(row)
        look = _Look(zone, spec, readers, takers, changing)
        found = (look.seen(file, self._reason(file)) for file in listed)
        types = tuple(_types(spec, tools.records.zone_types(zone)))
        return Zone(zone, spec, readers, tuple(file for file in found if file), types)

    def put(self, zone: ZoneName, paths: Iterable[Path], *, replace: bool, sample: bool) -> tuple[FileInfo, ...]:
        """Bring files of this machine into a zone, or among its samples; a name that is taken or unfit refuses all of them."""
        folder = f"{zone.folder}/{SAMPLES}" if sample else zone.folder
        there = set() if replace else {file.path for file in self._files.list(folder)}
        chosen: dict[str, Path] = {}
        for path in paths:
            place = f"{folder}/{require_file_name(path.name)}"
            if place in there or place in chosen:
                raise FileExists(place)
            chosen[place] = path
        return tuple(put_local_file(self._files, zone, path, replace=replace, sample=sample) for path in chosen.values())

    def _reason(self, file: FileInfo) -> str:
        if f"/{QUARANTINE}/" not in file.path:
            return ""
        try:
            return str(json.loads(self._files.read(f"{file.path}{_REASON}"))["reason"])
        except (FileMissing, ValueError, KeyError):
            return ""


def _types(spec: ZoneSpec, remembered: Mapping[str, Mapping[str, str]]) -> Iterable[ZoneColumn]:
    """Columns that zone.yaml speaks of are what it says; with an expected_schema there are no others."""
    said = spec.expected_schema or spec.types
    yield from (ZoneColumn(name, type_, "zone.yaml") for name, type_ in said.items())
    folded = {name.casefold() for name in said}
    for pattern, columns in ({} if spec.expected_schema else remembered).items():
        for name, type_ in columns.items():
            if name.casefold() not in folded:
                yield ZoneColumn(name, type_, "earlier runs", pattern)


def _spelt(text: str, known: Iterable[ZoneName]) -> set[str]:
    """The zones with or without their namespaces, as the text has one or none."""
    return {str(zone) if "." in text else zone.name for zone in known}


def zone_folders(files: Files) -> Iterable[ZoneName]:
    """The zones that have a folder."""
    for namespace in files.folders():
        if namespace == DATA:
            continue
        for name in files.folders(f"{namespace}/landing"):
            try:
                yield ZoneName(namespace, name)
            except BadName:
                continue  # a folder that no pipeline could name


@dataclass(frozen=True)
class _Look:
    zone: ZoneName
    spec: ZoneSpec
    readers: Readers
    takers: Mapping[tuple[str, str], list[ConsumedFile]]
    changing: set[str]

    def seen(self, file: FileInfo, reason: str) -> ZoneFile | None:
        """How far a file has come; None for what is no file of the zone."""
        below = path_in_zone(file.path, self.zone)
        place, _, rest = below.partition("/")
        if place in _PLACES and rest:
            run, _, name = rest.partition("/") if place != SAMPLES else ("", "", rest)
            return ZoneFile(name, _PLACES[place], file.size, file.modified, run=run, reason=reason)
        if below == ZONE_FILE or any(part.startswith(("_", ".")) for part in below.split("/")):
            return None
        rows = self.takers.get((file.path, file.etag), ())
        has = tuple(row.table for row in rows)
        wants = {table for table, pattern in self.readers if pattern is None or matches_pattern(below, pattern)}
        waits = tuple(sorted(wants - set(has)))
        state = "held" if any(row.state == "held" for row in rows) else self._state(file, below, waits, has)
        return ZoneFile(
            below,
            state,
            file.size,
            file.modified,
            taken_by=tuple(map(str, has)),
            waits_for=tuple(map(str, waits)),
            reason=self._why(file, below, state),
        )

    def _why(self, file: FileInfo, below: str, state: State) -> str:
        if state == "writing":
            return "it changed while it was watched" if is_data(below) else "its name says that it is unfinished"
        if state == "waiting" and not file.size:
            return "it has 0 bytes: a run will " + ("read no rows" if self.spec.empty_file == "no_rows" else "set it aside")
        return ""

    def _state(self, file: FileInfo, below: str, waits: tuple[TableName, ...], has: tuple[TableName, ...]) -> State:
        if not is_data(below) or file.path in self.changing:
            return "writing"
        if self.spec.pattern and not matches_pattern(below, self.spec.pattern):
            return "ignored"
        return "waiting" if waits or not has else "taken"
