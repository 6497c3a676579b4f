"""A zone on disk, and Spark to read it."""

import gzip
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.engines.files import FolderFiles
from lakebed.engines.spark.compute import SparkCompute
from lakebed.engines.spark.landing_check import check_files, corrupt_records, infer_files
from lakebed.landing import FileRows, Landed, Unreadable, ZoneSpec, freeze, open_zone
from lakebed.names import ZoneName
from lakebed.ports import Field, FileGroup, Files
from lakebed.settings import Root

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONE = ZoneName("shop", "orders")
RUN = "0123456789ab"


class SparkReader(SparkCompute):
    """Spark, as zones ask it."""

    def __init__(self, session: "SparkSession") -> None:
        super().__init__(session, run_id=RUN)
        self.jobs: list[str] = []

    def infer_files(self, group: FileGroup) -> tuple[Field, ...] | Unreadable:
        self.jobs.append("infer")
        return infer_files(self.session, group)

    def check_files(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | Unreadable:
        self.jobs.append("check")
        return check_files(self.session, groups)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        self.jobs.append("records")
        return corrupt_records(self.session, groups)


@dataclass
class Zone:
    """A zone of a test's own."""

    root: Root
    files: Files
    reader: SparkReader
    spec: ZoneSpec = field(default_factory=lambda: ZoneSpec(settle_seconds=0))

    def land(self, name: str, data: bytes | str) -> str:
        """Put a file there; its path below the lake's root."""
        path = f"{ZONE.folder}/{name}"
        self.files.write(path, data.encode() if isinstance(data, str) else data)
        return path

    def set(self, **settings: Any) -> None:
        self.spec = ZoneSpec.model_validate({"settle_seconds": 0, **settings})

    def open(self, *, pattern: str | None = None, keep: bool = False) -> Landed:
        frozen = freeze(self.files, ZONE, self.spec, pattern=pattern)
        return open_zone(self.reader, self.files, ZONE, frozen.files, self.spec, address=self.root.at, run_id=RUN, keep=keep)

    def rows(self, landed: Landed) -> list[tuple[Any, ...]]:
        """The rows, sorted by their text."""
        assert landed.frame is not None
        return sorted((tuple(row) for row in landed.frame.collect()), key=str)

    def left(self) -> list[str]:
        """All files in the zone, by their paths below it."""
        return [file.path.removeprefix(f"{ZONE.folder}/") for file in self.files.list(ZONE.folder)]


def reasons(landed: Landed) -> dict[str, str]:
    """Why files were set aside, by their bare names."""
    return {one.path.rpartition("/")[2]: one.reason for one in landed.set_aside}


def folder_zone(folder: Path, session: "SparkSession") -> Zone:
    (folder / ".data").mkdir(parents=True, exist_ok=True)
    return Zone(Root.parse(folder), FolderFiles(folder), SparkReader(session))


def zipped(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


ENVIRONMENT = os.environ
