"""Checking every row of landing files before they enter a table: which files are good, and what is
wrong with others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakebed.landing.checking.bad_files import BadFileSearch, files_of, restrict
from lakebed.landing.checking.faults import describe_fault
from lakebed.landing.checking.infer import Inference
from lakebed.landing.checking.odd_texts import odd_texts, require_one_spelling
from lakebed.landing.checking.outcome import CheckedFiles, learned_types, plain_types
from lakebed.landing.checking.read_groups import (
    Address,
    ReadGroup,
    columns_to_read,
    group_files,
    target_types,
)
from lakebed.landing.checking.remembered_types import (
    NOTHING_REMEMBERED,
    ColumnTypes,
    RememberedTypes,
)
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.formats.verify import find_damage, line_of
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import FileInfo, FileRows, Files, LandingReader, UnreadableFiles
from lakebed.types import ColumnType

_Rows = Mapping[str, FileRows]


def check(
    reader: LandingReader,
    files: Files,
    sniffed: Sequence[SniffedFile],
    spec: ZoneSpec,
    *,
    address: Address,
    remembered: RememberedTypes = NOTHING_REMEMBERED,
) -> CheckedFiles:
    """Infer types and read every row; repeat without bad files, whose values must not affect the
    types.
    """
    blame = BadFileSearch(
        address, lambda file, multiline: find_damage(files, file, spec, multiline=multiline)
    )
    taken = ColumnTypes(remembered, spec)
    inference = Inference(reader, spec, address, blame, taken)
    checking = _Checking(reader, files, spec, address, blame, inference)
    empty: frozenset[tuple[str, str]] = frozenset()
    while True:
        before, types = len(blame.bad), taken.types
        groups = inference.with_types(
            group_files(one for one in sniffed if one.file.path not in blame.bad)
        )
        target = target_types(groups, spec, empty=empty, taken=taken)
        rows = checking.run(groups, target)
        good = restrict(groups, [file for file in files_of(groups) if file.path not in blame.bad])
        empty = _without_values(groups, target, rows)
        if len(blame.bad) > before and taken.widened:
            taken.reset()
            inference.forget()
        settled = good == groups and taken.types == types
        settled = settled and target_types(groups, spec, empty=empty, taken=taken) == target
        if settled or spec.expected:
            counted = {file.path: rows[file.path].rows for file in files_of(good)}
            learned = {} if spec.expected else learned_types(good, target, empty, taken)
            odd = odd_texts(good, target, rows)
            require_one_spelling(
                reader, good, target, spec=spec, address=address, keys=remembered.keys, odd=odd
            )
            return CheckedFiles(
                groups=good,
                target=target,
                rows=counted,
                bad=tuple(blame.bad.values()),
                learned=learned,
                widened=taken.widened,
                json_columns=frozenset(name.casefold() for name in taken.json_columns),
                odd={name: count for name, count in odd.items() if taken.is_remembered(name)},
            )


@dataclass(frozen=True)
class _Unfit:
    """A file with values that do not fit its columns' types."""

    file: FileInfo
    member: ReadGroup
    reason: str
    rows: int


