"""The beginnings of some large files, from which types are proposed."""

import csv
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lakebed.landing.checking.read_groups import Address, ReadGroup
from lakebed.landing.formats.csv_text import LINE_BREAK, CsvDialect
from lakebed.landing.formats.streams import head
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, Files

SMALL = 4 * 1024 * 1024  # so many bytes are inferred from all values
_FEW, _MANY = 4, 32  # files of which a sample is taken: more if they are small
_HEAD = 256 * 1024


@dataclass(frozen=True)
class Sample:
    """Copies of the first lines of some of a group's files, and the columns that have a value
    there.
    """

    group: ReadGroup
    filled: frozenset[str]


@dataclass(frozen=True)
class SampleFolder:
    """Where copies are put for a moment: never beside files that are not ours."""

    files: Files
    path: str
    address: Address

    def clear(self) -> None:
        self.files.clear(self.path)


def take_sample(
    files: Files, member: ReadGroup, spec: ZoneSpec, *, into: SampleFolder, number: int
) -> Sample | None:
    """Copy the first lines of some files to a folder; None if a file has no lines to cut at, or
    they are no records.
    """
    with ThreadPoolExecutor(_FEW) as pool:
        parts = list(pool.map(lambda file: _first_lines(files, file), _some(member.files)))
    if not all(parts) or (member.format == "json" and not all(map(_begins_a_record, parts))):
        return None
    copies = [
        into.files.write(f"{into.path}/{number}/sample-{place}.{member.format}", part)
        for place, part in enumerate(parts)
    ]
    return Sample(member.of(copies), frozenset(_filled(member, parts, spec)))


def _some(chosen: tuple[FileInfo, ...]) -> list[FileInfo]:
    """The first, the last, and some between."""
    average = sum(file.size for file in chosen) // len(chosen)
    count = min(_MANY, max(_FEW, _FEW * _HEAD // max(average, 1)))
    if len(chosen) <= count:
        return list(chosen)
    return [chosen[place * (len(chosen) - 1) // (count - 1)] for place in range(count)]


def _begins_a_record(part: bytes) -> bool:
    """An array of records may be one line, too."""
    return part.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _first_lines(files: Files, file: FileInfo) -> bytes:
    data, whole = head(files, file, gzipped=False, size=_HEAD)
    return data if whole else data[: data.rfind(b"\n") + 1]


def _filled(member: ReadGroup, parts: list[bytes], spec: ZoneSpec) -> Iterator[str]:
    """The columns that certainly have a value."""
    if member.format == "json":
        yield from _filled_keys(parts)
        return
    options, wanted = dict(member.options), dict(enumerate(member.columns))
    signs = CsvDialect(options["sep"], options["quote"], options["escape"])
    for part in parts:
        text = part.decode(spec.encoding, "replace").removeprefix("\ufeff")
        for record in _records(LINE_BREAK.split(text), signs):
            is_header = spec.header and tuple(record) == member.columns
            if is_header or len(record) != len(member.columns):
                continue
            for place in [one for one in wanted if _is_value(record[one], spec)]:
                yield wanted.pop(place)
            if not wanted:
                return


def _filled_keys(parts: list[bytes]) -> Iterator[str]:
    for line in (line for part in parts for line in part.splitlines() if line.strip()):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield from (name for name, value in record.items() if value is not None)


def _records(lines: list[str], signs: CsvDialect) -> Iterator[list[str]]:
    """The records of lines that can be read on their own."""
    for line in lines:
        try:
            yield from signs.records([line])
        except csv.Error:
            continue


def _is_value(text: str, spec: ZoneSpec) -> bool:
    return text != spec.null and any(sign.isalnum() for sign in text)
