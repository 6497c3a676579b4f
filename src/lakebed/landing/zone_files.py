"""A zone's files and columns as `lakebed zone show` lists them: how far each file has come, and the
type of each column.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lakebed.landing.formats.shown_types import ShownColumn
from lakebed.landing.plan import (
    PROCESSED,
    QUARANTINE,
    SAMPLES,
    is_data,
    matches_pattern,
    path_in_zone,
)
from lakebed.landing.spec import ZONE_FILE, ZoneSpec
from lakebed.names import TableName, ZoneName
from lakebed.ports import ConsumedFile, FileInfo, StrayLink, odd_path

ZoneFileState = Literal[
    "waiting", "taken", "held", "writing", "ignored", "processed", "quarantined", "sample"
]
STATES: tuple[ZoneFileState, ...] = (
    "waiting",
    "taken",
    "held",
    "writing",
    "ignored",
    "processed",
    "quarantined",
    "sample",
)
_FOLDERS: dict[str, ZoneFileState] = {
    PROCESSED: "processed",
    QUARANTINE: "quarantined",
    SAMPLES: "sample",
}


@dataclass(frozen=True)
class ZoneReader:
    """A table whose pipeline reads a zone: all its files, or those that match a pattern."""

    table: TableName
    zone: ZoneName
    pattern: str | None = None


@dataclass(frozen=True)
class ZoneFile:
    """A file of a zone. It is `taken` once every table that reads it has consumed it."""

    path: str  # below the zone
    state: ZoneFileState
    size: int
    modified: datetime
    taken_by: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    run: str = ""
    reason: str = ""


@dataclass(frozen=True)
class ZoneColumn:
    """The type that a column of a zone's files is read as, and where that type comes from."""

    column: str
    type: str
    said_by: Literal["zone.yaml", "earlier runs", "waiting files"]
    pattern: str = ""  # the files this is about; empty: all
    # of a type that the first lines of waiting files show: the text that decides, and its file
    value: str = ""
    file: str = ""

    @property
    def inferred(self) -> str:
        """What the first lines of waiting files show; empty if the type comes from elsewhere."""
        name = self.file.rpartition("/")[2]
        return f"{self.column} is {self.type}: {self.value} in {name}" if self.file else ""


@dataclass(frozen=True)
class Zone:
    """A zone with its readers, columns and files."""

    zone: ZoneName
    spec: ZoneSpec
    readers: tuple[ZoneReader, ...]
    files: tuple[ZoneFile, ...]
    types: tuple[ZoneColumn, ...] = ()
    refused_links: tuple[StrayLink, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {state: sum(file.state == state for file in self.files) for state in STATES}


def zone_columns(
    spec: ZoneSpec,
    remembered: Mapping[str, Mapping[str, str]],
    shown: Iterable[ShownColumn] = (),
) -> Iterator[ZoneColumn]:
    """The columns in zone.yaml, those of earlier runs, and those that only waiting files have.

    With an expected_schema there are no others.
    """
    declared = spec.expected_schema or spec.types
    yield from (ZoneColumn(name, type_, "zone.yaml") for name, type_ in declared.items())
    folded = {name.casefold() for name in declared}
    for pattern, columns in ({} if spec.expected_schema else remembered).items():
        for name, type_ in columns.items():
            if name.casefold() not in folded:
                yield ZoneColumn(name, type_, "earlier runs", pattern)
    known = {name.casefold() for columns in remembered.values() for name in columns} | folded
    for one in shown:
        if one.name.casefold() not in known:
            yield ZoneColumn(one.name, one.type, "waiting files", value=one.value, file=one.path)


class FileStates:
    """Decides how far each file of a zone has come."""

    def __init__(
        self,
        zone: ZoneName,
        spec: ZoneSpec,
        readers: Iterable[ZoneReader],
        consumed: Iterable[ConsumedFile],
        changing: Iterable[str],
        doubles: Iterable[str] = (),  # files that are read under another path
    ) -> None:
        self._zone, self._spec, self._readers, self._changing = (
            zone,
            spec,
            tuple(readers),
            set(changing),
        )
        self._doubles = set(doubles)
        self._taken_in_place = set[str]()
        self._consumed: dict[tuple[str, str], list[ConsumedFile]] = {}
        for row in consumed:
            if not row.table.hidden:  # the ledger of a dropped table
                if row.state == "taken" and not row.archived:
                    self._taken_in_place.add(row.path)
                self._consumed.setdefault((row.path, row.etag), []).append(row)

    def describe(self, file: FileInfo, reason: str) -> ZoneFile | None:
        """The file with its state; None if it is not a data file of the zone.

        `reason` is why it was quarantined.
        """
        path = path_in_zone(file.path, self._zone)
        folder, _, rest = path.partition("/")
        if folder in _FOLDERS and rest:
            run, _, name = rest.partition("/") if folder != SAMPLES else ("", "", rest)
            return ZoneFile(
                name, _FOLDERS[folder], file.size, file.modified, run=run, reason=reason
            )
        if path == ZONE_FILE or any(part.startswith(("_", ".")) for part in path.split("/")):
            return None
        rows = self._consumed.get((file.path, file.etag), [])
        taken_by = tuple(row.table for row in rows)
        waits_for = self._waits_for(path, taken_by)
        held = any(row.state == "held" for row in rows)
        state = "held" if held else self._state(file, path, waits_for, taken_by)
        return ZoneFile(
            path,
            state,
            file.size,
            file.modified,
            taken_by=tuple(map(str, taken_by)),
            waits_for=tuple(map(str, waits_for)),
            reason=self._reason(file, path, state),
        )

    def _waits_for(self, path: str, taken_by: tuple[TableName, ...]) -> tuple[TableName, ...]:
        matching = (
            one
            for one in self._readers
            if one.pattern is None or matches_pattern(path, one.pattern)
        )
        return tuple(sorted({one.table for one in matching} - set(taken_by)))

    def _state(
        self,
        file: FileInfo,
        path: str,
        waits_for: tuple[TableName, ...],
        taken_by: tuple[TableName, ...],
    ) -> ZoneFileState:
        if not is_data(path) or file.path in self._changing:
            return "writing"
        if file.path in self._doubles:
            return "ignored"
        if self._spec.pattern and not matches_pattern(path, self._spec.pattern):
            return "ignored"
        return "waiting" if waits_for or not taken_by else "taken"

    def _reason(self, file: FileInfo, path: str, state: ZoneFileState) -> str:
        if state == "writing":
            return (
                "it changed while it was watched"
                if is_data(path)
                else "its name says that it is unfinished"
            )
        if state == "ignored" and file.path in self._doubles:
            return "a symbolic link leads to the same file, which is read once"
        is_new = (file.path, file.etag) not in self._consumed
        if state == "waiting" and is_new and file.path in self._taken_in_place:
            return "it was replaced after a table had read it"
        if state == "waiting" and (fault := odd_path(file.path)):
            return f"no run reads it, because no store takes its name: {fault}"
        if state == "waiting" and not file.size:
            outcome = "read no rows" if self._spec.empty_file == "no_rows" else "set it aside"
            return f"it has 0 bytes: a run will {outcome}"
        return ""
