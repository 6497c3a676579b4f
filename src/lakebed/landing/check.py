"""Every file read once before its rows may enter a table: which are good, how many rows each has, what is wrong with others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakebed.landing.alike import Address, Alike, group, reading_columns, target_types
from lakebed.landing.blame import Blame, among, files_of
from lakebed.landing.faults import fault_of
from lakebed.landing.infer import Inference
from lakebed.landing.reader import Reader
from lakebed.landing.seen import Bad, Sniffed
from lakebed.landing.spec import ZoneSpec
from lakebed.landing.types import Type
from lakebed.landing.verify import damage
from lakebed.ports import FileInfo, FileRows, Files, Unreadable

_Rows = Mapping[str, FileRows]


@dataclass(frozen=True)
class Checked:
    """What a look at all rows of the files came to."""

    groups: tuple[Alike, ...]  # good files only
    target: Mapping[str, Type]  # the columns that all rows get
    rows: Mapping[str, int]  # of each good file
    bad: tuple[Bad, ...]


def check(reader: Reader, files: Files, sniffed: Sequence[Sniffed], spec: ZoneSpec, *, address: Address) -> Checked:
    """Infer types and read every row; then again without the files that proved bad, whose values must not shape the types."""
    blame = Blame(address, lambda file, multiline: damage(files, file, spec, multiline=multiline))
    inference = Inference(reader, spec, address, blame)
    checking = _Checking(reader, spec, address, blame, inference)
    empty: frozenset[tuple[str, str]] = frozenset()
    while True:
        groups = inference.typed(group(one for one in sniffed if one.file.path not in blame.bad))
        target = target_types(groups, spec, empty=empty)
        rows = checking.run(groups, target)
        good = among(groups, [file for file in files_of(groups) if file.path not in blame.bad])
        empty = _without_values(groups, target, rows)
        settled = good == groups and target_types(groups, spec, empty=empty) == target
        if settled or spec.expected:
            counted = {file.path: rows[file.path].rows for file in files_of(good)}
            return Checked(good, target, counted, tuple(blame.bad.values()))


@dataclass
class _Checking:
    reader: Reader
    spec: ZoneSpec
    address: Address
    blame: Blame
    inference: Inference

    def run(self, groups: Sequence[Alike], target: Mapping[str, Type]) -> _Rows:
        """What was found in each file that could be read to its end; whatever is wrong with a file is noted."""
        rows = self._rows(groups, target)
        broken = among(groups, [file for file in files_of(groups) if file.path in rows and rows[file.path].corrupt])
        asked = [member.to_read(reading_columns(member, target), self.address) for member in broken]
        records = self.reader.corrupt_records(asked) if asked else {}
        for member in groups:
            for file in member.files:
                if file.path in rows:
                    self._judge(file, member, target, rows[file.path], records.get(self.address(file.path), ""))
        return rows

    def _rows(self, groups: Sequence[Alike], target: Mapping[str, Type]) -> dict[str, FileRows]:
        """One job for all; should it fail, the culprits are looked for by dividing the rest."""
        if not groups:
            return {}
        answer = self.reader.check_files([member.to_read(reading_columns(member, target), self.address) for member in groups])
        if isinstance(answer, Unreadable):
            parts = self.blame.narrow(groups, answer)
            return {path: row for part in parts for path, row in self._rows(part, target).items()}
        found = {row.path: row for row in answer}
        addresses = {file.path: self.address(file.path) for file in files_of(groups)}
        return {path: found.get(address) or FileRows(address, 0) for path, address in addresses.items()}

    def _judge(self, file: FileInfo, member: Alike, target: Mapping[str, Type], found: FileRows, record: str) -> None:
        doubtful = found.suspect or "\ufffd" in record
        reason = self.blame.damage(file, member) if doubtful else ""
        if not reason and (found.corrupt or found.stray or found.rounded):
            reason = fault_of(member, reading_columns(member, target), found, record)
        reason = reason or self._lacking(file, member, found)
        if reason:
            self.blame.refuse([file], reason, rows=found.rows)

    def _lacking(self, file: FileInfo, member: Alike, found: FileRows) -> str:
        """A JSON file in which an expected column never occurs lacks it; one where it is always null does not."""
        expected = tuple(self.spec.expected or ())
        if member.format != "json" or not found.rows or all(found.filled[: len(expected)]):
            return ""
        answer = self.inference.types(member.of([file]))
        there = {name.casefold() for name in answer} if isinstance(answer, dict) else set()
        lacking = [name for name in expected if name.casefold() not in there]
        return f"it lacks the column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}" if lacking else ""


def _without_values(groups: Iterable[Alike], target: Mapping[str, Type], rows: _Rows) -> frozenset[tuple[str, str]]:
    """Columns that hold no value in a whole group: Spark calls them text, for want of a better word."""
    return frozenset(
        (member.files[0].path, column.name)
        for member in groups
        if member.format != "parquet"
        for place, column in enumerate(reading_columns(member, target))
        if not any(rows[file.path].filled[place : place + 1] not in {(), (0,)} for file in member.files if file.path in rows)
    )
