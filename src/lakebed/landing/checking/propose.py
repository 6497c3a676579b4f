"""Types proposed for files before all their values are known, and whether the job that read the
values has proved them right.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lakebed.errors import BadFiles, FileMissing
from lakebed.landing.checking.bad_files import BadFileSearch
from lakebed.landing.checking.infer import Inference, type_fault
from lakebed.landing.checking.odd_texts import respelt_keys
from lakebed.landing.checking.outcome import CheckedFiles, learned_types, plain_types
from lakebed.landing.checking.read_groups import (
    Address,
    ReadGroup,
    columns_to_read,
    group_files,
    schema_difference,
    target_types,
)
from lakebed.landing.checking.remembered_types import ColumnTypes, RememberedTypes
from lakebed.landing.checking.sample import SMALL, Sample, SampleFolder, take_sample
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import Files, LandingReader, SeenRows, UnreadableFiles
from lakebed.types import STRING, ColumnType

_MOST_GROUPS = 20
_MANY_FILES = 200  # to open so many takes longer than to read them
# If all values of a column fit such a type, and some show it, then inference over all of them finds
# it too. A decimal's digits depend on the order of the values.
_CERTAIN = {"boolean", "int", "bigint", "double", "string"}
_TIMES = {"date", "timestamp"}

_Columns = frozenset[tuple[str, str]]  # the first path of a group, and a column's name in its files


@dataclass(frozen=True)
class Proposal:
    """Files that are read as if all were good, and the types to read them with."""

    groups: tuple[ReadGroup, ...]
    target: dict[str, ColumnType]
    spec: ZoneSpec
    taken: ColumnTypes
    unseen: _Columns = frozenset()  # columns of which a sample shows no value

    def outcome(self, empty: _Columns = frozenset()) -> CheckedFiles:
        """What checking these files results in if they are good; `empty` columns have no value."""
        learned = (
            {} if self.spec.expected else learned_types(self.groups, self.target, empty, self.taken)
        )
        also = frozenset(name.casefold() for name in self.taken.json_columns)
        return CheckedFiles(self.groups, self.target, {}, (), learned, json_columns=also)

    def proved(self, seen: Sequence[SeenRows] | None) -> CheckedFiles | None:
        """The outcome of checking, if what a job saw proves that it is the same; else None."""
        if seen is None or any(one.doubtful for one in seen):
            return None
        empty = frozenset(self._without_values(seen))
        if self.unseen - empty or self._types(empty) != self.target:
            return None
        return self.outcome(empty)

    def _types(self, empty: _Columns) -> dict[str, ColumnType]:
        return target_types(self.groups, self.spec, empty=empty, taken=self.taken)

    def _without_values(self, seen: Sequence[SeenRows]) -> Iterable[tuple[str, str]]:
        for member, one in zip(self.groups, seen, strict=True):
            columns = columns_to_read(member, self.target) if member.format != "parquet" else ()
            for column, count in zip(columns, one.filled, strict=False):
                if not count:
                    yield member.files[0].path, column.name


def propose(
    reader: LandingReader,
    files: Files,
    sniffed: Sequence[SniffedFile],
    spec: ZoneSpec,
    *,
    address: Address,
    remembered: RememberedTypes,
    into: SampleFolder,
) -> Proposal | None:
    """Types for files that look good: those that are known, those that small files show, or those
    that samples show, of which copies are put into a folder for a moment.

    None if the files must be checked before their rows are used.
    """
    groups, taken = group_files(sniffed), ColumnTypes(remembered, spec)
    own_pass = any(_needs_own_pass(member, spec) for member in groups)
    if not groups or len(groups) > _MOST_GROUPS or own_pass:
        return None
    blame = BadFileSearch(address, lambda *_: "")
    proposing = _Proposing(files, spec, Inference(reader, spec, address, blame, taken), into)
    try:
        return proposing.proposal(groups)
    except (BadFiles, FileMissing):  # checking tells which
        return None
    finally:
        if proposing.samples:
            into.clear()


def _needs_own_pass(member: ReadGroup, spec: ZoneSpec) -> bool:
    """Whether files may have faults that the job which reads their rows does not notice: quotes or
    values that span lines and are not closed, an expected key that a single file lacks.
    """
    if member.format == "parquet":
        return False
    zipped = any(file.path.casefold().endswith(".gz") for file in member.files)
    return member.multiline or zipped or bool(member.format == "json" and spec.expected)


def _of_others(
    members: Iterable[ReadGroup], target: Mapping[str, ColumnType]
) -> Iterator[tuple[str, str]]:
    """Columns that JSON files are read with although none of their keys was seen."""
    for member in members:
        if member.format == "json":
            for column in columns_to_read(member, target):
                if column.name not in member.types:
                    yield member.files[0].path, column.name


class _Proposing:
    def __init__(
        self, files: Files, spec: ZoneSpec, inference: Inference, into: SampleFolder
    ) -> None:
        self.files, self.spec, self.inference, self.into = files, spec, inference, into
        self.of_samples = replace(inference, address=into.address)
        self.samples: list[Sample] = []
        self.unseen: set[tuple[str, str]] = set()
        self.inferred: set[str] = set()  # casefolded names of columns whose type a sample shows

    def proposal(self, groups: Sequence[ReadGroup]) -> Proposal | None:
        typed = [self._typed(member) for member in groups]
        members = tuple(member for member in typed if member)
        if len(members) < len(groups):
            return None
        taken = self.inference.taken
        target = target_types(members, self.spec, empty=self.unseen, taken=taken)
        # together with other files
        shared = [type_ for name, type_ in target.items() if name.casefold() in self.inferred]
        if not all(map(self._is_certain, shared)):
            return None
        if any(respelt_keys(target, keys=taken.remembered.keys)):
            return None  # all of its values must be compared
        unseen = frozenset({*self.unseen, *_of_others(members, target)})
        return Proposal(members, target, self.spec, taken, unseen)

    def _typed(self, member: ReadGroup) -> ReadGroup | None:
        """The group with its types; None if anything is wrong with it, or they are not certain."""
        if schema_difference(member, self.spec):
            return None
        if self._needs_sample(member):
            return self._sampled(member)
        answer = self.inference.types(member)
        return self._unless_wrong(member, answer)

    def _needs_sample(self, member: ReadGroup) -> bool:
        size = sum(file.size for file in member.files)
        large = size > SMALL or len(member.files) > _MANY_FILES
        return large and member.format != "parquet" and self.inference.known(member) is None

    def _unless_wrong(
        self, member: ReadGroup, answer: dict[str, ColumnType] | UnreadableFiles
    ) -> ReadGroup | None:
        if isinstance(answer, UnreadableFiles):
            return None
        typed = replace(member, types=answer)
        other = member.format == "parquet" and self.inference.taken.unfit(plain_types(answer))
        # the keys of records inside records cannot be compared with columns
        nested = member.format == "json" and any(one.is_nested for one in answer.values())
        return None if other or nested or type_fault(typed, self.spec) else typed

    def _sampled(self, member: ReadGroup) -> ReadGroup | None:
        """With several texts for NULL, types are not inferred value by value."""
        if member.nulls:
            return None
        number = len(self.samples)
        sample = take_sample(self.files, member, self.spec, into=self.into, number=number)
        if sample is None:
            return None
        self.samples.append(sample)
        typed = self._unless_wrong(member, self.of_samples.types(member, sample=sample.group))
        inferred = {
            name: type_
            for name, type_ in (typed.types if typed else {}).items()
            if self.inference.taken.of(name) is None
        }
        if not all(map(self._is_certain, inferred.values())):
            return None
        self.inferred |= {name.casefold() for name in inferred}
        self.unseen |= {
            (member.files[0].path, name)
            for name, type_ in inferred.items()
            if type_ == STRING and name not in sample.filled
        }
        return typed

    def _is_certain(self, type_: ColumnType) -> bool:
        plain = self.spec.date_format is None and self.spec.timestamp_format is None
        return type_.name in _CERTAIN or (plain and type_.name in _TIMES)
