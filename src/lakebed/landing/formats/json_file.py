"""Sniffing a JSON file: one record per line, or one value over several lines."""

import json

from lakebed.landing.formats.file_format import FileFormat, options_of
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.formats.streams import BrokenFile
from lakebed.landing.formats.text_head import text_head
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files


def sniff_json(files: Files, file: FileInfo, kind: FileFormat, spec: ZoneSpec) -> SniffedFile:
    """How to read a file; `BrokenFile` if it does not begin like JSON records."""
    text, _ = text_head(files, file, kind, spec)
    text = text.lstrip(" \t\r\n")
    if not text:
        raise BrokenFile("it begins with blanks and no JSON record")
    if text[0] not in "{[":
        raise BrokenFile(
            f"it does not begin like JSON records, with {{ or [, but with {text[:20]!r}"
        )
    return SniffedFile(
        file, "json", options_of(kind, spec, multiline=_spans_lines(text)), kind.gzipped
    )


def _spans_lines(text: str) -> bool:
    """Whether the first value spans lines, as opposed to a broken first line."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or _is_value(lines[0]):
        return False
    return text[0] == "[" or not (lines[1].startswith("{") and _is_value(lines[1]))


def _is_value(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:  # Spark reports that it is nested too deeply
        return True
    return True
