"""A zone on disk, and Spark to read it."""

import gzip
import io
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.engines.files import FolderFiles
from lakebed.engines.spark.landing.landing_reader import SparkLandingReader
from lakebed.landing import (
    NOTHING_REMEMBERED,
    RememberedTypes,
    WhenChecked,
    ZoneRows,
    ZoneSpec,
    freeze,
    open_zone,
)
from lakebed.names import ZoneName
from lakebed.ports import Field, FileGroup, FileRows, Files, UnreadableFiles
from lakebed.settings import Root

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONE = ZoneName("shop", "orders")
RUN = "0123456789ab"


class SparkReader(SparkLandingReader):
    """Spark, which notes what it is asked."""

    def __init__(self, session: "SparkSession") -> None:
        super().__init__(session)
        self.jobs: list[str] = []

    def infer(self, group: FileGroup) -> tuple[Field, ...] | UnreadableFiles:
        self.jobs.append("infer")
        return super().infer(group)

    def check(self, groups: Sequence[FileGroup]) -> tuple[FileRows, ...] | UnreadableFiles:
        self.jobs.append("check")
        return super().check(groups)

    def corrupt_records(self, groups: Sequence[FileGroup]) -> Mapping[str, str]:
        self.jobs.append("records")
        return super().corrupt_records(groups)


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

    def open(
        self,
        *,
        pattern: str | None = None,
        keep: bool = False,
        checked: WhenChecked = "first",
        remembered: RememberedTypes = NOTHING_REMEMBERED,
        meanwhile: Callable[[float], None] = time.sleep,
    ) -> Any:
        """Freeze and read; `meanwhile` happens while young files are watched."""
        frozen = freeze(self.files, ZONE, self.spec, pattern=pattern, sleep=meanwhile)
        return open_zone(
            self.reader,
            self.files,
            ZONE,
            frozen.files,
            self.spec,
            address=self.root.at,
            run_id=RUN,
            keep=keep,
            checked=checked,
            remembered=remembered,
        )

    def by_id(self, landed: Any) -> list[tuple[Any, ...]]:
        """The rows, in the order of their first column."""
        return [tuple(row) for row in landed.frame.orderBy(landed.frame.columns[0]).collect()]

    def left(self) -> list[str]:
        """All files in the zone, by their paths below it."""
        return [file.path.removeprefix(f"{ZONE.folder}/") for file in self.files.list(ZONE.folder)]


def reasons(landed: ZoneRows) -> dict[str, str]:
    """Why files were set aside, by their bare names."""
    return {one.path.rpartition("/")[2]: one.reason for one in landed.set_aside}


def folder_zone(folder: Path, session: "SparkSession") -> Zone:
    (folder / ".data").mkdir(parents=True, exist_ok=True)
    root, files = Root.parse(folder), FolderFiles(folder)
    return Zone(root, files, SparkReader(session))


def zipped(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def cut(data: bytes, share: float = 0.5) -> bytes:
    """The first part of a file, as a broken upload leaves it."""
    return data[: int(len(data) * share)]


def flipped(data: bytes, at: int) -> bytes:
    """With sixteen wrong bytes in the middle."""
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 16]) + data[at + 16 :]


def parquet(columns: Mapping[str, Any]) -> bytes:
    """A Parquet file with these columns."""
    import pyarrow
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(pyarrow.table(dict(columns)), buffer)
    return buffer.getvalue()


_ODD = (
    "plain", "a b", "ü☃", "e\u0301", "a#b", "a%20b", "a%b", "100%", "a*b", "aXb", "a?b", "a[1]", "a1", "a{1,2}", "a,b", "a'b",
    'a"b', "a;b", "a&b=c+d", "a^b~!$()", "a|b", "a<b>", "a`b", "-a", "x=1", "sub folder/a", "part=7/a", "sub:x/a", "10:00:00",
)  # fmt: skip
ODD_FILES = len(_ODD) + 6


def land_odd_names(zone: Zone) -> None:
    """Files under odd names, among them some that others' names would find as patterns; each holds
    its number.
    """
    for number, name in enumerate(_ODD):
        zone.land(f"{name}.csv", f"n,v\n{number},x\n")
    last = len(_ODD)
    zone.land("l [1].json", f'{{"n":{last}}}\n')
    zone.land("m *.json", f'[\n{{"n":{last + 1}}}]\n')
    zone.land("m x.json", f'[\n{{"n":{last + 2}}}]\n')
    zone.land("p {1}#%.parquet", parquet({"n": [last + 3]}))
    zone.land("q é.csv.gz", zipped(f"n,v\n{last + 4},x\n"))
    zone.land("one[column].csv", f'n\n"{last + 5}"\n')
