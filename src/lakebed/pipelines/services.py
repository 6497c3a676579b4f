"""What runs need of a lake."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

from lakebed.derived.layouts import Layouts
from lakebed.names import TableName
from lakebed.ports import CareEntry, Files, LakePorts, LocalSession
from lakebed.settings import Root
from lakebed.tables import HeldLease, TablePlacement


class RunEngines(Protocol):
    """What runs compute with besides sessions of Spark, and where they read and keep files outside
    of the lake.
    """

    @property
    def own_spark(self) -> bool:
        """Whether Spark is the pinned one, set up by Lakebed: what functions it has is known."""
        ...

    def workbench(self) -> LocalSession:
        """A session that computes in this process; the caller closes it."""
        ...

    def scratch(self, run_id: str) -> Path:
        """A run's own folder on this machine."""
        ...

    def log(self, run_id: str) -> Path:
        """Where a run's log is written."""
        ...

    def elsewhere(self, store: str) -> tuple[Files, Root]:
        """Files outside of the lake, and their root: of a bucket (s3://name), or of this machine
        (/).
        """
        ...


class CareAfterCommits(Protocol):
    """Does the care that is due after many commits; for the holder of the table's lease."""

    def __call__(self, table: TableName, held: HeldLease) -> Sequence[CareEntry]: ...


@dataclass(frozen=True)
class RunServices:
    """The ports of a lake, and what runs need besides."""

    ports: LakePorts
    engines: RunEngines
    layouts: Layouts
    care: CareAfterCommits

    @property
    def placement(self) -> TablePlacement:
        """Where new tables are placed."""
        return TablePlacement(self.ports)

    @property
    def builds_layouts(self) -> bool:
        """Whether whatever changes a table builds its layouts, too."""
        return self.ports.settings.layouts.build == "inline"

    def source_store(self, store: str) -> tuple[Files, Root]:
        """The files that a source is among, and what their paths are relative to."""
        return self.engines.elsewhere(store) if store else (self.ports.files, self.ports.root)

    def lake_within(self, store: str) -> str | None:
        """Where the lake's root is among the files of a source; None if it is not among them."""
        root = self.ports.root
        if not store:
            return ""
        if store == "/":
            return None if root.is_bucket else str(root.folder).lstrip("/")
        return root.prefix if root.is_bucket and store == f"s3://{root.bucket}" else None

    def local(self, at: datetime) -> datetime:
        """The same moment in the lake's time zone."""
        return at.astimezone(ZoneInfo(self.ports.settings.timezone))