@dataclass
class _Checking:
    reader: LandingReader
    files: Files
    spec: ZoneSpec
    address: Address
    blame: BadFileSearch
    inference: Inference

    def run(self, groups: Sequence[ReadGroup], target: Mapping[str, ColumnType]) -> _Rows:
        """The findings for each file that could be read to its end; bad files are marked.

        If values do not fit and columns may be widened, they are widened, and no file is marked
        yet.
        """
        rows = self._rows(groups, target)
        if self._read_as_text(groups, target, rows):
            return rows
        broken = restrict(
            groups,
            [file for file in files_of(groups) if file.path in rows and rows[file.path].corrupt],
        )
        asked = [member.to_read(columns_to_read(member, target), self.address) for member in broken]
        records = self.reader.corrupt_records(asked) if asked else {}
        read = [(member, file) for member in groups for file in member.files if file.path in rows]
        found = [
            self._judged(
                file, member, target, rows[file.path], records.get(self.address(file.path), "")
            )
            for member, file in read
        ]
        unfit = [one for one in found if one]
        if unfit and not self._widened(restrict(groups, [one.file for one in unfit])):
            for one in unfit:
                wanted = self._wanted_by(one.member.of([one.file]))
                self.blame.mark_bad([one.file], one.reason, rows=one.rows, wanted_by=wanted)
        return rows

    def _read_as_text(
        self, groups: Sequence[ReadGroup], target: Mapping[str, ColumnType], rows: _Rows
    ) -> bool:
        """Take columns for text whose types were inferred group by group, and for whose values
        there is no type together; whether there are any.
        """
        taken = self.inference.taken
        if self.spec.expected or not self.spec.infer_types:
            return False
        mixed = [name for name in odd_texts(groups, target, rows) if taken.of(name) is None]
        taken.read_as_text(mixed)
        if mixed:
            self.inference.forget()
        return bool(mixed)

    def _widened(self, members: Sequence[ReadGroup]) -> bool:
        """Widen the columns of these files as far as allowed; whether any was widened."""
        if self.inference.taken.remembered.may_widen is None:
            return False
        found = [self._widen(member) for member in members]
        if any(found):
            self.inference.forget()
        return any(found)

    def _widen(self, member: ReadGroup) -> bool:
        """Widen by halves of the files, so that one that does not fit does not hide others
        that do.
        """
        if self.inference.taken.widen(self._shown(member)):
            return True
        if len(member.files) == 1 or member.format == "parquet":
            return False
        middle = len(member.files) // 2
        halves = [
            self._widen(member.of(files))
            for files in (member.files[:middle], member.files[middle:])
        ]
        return any(halves)

    def _rows(
        self, groups: Sequence[ReadGroup], target: Mapping[str, ColumnType]
    ) -> dict[str, FileRows]:
        """One job for all files; if it fails, the bad files are found by bisection."""
        if not groups:
            return {}
        answer = self.reader.check(
            [member.to_read(columns_to_read(member, target), self.address) for member in groups]
        )
        if isinstance(answer, UnreadableFiles):
            parts = self.blame.narrow(groups, answer)
            return {path: row for part in parts for path, row in self._rows(part, target).items()}
        found = {row.path: row for row in answer}
        addresses = {file.path: self.address(file.path) for file in files_of(groups)}
        return {
            path: found.get(address) or FileRows(address, 0) for path, address in addresses.items()
        }

    def _judged(
        self,
        file: FileInfo,
        member: ReadGroup,
        target: Mapping[str, ColumnType],
        found: FileRows,
        record: str,
    ) -> _Unfit | None:
        """Marks a file that is bad in any case; returns one whose values do not fit."""
        doubtful = found.suspect or "\ufffd" in record
        reason = self.blame.find_damage(file, member) if doubtful else ""
        columns = columns_to_read(member, target)
        if not reason and (found.corrupt or found.rounded):
            line = (
                line_of(self.files, file, record, self.spec)
                if found.corrupt and not self.spec.multiline
                else None
            )
            return _Unfit(
                file,
                member,
                describe_fault(member, columns, found, record, line=line, spec=self.spec),
                found.rows,
            )
        if not reason and member.format == "parquet" and (said := self._other_type(member)):
            return _Unfit(file, member, said, found.rows)
        reason = (
            reason
            or describe_fault(member, columns, found, record, spec=self.spec)
            or self._lacking(file, member, found)
        )
        if reason:
            self.blame.mark_bad([file], reason, rows=found.rows)
        return None

    def _other_type(self, member: ReadGroup) -> str:
        """How the columns of a Parquet file differ from the zone's types; empty if they do not."""
        unfit = self.inference.taken.unfit(plain_types(member.types))
        for name, (known, _) in unfit.items():
            what = f"its column {name} is {member.types[name]}, and {known} is expected"
            return f"{what}; to have it read otherwise, {self.spec.how_to_type(name, '…')}"
        return ""

    def _shown(self, member: ReadGroup) -> dict[str, ColumnType]:
        answer = (
            plain_types(member.types)
            if member.format == "parquet"
            else self.inference.shown(member)
        )
        return {} if isinstance(answer, UnreadableFiles) else answer

    def _wanted_by(self, member: ReadGroup) -> str:
        taken = self.inference.taken
        return taken.other_reader(self._shown(member)) if taken.remembered.other_reader else ""

    def _lacking(self, file: FileInfo, member: ReadGroup, found: FileRows) -> str:
        """The expected columns that never occur in a JSON file; a column that is always null does
        occur.
        """
        expected = tuple(self.spec.expected or ())
        if member.format != "json" or not found.rows or all(found.filled[: len(expected)]):
            return ""
        answer = self.inference.types(member.of([file]))
        there = {name.casefold() for name in answer} if isinstance(answer, dict) else set()
        lacking = [name for name in expected if name.casefold() not in there]
        return (
            f"it lacks the column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
            if lacking
            else ""
        )


def _without_values(
    groups: Iterable[ReadGroup], target: Mapping[str, ColumnType], rows: _Rows
) -> frozenset[tuple[str, str]]:
    """Columns without a value in a whole group: Spark infers string for them, which means
    nothing.
    """
    return frozenset(
        (member.files[0].path, column.name)
        for member in groups
        if member.format != "parquet"
        for place, column in enumerate(columns_to_read(member, target))
        if not any(
            rows[file.path].filled[place : place + 1] not in {(), (0,)}
            for file in member.files
            if file.path in rows
        )
    )
