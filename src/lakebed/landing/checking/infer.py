"""Column types of each group of files, and the groups that can be read together."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lakebed.landing.checking.bad_files import BadFileSearch
from lakebed.landing.checking.read_groups import Address, ReadGroup, schema_difference
from lakebed.landing.checking.remembered_types import ColumnTypes, read_as
from lakebed.landing.formats.csv_text import duplicate_names
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import Field, LandingReader, UnreadableFiles
from lakebed.types import STRING, ColumnType, parse_type


@dataclass
class Inference:
    """Infers types through the engine, once for each group."""

    reader: LandingReader
    spec: ZoneSpec
    address: Address
    blame: BadFileSearch
    taken: ColumnTypes
    _known: dict[tuple[str, ...], tuple[ReadGroup, ...]] = field(default_factory=dict)

    def with_types(self, groups: Iterable[ReadGroup]) -> tuple[ReadGroup, ...]:
        """The groups with their types: split where files cannot be read together, and without bad
        files.
        """
        return tuple(typed for member in groups for typed in self._of(member))

    def types(
        self, member: ReadGroup, *, sample: ReadGroup | None = None
    ) -> dict[str, ColumnType] | UnreadableFiles:
        """The types of a group's columns, by their names in the files; where they must be inferred,
        from the values of all its files or of a `sample`.
        """
        if (known := self.known(member)) is not None:
            return known
        answer = self.shown(sample or member)
        if member.format == "parquet" or isinstance(answer, UnreadableFiles):
            return answer
        return {name: read_as(self.taken.of(name), type_) for name, type_ in answer.items()}

    def known(self, member: ReadGroup) -> dict[str, ColumnType] | None:
        """The types of a group's columns, if they do not depend on values; else None."""
        if member.format != "csv":
            return None
        if expected := self.spec.expected:
            folded = {name.casefold(): type_ for name, type_ in expected.items()}
            return {name: folded[name.casefold()] for name in member.columns}
        if not self.spec.infer_types:
            return {name: self.taken.of(name) or STRING for name in member.columns}
        known = {name: type_ for name in member.columns if (type_ := self.taken.of(name))}
        return known if len(known) == len(member.columns) else None

    def shown(self, member: ReadGroup) -> dict[str, ColumnType] | UnreadableFiles:
        """The types that the values of a group show, whatever its columns were taken for before."""
        # Parquet files alike have one schema
        asked = member.of(member.files[:1]) if member.format == "parquet" else member
        answer = self.reader.infer(
            asked.to_read((Field(name, str(STRING)) for name in member.columns), self.address)
        )
        if isinstance(answer, UnreadableFiles):
            return answer
        names = member.columns or tuple(column.name for column in answer)
        nanos = {name: parse_type(type_) for name, type_ in member.nanos}
        return {
            name: nanos.get(name) or parse_type(column.type)
            for name, column in zip(names, answer, strict=True)
        }

    def forget(self) -> None:
        """Drop what was inferred: the known types have changed."""
        self._known.clear()

    def _of(self, member: ReadGroup) -> tuple[ReadGroup, ...]:
        paths = tuple(file.path for file in member.files)
        if paths not in self._known:
            self._known[paths] = self._infer(member)
        return self._known[paths]

    def _infer(self, member: ReadGroup) -> tuple[ReadGroup, ...]:
        wrong = "" if member.format == "json" else schema_difference(member, self.spec)
        answer = self.types(member) if not wrong else {}
        if isinstance(answer, UnreadableFiles):
            return tuple(
                typed
                for part in self.blame.narrow([member], answer)
                for typed in self.with_types(part)
            )
        typed = replace(member, types=answer)
        wrong = wrong or type_fault(typed, self.spec)
        if not wrong:
            return (typed,)
        if member.format == "json" and len(member.files) > 1:  # perhaps only some of them
            middle = len(member.files) // 2
            return self.with_types(
                [member.of(member.files[:middle]), member.of(member.files[middle:])]
            )
        self.blame.mark_bad(member.files, wrong)
        return ()


def type_fault(typed: ReadGroup, spec: ZoneSpec) -> str:
    """Why files with columns of these types are bad; empty if they are not."""
    return _two_spellings(typed) or _nested(typed) or schema_difference(typed, spec)


def _nested(member: ReadGroup) -> str:
    found = next(
        (
            f"{name} is {type_}"
            for name, type_ in member.types.items()
            if member.format == "csv" and type_.is_nested
        ),
        "",
    )
    return f"the column {found} in this zone, which a CSV file cannot hold" if found else ""


def _two_spellings(member: ReadGroup) -> str:
    twice = duplicate_names(member.types)
    return (
        f"its records have two names that are the same to Spark: {twice[0]} and {twice[1]}"
        if twice
        else ""
    )
