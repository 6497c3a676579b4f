"""The first characters of a text file; of another file, or one in another encoding, what it is."""

import codecs
import re

from lakebed.landing.formats.file_format import FileFormat, encoding_of
from lakebed.landing.formats.streams import WINDOW, BrokenFile, head
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files

_NO_TEXT = {
    b"\x1f\x8b": "it holds gzip data, so its name must end in .gz",
    b"PAR1": "it holds Parquet data, so its name must end in .parquet",
    b"PK\x03\x04": "it is an Excel workbook or a zip archive: save its sheets as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "it is an old Excel workbook: save its sheets as CSV",
    b"%PDF-": "it is a PDF document",
    b"Obj\x01": "it is an Avro file: convert it to Parquet",
    b"ARROW1\0\0": "it is an Arrow file: convert it to Parquet",
    b"SQLite format 3\0": "it is an SQLite database: export its tables as CSV",
    b"BZh91AY&SY": "it is compressed by bzip2: only .gz is read",
    b"\x28\xb5\x2f\xfd": "it is compressed by zstd: only .gz is read",
}
_JSON = re.compile(r'\s*\[?\s*\{\s*"[^"]*"\s*:')
_MARKUP = ("<!doctype", "<html", "<?xml")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # begins like UTF-16's
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_EVERY_BYTE = {"iso8859-1", "cp1252"}  # read nearly all bytes as some text


def text_head(
    files: Files, file: FileInfo, kind: FileFormat, spec: ZoneSpec, *, size: int = WINDOW
) -> tuple[str, bool]:
    """The first characters of a text file, and whether that is all; `BrokenFile` for another
    encoding, and for what is no text.
    """
    data, whole = head(files, file, gzipped=kind.gzipped, size=size)
    if found := next((told for sign, told in _NO_TEXT.items() if data.startswith(sign)), ""):
        raise BrokenFile(found)
    text = _decoded(data, kind, spec, whole=whole).removeprefix("\ufeff")
    if kind.format == "csv" and _JSON.match(text):
        raise BrokenFile("it holds JSON, so its name must end in .json")
    if text.lstrip()[:9].casefold().startswith(_MARKUP):
        raise BrokenFile(
            f"it is a web page or XML, not {kind.format.upper()}: {text.lstrip()[:60]!r}"
        )
    return text, whole


def _decoded(data: bytes, kind: FileFormat, spec: ZoneSpec, *, whole: bool) -> str:
    encoding = encoding_of(kind, spec)
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(data, final=whole)
    except UnicodeDecodeError as error:
        raise BrokenFile(
            f"it is not {encoding}: byte 0x{data[error.start]:02x} at {error.start}"
            f"{encoding_advice(data, error.start, kind, spec)}"
        ) from None
    if "\0" in text:
        advice = encoding_advice(data, text.index("\0"), kind, spec)
        raise BrokenFile(f"it holds NUL characters{advice or ': it is damaged, or not text'}")
    if encoding in _EVERY_BYTE and not data.isascii() and _is_utf_8(data, whole=whole):
        advice = spec.how_to_set("encoding", "utf-8")
        raise BrokenFile(f"it is utf-8, and would be read as {encoding}: {advice}")
    return text


def encoding_advice(data: bytes, at: int, kind: FileFormat, spec: ZoneSpec) -> str:
    """The encoding that bytes seem to have, of which the one `at` this place is wrong in the
    expected one; empty if it cannot be told.
    """
    encoding, text = _likely_encoding(data, at)
    if not encoding:
        return ""
    shown = f"; as {encoding} it reads {text!r}" if text else f"; it seems to be {encoding}"
    if kind.format == "json":
        return f"{shown}: convert it, since JSON is UTF-8 by its standard"
    return f"{shown}: if that is right, {spec.how_to_set('encoding', encoding)}"


def _likely_encoding(data: bytes, at: int) -> tuple[str, str]:
    """An encoding, and the words around the byte as they read in it."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return encoding, ""
    first, second = data[::2].count(0), data[1::2].count(0)
    if first + second > len(data) // 4 and not (first and second):  # Latin letters in two bytes
        return ("utf-16-be" if first else "utf-16-le"), ""
    if data[at] < 0x80:  # the same in all of them
        return "", ""
    start, end = max(data.rfind(b"\n", 0, at), at - 20) + 1, data.find(b"\n", at)
    words = data[start : min(end if end >= 0 else len(data), at + 20)]
    for encoding in ("latin-1", "cp1252"):
        text = words.decode(encoding, "replace").strip()
        if text.replace("\t", " ").isprintable() and "\ufffd" not in text:
            return encoding, text
    return "", ""


def _is_utf_8(data: bytes, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True
