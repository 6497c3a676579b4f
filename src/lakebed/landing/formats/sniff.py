"""Sniffing files: the columns they declare, and how to read them."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from lakebed.landing.formats import csv_file, json_file, parquet_file
from lakebed.landing.formats.file_format import format_of
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.formats.streams import BrokenFile
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files

_AT_ONCE = 8
_LOOKS = {
    "csv": csv_file.sniff_csv,
    "json": json_file.sniff_json,
    "parquet": parquet_file.sniff_parquet,
}


def sniff_all(
    files: Files, chosen: Sequence[FileInfo], spec: ZoneSpec
) -> tuple[SniffedFile | BadFile, ...]:
    """Sniff files, several at once: a store may be slow to answer."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return tuple(pool.map(lambda file: sniff(files, file, spec), chosen))


def sniff(files: Files, file: FileInfo, spec: ZoneSpec) -> SniffedFile | BadFile:
    """What a file is, by its name, its first and its last bytes."""
    kind = format_of(file.path.rpartition("/")[2], spec)
    if isinstance(kind, str):
        return BadFile(file, kind)
    if not file.size:
        return BadFile(file, "it has 0 bytes", rows=0)
    try:
        return _LOOKS[kind.format](files, file, kind, spec)
    except BrokenFile as damage:
        return BadFile(file, str(damage))
