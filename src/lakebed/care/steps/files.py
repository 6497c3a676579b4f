"""Steps that remove files, folders and records that are no longer needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from lakebed.care.spec import Action
from lakebed.care.steps.base import BaseCareStep
from lakebed.names import TableName, ZoneName
from lakebed.ports import FileInfo


@dataclass(frozen=True, kw_only=True)
class FilesStep(BaseCareStep):
    """Files to be removed."""

    files: tuple[FileInfo, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        return {"files": len(self.files)}

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, kw_only=True)
class RemoveOrphans(BaseCareStep):
    """Files of one folder from before a time that no table reaches; `report` counts them without
    removing them. There may be millions: which they are is looked up when they are removed.
    """

    action: ClassVar[Action] = "remove_orphans"
    folder: str
    leases: tuple[str, ...]
    before: datetime
    files: int
    bytes: int
    report: bool = True

    @property
    def subject(self) -> str:
        return self.folder

    @property
    def counts(self) -> Mapping[str, int]:
        return {"files": self.files}

    @property
    def size(self) -> int:
        return self.bytes


@dataclass(frozen=True, kw_only=True)
class PurgeProcessed(FilesStep):
    """Old files below a zone's `_processed/`."""

    action: ClassVar[Action] = "purge_processed"
    zone: ZoneName
    readers: tuple[TableName, ...]

    @property
    def subject(self) -> str:
        return str(self.zone)


@dataclass(frozen=True, kw_only=True)
class PurgeQuarantine(FilesStep):
    """Old files below a zone's `_quarantine/`, and their reasons."""

    action: ClassVar[Action] = "purge_quarantine"
    zone: ZoneName

    @property
    def subject(self) -> str:
        return str(self.zone)


@dataclass(frozen=True, kw_only=True)
class PurgeLogs(FilesStep):
    """Old logs of one place."""

    action: ClassVar[Action] = "purge_logs"
    place: str

    @property
    def subject(self) -> str:
        return self.place


@dataclass(frozen=True, kw_only=True)
class PurgeFolders(BaseCareStep):
    """Staged payloads and scratch folders that are no longer used."""

    action: ClassVar[Action] = "purge_staging"
    place: str
    folders: tuple[str, ...]
    bytes: int

    @property
    def subject(self) -> str:
        return self.place

    @property
    def counts(self) -> Mapping[str, int]:
        return {"folders": len(self.folders)}

    @property
    def size(self) -> int:
        return self.bytes


@dataclass(frozen=True, kw_only=True)
class PurgeRuns(BaseCareStep):
    """Records of runs beyond their number or age; those in `trim` lose only their verdicts."""

    action: ClassVar[Action] = "purge_runs"
    table: TableName
    runs: tuple[str, ...] = ()
    trim: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        return {
            name: len(found)
            for name, found in (("runs", self.runs), ("verdicts", self.trim))
            if found
        }


@dataclass(frozen=True, kw_only=True)
class PurgeEvents(BaseCareStep):
    """Events, entries of care and publications from before a time."""

    action: ClassVar[Action] = "purge_events"
    before: datetime


@dataclass(frozen=True, kw_only=True)
class ReapReleases(BaseCareStep):
    """Drafts, deleted pipelines and stored content past their retention."""

    action: ClassVar[Action] = "reap_releases"
    found: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0

    @property
    def counts(self) -> Mapping[str, int]:
        return {name: count for name, count in self.found.items() if count}

    @property
    def size(self) -> int:
        return self.bytes
