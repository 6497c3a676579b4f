"""The landing zones of a lake: `lake.zones`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from lakebed.errors import (
    BadName,
    FileExists,
    FileMissing,
    UnknownName,
    UsageError,
    near,
    suggestion,
)
from lakebed.landing.formats.shown_types import shown_columns
from lakebed.landing.freeze import freeze, survey_zone
from lakebed.landing.ledger import known_files
from lakebed.landing.plan import QUARANTINE, REASON, SAMPLES, Move, each_once, plan_retry
from lakebed.landing.put import put_local_file, require_file_name
from lakebed.landing.spec import read_zone_spec
from lakebed.landing.zone_files import FileStates, Zone, ZoneColumn, ZoneReader, zone_columns
from lakebed.names import ZoneName
from lakebed.ports import FileInfo, Files, Records
from lakebed.settings import DATA

Readers = Sequence[ZoneReader]


class FindReaders(Protocol):
    """Looks up which tables read which zone, in drafts and releases as they are now."""

    def __call__(self) -> Readers: ...


class Zones:
    """The landing zones of one lake.

    Which tables read a zone is looked up in `readers`, once per call.
    """

    def __init__(self, files: Files, records: Records, *, readers: FindReaders) -> None:
        self._files, self._records, self._readers = files, records, readers

    def names(self) -> tuple[ZoneName, ...]:
        """The zones that have a folder, and those that a pipeline reads."""
        return self._names(self._readers())

    def list(self) -> tuple[Zone, ...]:
        """All zones with their files."""
        readers = self._readers()
        return tuple(self._look(zone, readers, watch=False) for zone in self._names(readers))

    def show(self, zone: str | ZoneName, *, watch: bool = False) -> Zone:
        """One zone with its files.

        With `watch`, young files are watched as in a run, to see which are still written.
        """
        readers = self._readers()
        found = zone if isinstance(zone, ZoneName) else self._find(zone, readers, new=False)
        return self._look(found, readers, watch=watch)

    def columns(self, zone: ZoneName, files: Sequence[FileInfo]) -> tuple[ZoneColumn, ...]:
        """The columns of some of a zone's files: those that are declared or remembered, and those
        that the first lines of CSV files show.
        """
        spec = read_zone_spec(self._files, zone)
        shown = shown_columns(self._files, files, spec)
        return tuple(zone_columns(spec, self._records.zone_types(zone), shown))

    def put(
        self,
        zone: str | ZoneName,
        paths: Iterable[Path],
        *,
        replace: bool = False,
        sample: bool = False,
    ) -> tuple[FileInfo, ...]:
        """Copy files of this machine into a zone, or into its samples.

        If one name is taken or invalid, none is copied.
        """
        found = zone if isinstance(zone, ZoneName) else self._find(zone, self._readers(), new=True)
        folder = f"{found.folder}/{SAMPLES}" if sample else found.folder
        there = set() if replace else {file.path for file in self._files.list(folder)}
        chosen: dict[str, Path] = {}
        for path in paths:
            target = f"{folder}/{require_file_name(path.name)}"
            if target in there or target in chosen:
                raise FileExists(target)
            chosen[target] = path
        return tuple(
            put_local_file(self._files, found, path, replace=replace, sample=sample)
            for path in chosen.values()
        )

    def retry(
        self, zone: str | ZoneName, names: Iterable[str] = (), *, run: str = ""
    ) -> tuple[FileInfo, ...]:
        """Bring quarantined files back to where they landed, so that the next run reads them: all,
        those with these names, or those of one run. None is brought back if another file is in the
        way of one.
        """
        found = zone if isinstance(zone, ZoneName) else self._find(zone, self._readers(), new=False)
        listed, _ = survey_zone(self._files, found)
        moves = plan_retry(listed, found, names=tuple(names), run=run)
        return tuple(self._bring_back(move) for move in moves)

    def _bring_back(self, move: Move) -> FileInfo:
        there = self._files.move(move.path, move.to, etag=move.etag)
        with suppress(FileMissing):
            reason = self._files.info(f"{move.path}{REASON}")
            self._files.delete(reason.path, etag=reason.etag)
        return there

    def _names(self, readers: Readers) -> tuple[ZoneName, ...]:
        return tuple(sorted({*zone_folders(self._files), *(reader.zone for reader in readers)}))

    def _find(self, text: str, readers: Readers, *, new: bool) -> ZoneName:
        """The zone with this name, with or without its namespace.

        A `new` zone needs its full name.
        """
        known = self._names(readers)
        found = [zone for zone in known if text in (str(zone), zone.name)]
        if len(found) > 1:
            raise UsageError(
                f"{text!r} is ambiguous: {', '.join(map(str, found))}.", next="Give the whole name."
            )
        if found:
            return found[0]
        if not new:
            raise UnknownName("zone", text, _alternatives(text, known))
        if text.count(".") == 1:
            return ZoneName(*text.split("."))
        raise self._incomplete_name(text, known)

    def _incomplete_name(self, text: str, known: Sequence[ZoneName]) -> UsageError:
        """The error for a new zone without its namespace: it says how to name it."""
        close = suggestion(near(text, _alternatives(text, known)))
        with_pipelines = (
            name for name in _namespaces(self._files) if self._files.folders(f"{name}/pipelines")
        )
        namespaces = sorted({*(zone.namespace for zone in known), *with_pipelines})
        example = (
            f"lakebed zone put {namespaces[0] if namespaces else 'shop'}.{text.rpartition('.')[2]}"
            " FILE"
        )
        return UsageError(
            f"there is no zone {text!r}; a new one needs its full name, namespace.zone.",
            next=f"{close} For example: {example}".lstrip(),
        )

    def _look(self, zone: ZoneName, readers: Readers, *, watch: bool) -> Zone:
        spec = read_zone_spec(self._files, zone)
        every, strays = survey_zone(self._files, zone)
        watch = watch and not strays
        changing = [file.path for file in freeze(self._files, zone, spec).waiting] if watch else []
        own = tuple(reader for reader in readers if reader.zone == zone)
        listed = [file for file in every if not file.path.endswith(REASON)]
        known = known_files(zone, listed, self._files, self._records)
        read = {file.path for file in each_once(listed, known)}
        doubles = [file.path for file in listed if file.path not in read]
        states = FileStates(zone, spec, own, known, changing, doubles)
        found = [states.describe(file, self._quarantine_reason(file)) for file in listed]
        described = tuple(file for file in found if file)
        wanted = {f"{zone.folder}/{file.path}" for file in described if file.state == "waiting"}
        waiting = [file for file in listed if file.path in wanted] if watch else []
        return Zone(zone, spec, own, described, self.columns(zone, waiting), strays)

    def _quarantine_reason(self, file: FileInfo) -> str:
        if f"/{QUARANTINE}/" not in file.path:
            return ""
        try:
            return str(json.loads(self._files.read(f"{file.path}{REASON}"))["reason"])
        except (FileMissing, ValueError, KeyError):
            return ""


def zone_folders(files: Files) -> Iterator[ZoneName]:
    """The zones that have a folder."""
    for namespace in _namespaces(files):
        for name in files.folders(f"{namespace}/landing"):
            try:
                yield ZoneName(namespace, name)
            except BadName:
                continue  # a folder that no pipeline could name


def _namespaces(files: Files) -> Iterator[str]:
    return (namespace for namespace in files.folders() if namespace != DATA)


def _alternatives(text: str, known: Iterable[ZoneName]) -> set[str]:
    """The names of the zones, with their namespaces if the text has one."""
    return {str(zone) if "." in text else zone.name for zone in known}
