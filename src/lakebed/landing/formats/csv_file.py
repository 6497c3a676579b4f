"""Sniffing a CSV file: its header, and whether it ends properly."""

import csv
from collections.abc import Collection

from lakebed.landing.formats.csv_header import header_doubt
from lakebed.landing.formats.csv_text import (
    LINE_BREAK,
    CsvDialect,
    ends_inside_quotes,
    first_record,
    header_error,
    last_line,
    next_records,
    other_delimiter,
)
from lakebed.landing.formats.file_format import FileFormat, delimiter_of, format_of, options_of
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.formats.streams import WINDOW, BrokenFile, tail
from lakebed.landing.formats.text_head import text_head
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files

_LONGEST_HEADER = 1024 * 1024


def dialect_of(kind: FileFormat, spec: ZoneSpec) -> CsvDialect:
    return CsvDialect(delimiter_of(kind, spec), spec.quote, spec.escape)


def open_quotes(line: int, spec: ZoneSpec) -> str:
    """What is wrong with a line that ends inside quotes."""
    advice = f"if its fields hold line breaks, {spec.how_to_set('multiline', 'true')}"
    return f"the quotes of line {line} are not closed; {advice}"


def sniff_csv(
    files: Files,
    file: FileInfo,
    kind: FileFormat,
    spec: ZoneSpec,
    *,
    known_names: Collection[str] = (),
) -> SniffedFile:
    """The columns of a file and how to read it; `BrokenFile` if its header or its end is broken, or
    if its first line seems to be a row. `known_names` are columns that earlier files had.
    """
    signs, options = dialect_of(kind, spec), options_of(kind, spec)
    by_line = ("multiLine", "false") in options
    record, others = _first_records(files, file, kind, spec, signs)
    if record[0].casefold().startswith("sep=") and others:
        raise BrokenFile(f"its first line, {record[0]!r}, is meant for Excel alone: remove it")
    if spec.header and len(record) > 1 and record in others:
        raise BrokenFile("its header stands in it twice: files were put together")
    if doubt := header_doubt(record, others, spec, known_names=known_names):
        raise BrokenFile(doubt)
    _require_delimiter(record, others, kind, spec)
    if spec.header and (wrong := header_error(record, signs.quote)):
        raise BrokenFile(wrong)
    columns = _names(record, known_names) if spec.header else _positions(len(record), spec)
    if by_line and len(columns) == 1:
        # else each line of a quoted field would be a row
        options = options_of(kind, spec, multiline=True)
    elif by_line and not kind.gzipped:
        _require_closed_quotes(files, file, spec, signs)
    return SniffedFile(file, "csv", options, kind.gzipped, columns, nulls=spec.further_nulls)


def first_rows(files: Files, sniffed: SniffedFile, spec: ZoneSpec) -> list[list[str]]:
    """The fields of the first rows of a file."""
    kind = format_of(sniffed.file.path.rpartition("/")[2], spec)
    if isinstance(kind, str):
        return []
    first, others = _first_records(files, sniffed.file, kind, spec, dialect_of(kind, spec))
    return others if spec.header else [first, *others]


def _first_records(
    files: Files, file: FileInfo, kind: FileFormat, spec: ZoneSpec, signs: CsvDialect
) -> tuple[list[str], list[list[str]]]:
    """The first record, and some that follow it."""
    for size in (WINDOW, _LONGEST_HEADER):
        text, whole = text_head(files, file, kind, spec, size=size)
        cut = not whole and not LINE_BREAK.search(text.lstrip())
        try:
            record = first_record(text, signs, multiline=spec.multiline)
        except csv.Error as error:
            if whole or not (spec.multiline or cut):
                raise BrokenFile(f"its first line is not CSV: {error}") from None
            continue
        if whole and record is None:
            raise BrokenFile("it holds only blank lines")
        if record is not None and not cut:
            others, open_line = next_records(text, signs, whole=whole)
            if open_line and len(record) > 1 and not spec.multiline:
                raise BrokenFile(open_quotes(open_line, spec))
            return record, others
    raise BrokenFile("its first line does not end within 1 MiB")


def _require_delimiter(
    first: list[str], others: list[list[str]], kind: FileFormat, spec: ZoneSpec
) -> None:
    """Raise if another character divides the header, or all rows of a file without one."""
    delimiter = delimiter_of(kind, spec)
    other = other_delimiter(first, delimiter)
    alike = len({row[0].count(other) if len(row) == 1 else -1 for row in (first, *others)}) == 1
    if not other or not (spec.header or (others and alike and spec.delimiter is None)):
        return
    shown = {"\t": "a tab"}.get(other, repr(other))
    advice = spec.how_to_set("delimiter", "tab" if other == "\t" else repr(other))
    name = ", or name it .tsv" if other == "\t" else ", or name it .csv" if kind.tabbed else ""
    what = "header" if spec.header else "first line"
    raise BrokenFile(
        f"its {what} has one column, {first[0]!r}: its delimiter seems to be {shown}, not"
        f" {delimiter!r}: {advice}{name}"
    )


def _names(record: list[str], known_names: Collection[str]) -> tuple[str, ...]:
    """The names without blanks around them, except for those that the zone has had with them."""
    return tuple(name if name.casefold() in known_names else name.strip() for name in record)


def _positions(count: int, spec: ZoneSpec) -> tuple[str, ...]:
    """Column names for a file without a header: the expected ones, else by position."""
    expected = tuple(spec.expected_schema or ())
    if expected and len(expected) != count:
        raise BrokenFile(
            f"its first line has {count} fields, and expected_schema {len(expected)} columns"
        )
    return expected or tuple(f"_c{place}" for place in range(count))


def _require_closed_quotes(files: Files, file: FileInfo, spec: ZoneSpec, signs: CsvDialect) -> None:
    """A file that was cut off inside its last quoted field has all its fields: only the open quote
    shows it.
    """
    line = last_line(tail(files, file).decode(spec.encoding, "replace"))
    # of a longer line only the end may have been read
    if len(line) < WINDOW // 4 and ends_inside_quotes(line, signs):
        raise BrokenFile(f"it ends inside quotes: {line[-80:]!r}")
