"""Reading one file to its end, where something is or may be wrong with it."""

import codecs
from typing import IO

from lakebed.landing.formats import parquet_file
from lakebed.landing.formats.csv_file import dialect_of, open_quotes
from lakebed.landing.formats.csv_text import QuoteTracker
from lakebed.landing.formats.file_format import FileFormat, encoding_of, format_of
from lakebed.landing.formats.streams import BrokenFile, open_stream
from lakebed.landing.formats.text_head import encoding_advice
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files

_BY_BYTES = {"utf-8", "ascii", "iso8859-1", "cp1252"}


def find_damage(files: Files, file: FileInfo, spec: ZoneSpec, *, multiline: bool) -> str:
    """What is wrong with the bytes of a file: damaged compression, another encoding, open quotes;
    empty if nothing.
    """
    kind = format_of(file.path.rpartition("/")[2], spec)
    if isinstance(kind, str):
        return kind
    if kind.format == "parquet":
        return parquet_file.find_damage(files, file)
    encoding = encoding_of(kind, spec)
    try:
        with open_stream(files, file, gzipped=kind.gzipped) as stream:
            if encoding in _BY_BYTES:
                return _damaged_line(stream, kind, spec, multiline=multiline)
            return _damaged_text(stream, encoding)
    except BrokenFile as found:
        return str(found)


def line_of(files: Files, file: FileInfo, record: str, spec: ZoneSpec) -> int | None:
    """The number of the line that begins with this record; None if it cannot be determined."""
    kind = format_of(file.path.rpartition("/")[2], spec)
    if isinstance(kind, str) or not record or encoding_of(kind, spec) not in _BY_BYTES:
        return None
    wanted = record.encode(encoding_of(kind, spec), "replace")
    try:
        with open_stream(files, file, gzipped=kind.gzipped) as stream:
            return next(
                (number for number, line in enumerate(stream, 1) if line.startswith(wanted)), None
            )
    except BrokenFile:
        return None


def _damaged_line(stream: IO[bytes], kind: FileFormat, spec: ZoneSpec, *, multiline: bool) -> str:
    encoding = encoding_of(kind, spec)
    quotes, opened_at = QuoteTracker(dialect_of(kind, spec)) if kind.format == "csv" else None, 0
    for number, raw in enumerate(stream, 1):
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            return (
                f"line {number} is not {encoding}: byte 0x{raw[error.start]:02x} in {_shown(raw)}"
                f"{encoding_advice(raw, error.start, kind, spec)}"
            )
        if "\0" in line:
            return f"line {number} holds NUL characters"
        if quotes and (quotes.open or spec.quote in line):
            was_open = quotes.open
            quotes.feed(line)
            opened_at = opened_at if was_open else number
            if quotes.open and not multiline:
                return open_quotes(number, spec)
    return f"the quotes opened in line {opened_at} are not closed" if quotes and quotes.open else ""


def _damaged_text(stream: IO[bytes], encoding: str) -> str:
    """The same for encodings with line breaks of several bytes; quotes are not checked."""
    decoder, at = codecs.getincrementaldecoder(encoding)("strict"), 0
    while True:
        data = stream.read(1 << 20)
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            return f"it is not {encoding} at byte {at + error.start}: {error.reason}"
        if "\0" in text:
            return "it holds NUL characters"
        if not data:
            return ""
        at += len(data)


def _shown(raw: bytes) -> str:
    return repr(raw[:80].decode("latin-1").rstrip("\r\n"))
