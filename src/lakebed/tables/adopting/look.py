"""Looking at a folder of Parquet files: every footer is read once, a bounded number is in memory.

What the footers say is kept in a temporary file, ordered by partition, until the folder is adopted.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO

from lakebed.batches.sorting import sorted_entries
from lakebed.errors import BadFiles
from lakebed.names import TableName
from lakebed.ports import AddedFile, Field, FileInfo, Files
from lakebed.settings import Root
from lakebed.tables.adopting.footers import Footer
from lakebed.tables.adopting.hive import Values, typed
from lakebed.tables.adopting.listing import FolderListing
from lakebed.tables.adopting.survey import Survey
from lakebed.types import ColumnType

_AT_ONCE = 2000  # footers in memory


@dataclass(frozen=True)
class Adoption:
    """What adopting a folder would make a table of."""

    table: TableName
    folder: str
    rewrite: bool
    files: int
    bytes: int
    rows: int
    columns: tuple[Field, ...]
    partition_by: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # files that are not Parquet, or have no row; some of them
    left_out_count: int = 0


@dataclass(frozen=True)
class FoundFolder:
    """A folder that was looked at."""

    adoption: Adoption
    files: Files = field(repr=False)
    root: Root = field(repr=False)
    path: str  # of the folder in its store
    types: tuple[ColumnType, ...] = field(repr=False)  # of the partition fields
    digest: int = field(repr=False)
    _kept: IO[bytes] = field(repr=False)

    def infos(self) -> Iterator[FileInfo]:
        """The files that are adopted, by partition and path."""
        return (info for info, _, _ in self._entries())

    def added(self) -> Iterator[AddedFile]:
        """The same files, as a table takes them up."""
        for info, texts, footer in self._entries():
            values = tuple(typed(one, kind) for one, kind in zip(texts, self.types, strict=True))
            place = self.root.at(info.path)
            _require_same(self.adoption, place, values, footer)
            yield AddedFile(
                place, info.size, footer.rows, values, footer.statistics, footer.offsets
            )

    def require_unchanged(self) -> None:
        """`BadFiles` if a file came, went or was replaced since."""
        now = FolderListing(self.files, self.path)
        for _ in now:
            pass
        if now.digest != self.digest:
            raise BadFiles(
                "files of the folder were changed while it was adopted.",
                where=self.adoption.folder,
                safe="Nothing was published.",
                next="Adopt it again once nobody writes to it.",
            )

    def _entries(self) -> Iterator[tuple[FileInfo, Values, Footer]]:
        self._kept.seek(0)
        for _ in range(self.adoption.files):
            yield pickle.load(self._kept)  # noqa: S301 - a file of this process


@contextmanager
def look_at(
    files: Files, root: Root, path: str, *, table: TableName, folder: str, rewrite: bool
) -> Iterator[FoundFolder]:
    """Read all footers; `BadFiles` names the file that cannot be part of the table."""
    listing = FolderListing(files, path)
    survey = Survey(files, path, address=folder, rewrite=rewrite)
    with TemporaryFile() as kept:
        for *_, packed in sorted_entries(survey.entries(listing), at_once=_AT_ONCE):
            kept.write(packed)  # type: ignore[arg-type]
        fields, keys = survey.fields(), survey.keys
        if not survey.files:
            raise _nothing(folder, survey)
        adoption = Adoption(
            table,
            folder,
            rewrite,
            survey.files,
            survey.bytes,
            survey.rows,
            fields,
            keys,
            tuple(survey.left_out),
            survey.left_out_count,
        )
        yield FoundFolder(adoption, files, root, path, survey.types(), listing.digest, kept)


def _require_same(
    adoption: Adoption, place: str, values: tuple[object, ...], footer: Footer
) -> None:
    """A partition field that is a column of the file too has one value there, that of the path:
    some engines read the one, some the other.
    """
    for name, value in zip(adoption.partition_by, values, strict=True):
        told = footer.statistics.get(name)
        if told is None:
            continue
        same = (
            told.nulls == told.values
            if value is None
            else told.nulls == 0 and told.lower == told.upper == value
        )
        if not same:
            raise BadFiles(
                f"the column {name} is in the file and in its path, and the file does not tell"
                " that both are equal.",
                where=place,
                safe="Nothing was published.",
                next="Copy the rows instead (--rewrite): the path decides.",
            )


def _nothing(folder: str, survey: Survey) -> BadFiles:
    others = ", ".join(survey.left_out)
    return BadFiles(
        f"there is no Parquet file with rows{f' among {others}' if others else ''}.",
        where=folder,
        safe="Nothing was changed.",
        next="Name the folder that has the files, or the one above their partitions.",
    )
