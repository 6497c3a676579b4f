"""The types that the first lines of CSV files show, and which values decide."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from lakebed.landing.formats.csv_file import first_rows
from lakebed.landing.formats.sniff import sniff
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files
from lakebed.types import STRING, ColumnType
from lakebed.types.spelling import Digits, digits_of, kind_of, type_of_digits, type_of_kinds

_FILES = 4


@dataclass(frozen=True)
class ShownColumn:
    """A column, the type that its texts show, and the text without which it would be narrower."""

    name: str
    type: str
    value: str
    path: str


@dataclass
class _Texts:
    """The texts of a column so far."""

    name: str
    kinds: set[str] = field(default_factory=set)
    digits: Digits = field(default_factory=Digits)
    type: ColumnType | None = None
    value: str = ""
    path: str = ""

    def add(self, text: str, path: str) -> None:
        kind = kind_of(text)
        self.kinds.add(kind)
        if kind in {"int", "bigint", "wide", "easy", "fraction"}:
            self.digits |= digits_of(text)
        found = type_of_kinds(self.kinds) or type_of_digits(self.kinds, self.digits)
        if found != self.type:
            self.type, self.value, self.path = found, text, path


def shown_columns(
    files: Files, waiting: Iterable[FileInfo], spec: ZoneSpec
) -> tuple[ShownColumn, ...]:
    """The columns of some waiting files, as their first lines show them; files that are not CSV, or
    look bad, are left out.
    """
    if not spec.infer_types or spec.expected_schema:
        return ()
    columns: dict[str, _Texts] = {}
    filled = (file for file in waiting if file.size)
    for file in islice(filled, _FILES):
        for name, text in _fields(files, file, spec):
            columns.setdefault(name.casefold(), _Texts(name)).add(text, file.path)
    return tuple(
        ShownColumn(one.name, str(one.type or STRING), one.value, one.path)
        for one in columns.values()
    )


def _fields(files: Files, file: FileInfo, spec: ZoneSpec) -> Iterator[tuple[str, str]]:
    sniffed = sniff(files, file, spec)
    if not isinstance(sniffed, SniffedFile) or sniffed.format != "csv":
        return
    for row in first_rows(files, sniffed, spec):
        if len(row) == len(sniffed.columns):
            for name, text in zip(sniffed.columns, row, strict=True):
                if text and text not in spec.nulls:
                    yield name, text
