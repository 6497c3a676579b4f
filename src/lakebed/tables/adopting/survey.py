"""Reading footers: which files are Parquet, what columns they have, and what their paths say."""

import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from lakebed.batches.sorting import Entry
from lakebed.errors import BadFiles, FileMissing
from lakebed.ports import Field, FileInfo, Files
from lakebed.tables.adopting.footers import Footer, UnreadableFooter, read_footer
from lakebed.tables.adopting.hive import KeyTypes, Values, partition_of, repeated
from lakebed.tables.adopting.listing import below
from lakebed.tables.adopting.place import unsafe_sign
from lakebed.tables.adopting.uniting import United
from lakebed.types import ColumnType

_THREADS = 16
_CHUNK = 256
_SHOWN = 20
_PARQUET = (".parquet", ".parq", ".pq")
_MAGIC = b"PAR1"


class Survey:
    """What is known of a folder's files so far."""

    def __init__(self, files: Files, folder: str, *, address: str, rewrite: bool) -> None:
        self._files, self._folder, self._rewrite = files, folder, rewrite
        self._address = address
        self._united = United(rewrite)
        self._kinds: KeyTypes | None = None
        self._first = ""
        self.keys: tuple[str, ...] = ()
        self.files = self.bytes = self.rows = self.left_out_count = 0
        self.left_out: list[str] = []

    def entries(self, listed: Iterable[FileInfo]) -> Iterator[Entry]:
        """For each file with rows: its partition, its path, and what to keep of it."""
        rest = iter(listed)
        with ThreadPoolExecutor(_THREADS) as pool:
            while some := list(islice(rest, _CHUNK)):
                for info, footer in zip(some, pool.map(self._read, some), strict=True):
                    if footer is None:
                        self._leave_out(info)
                    else:
                        yield from self._taken(info, footer)

    def fields(self) -> tuple[Field, ...]:
        """The table's columns: those of the files, then those of the paths."""
        fields = self._united.fields()
        there = {field.name.casefold() for field in fields}
        told = zip(self.keys, self.types(), strict=True)
        return (
            *fields,
            *(Field(name, str(kind)) for name, kind in told if name.casefold() not in there),
        )

    def types(self) -> tuple[ColumnType, ...]:
        """The types of the keys: those of the columns, where files have these too."""
        kinds = self._kinds.types if self._kinds else ()
        own = (self._united.type_of(name) for name in self.keys)
        return tuple(one or kind for one, kind in zip(own, kinds, strict=True))

    def _read(self, info: FileInfo) -> Footer | None:
        """None for a file that is not Parquet, by its name and content, or empty."""
        named = info.path.casefold().endswith(_PARQUET)
        try:
            if not info.size or not (named or self._files.read(info.path, length=4) == _MAGIC):
                return None
            return read_footer(self._files, info)
        except UnreadableFooter as error:
            raise self._bad(info, f"{error}.", "Bring it back whole, or move it away.") from None
        except FileMissing:
            raise self._bad(info, "it was removed meanwhile.", "Adopt the folder again.") from None

    def _taken(self, info: FileInfo, footer: Footer) -> Iterator[Entry]:
        self._require_spelling(info, footer)
        self._united.take(footer.columns, self._shown(info))
        values = self._values(info)
        if not footer.rows:
            self._leave_out(info)
            return
        self.files, self.bytes = self.files + 1, self.bytes + info.size
        self.rows += footer.rows
        label = "/".join(f"{value}" for value in values)
        yield (label, info.path, pickle.dumps((info, values, replace(footer, columns=()))))

    def _values(self, info: FileInfo) -> Values:
        try:
            names, values = partition_of(below(self._folder, info.path))
        except UnicodeDecodeError:
            raise self._bad(info, "its partition is not UTF-8.", "Rename its folder.") from None
        if self._kinds is None:
            if twice := repeated(names):
                raise self._bad(info, f"{twice} is twice in its path.", "Rename a folder.")
            self._kinds, self.keys, self._first = KeyTypes.of(len(names)), names, self._shown(info)
        if names != self.keys:
            what = (
                f"its path has the partition {_named(names)}, and {self._first} has"
                f" {_named(self.keys)}."
            )
            raise self._bad(info, what, "Adopt a folder all of whose files are partitioned alike.")
        self._kinds.take(values)
        return values

    def _require_spelling(self, info: FileInfo, footer: Footer) -> None:
        if twice := repeated(column.name for column in footer.columns):
            what = f"it has two columns that are the same to Spark: {twice}."
            raise self._bad(info, what, "Write it with other names.")
        if not self._rewrite and (sign := unsafe_sign(info.path)):
            what = f"engines read {sign!r} in the name of a file differently."
            raise self._bad(info, what, "Rename the file, or copy the rows: --rewrite.")

    def _shown(self, info: FileInfo) -> str:
        return f"{self._address}/{below(self._folder, info.path)}"

    def _bad(self, info: FileInfo, what: str, next: str) -> BadFiles:
        return BadFiles(what, where=self._shown(info), safe="Nothing was changed.", next=next)

    def _leave_out(self, info: FileInfo) -> None:
        self.left_out_count += 1
        if len(self.left_out) < _SHOWN:
            self.left_out.append(below(self._folder, info.path))


def _named(names: tuple[str, ...]) -> str:
    return "/".join(f"{name}=…" for name in names) or "none"
