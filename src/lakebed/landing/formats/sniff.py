"""Sniffing files: the columns they declare, and how to read them."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lakebed.landing.formats import csv_file, json_file, parquet_file
from lakebed.landing.formats.file_format import FileFormat, format_of
from lakebed.landing.formats.sniffed import BadFile, SniffedFile
from lakebed.landing.formats.streams import BrokenFile
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files, odd_path

_AT_ONCE = 8
_SAMPLE = 32
_LOOKS = {
    "json": json_file.sniff_json,
    "parquet": parquet_file.sniff_parquet,
}


def sniff_all(
    files: Files,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    known_names: Collection[str] = (),
) -> tuple[SniffedFile | BadFile, ...]:
    """Sniff files, several at once: a store may be slow to answer. `known_names` are columns that
    earlier files had.
    """
    names = frozenset(name.casefold() for name in known_names)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return tuple(pool.map(lambda file: sniff(files, file, spec, known_names=names), chosen))


def sniff(
    files: Files, file: FileInfo, spec: ZoneSpec, *, known_names: Collection[str] = ()
) -> SniffedFile | BadFile:
    """What a file is, by its name, its first and its last bytes. `known_names` are casefolded."""
    if fault := odd_path(file.path):
        return BadFile(file, f"no store takes its name: {fault}")
    kind = format_of(file.path.rpartition("/")[2], spec)
    if isinstance(kind, str):
        return BadFile(file, kind)
    if not file.size:
        return BadFile(file, "it has 0 bytes", rows=0)
    try:
        if kind.format == "csv":
            return csv_file.sniff_csv(files, file, kind, spec, known_names=known_names)
        return _LOOKS[kind.format](files, file, kind, spec)
    except BrokenFile as damage:
        return BadFile(file, str(damage))


def sniff_alike(
    files: Files,
    chosen: Sequence[FileInfo],
    spec: ZoneSpec,
    *,
    known_names: Collection[str] = (),
) -> tuple[SniffedFile | BadFile, ...]:
    """As `sniff_all`, for files whose job will tell if they are not what they seem: of JSON files
    that look alike, only some are looked at.
    """
    kinds = {format_of(file.path.rpartition("/")[2], spec) for file in chosen}
    if len(chosen) <= _SAMPLE or kinds != {FileFormat("json", gzipped=False)}:
        return sniff_all(files, chosen, spec, known_names=known_names)
    some = [chosen[place * (len(chosen) - 1) // (_SAMPLE - 1)] for place in range(_SAMPLE)]
    first, *others = sniff_all(files, some, spec)
    if any(not _is_alike(first, other) for other in others) or isinstance(first, BadFile):
        return sniff_all(files, chosen, spec)
    return tuple(replace(first, file=file) for file in chosen)


def _is_alike(one: SniffedFile | BadFile, other: SniffedFile | BadFile) -> bool:
    return isinstance(other, SniffedFile) and one == replace(other, file=one.file)
