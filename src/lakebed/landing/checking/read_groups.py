"""Groups of files that are read the same way, and the columns that all their rows get. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lakebed.errors import BadFiles
from lakebed.landing.checking.remembered_types import ColumnTypes, read_as
from lakebed.landing.formats.file_format import Options
from lakebed.landing.formats.sniffed import SniffedFile
from lakebed.landing.spec import Format, ZoneSpec
from lakebed.ports import Field, FileGroup, FileInfo
from lakebed.types import STRING, ColumnType, extends, holds, join_types, kept_as

Address = Callable[[str], str]


@dataclass(frozen=True)
class ReadGroup:
    """Files of one format, with the same columns in the same order, read with the same options."""

    format: Format
    options: Options
    files: tuple[FileInfo, ...]
    columns: tuple[str, ...] = ()  # empty for JSON until its keys are inferred
    nanos: tuple[tuple[str, str], ...] = ()
    # once inferred, by the name in the files
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    nulls: tuple[str, ...] = ()

    def of(self, files: Iterable[FileInfo]) -> "ReadGroup":
        """The group with only these files."""
        return replace(self, files=tuple(files))

    @property
    def multiline(self) -> bool:
        return ("multiLine", "true") in self.options

    def spelling(self) -> dict[str, str]:
        """The spelling of each column in the files, by casefolded name."""
        return {name.casefold(): name for name in self.types}

    def to_read(self, columns: Iterable[Field], address: Address) -> FileGroup:
        """What the engine is asked to read."""
        return FileGroup(
            format=self.format,
            paths=tuple(address(file.path) for file in self.files),
            options=dict(self.options),
            columns=tuple(columns),
            nulls=self.nulls,
            bytes=sum(file.size for file in self.files),
        )


def group_files(sniffed: Iterable[SniffedFile]) -> tuple[ReadGroup, ...]:
    """Group files by format, options and columns, in order of first appearance."""
    groups: dict[object, list[SniffedFile]] = {}
    for one in sniffed:
        groups.setdefault((one.format, one.options, one.columns, one.parquet_schema), []).append(
            one
        )
    return tuple(
        ReadGroup(
            ones[0].format,
            ones[0].options,
            tuple(one.file for one in ones),
            ones[0].columns,
            ones[0].nanos,
            nulls=ones[0].nulls,
        )
        for ones in groups.values()
    )


def target_types(
    groups: Iterable[ReadGroup],
    spec: ZoneSpec,
    *,
    empty: Collection[tuple[str, str]] = (),
    taken: ColumnTypes | None = None,
) -> dict[str, ColumnType]:
    """The columns that all rows get: the expected ones, else those of all groups with the widest
    type of each.

    `empty` are columns without a value, each with the first path of its group: they do not affect
    types. Columns with a known type in `taken` keep it. `BadFiles` if columns of Parquet files
    cannot be reconciled.
    """
    if expected := spec.expected:
        return expected
    found: dict[str, tuple[str, ColumnType | None]] = {}
    # last: its columns have no order
    members = sorted(groups, key=lambda member: member.format == "json")
    for member in members:
        for name, own in member.types.items():
            spelt, so_far = found.get(name.casefold(), (name, None))
            known = taken.of(name) if taken else None
            vote = None if (member.files[0].path, name) in empty else kept_as(own)
            vote = (
                vote
                if known is None or _brings_its_own(member, known, own)
                else read_as(known, own)
            )
            found[name.casefold()] = (spelt, _joined(so_far, vote, spec))
    if taken and any(member.format == "json" for member in members):
        found |= {
            name.casefold(): (name, type_)
            for name, type_ in taken.json_columns.items()
            if name.casefold() not in found
        }
    target = {spelt: type_ or STRING for spelt, type_ in found.values()}
    for member in members:
        _require_reconcilable(member, target, spec)
    return target


def _brings_its_own(member: ReadGroup, known: ColumnType, own: ColumnType) -> bool:
    """Whether a Parquet column keeps its own type, since its values would not fit the known one:
    the table decides.
    """
    return member.format == "parquet" and (
        own.is_nested or not (known == STRING or holds(known, kept_as(own)))
    )


def _joined(one: ColumnType | None, other: ColumnType | None, spec: ZoneSpec) -> ColumnType | None:
    if one is None or other is None:
        return one or other
    # With a timestamp_format, plain dates cannot be read as timestamps.
    return join_types(one, other, dates_are_times=spec.timestamp_format is None)


def _require_reconcilable(
    member: ReadGroup, target: Mapping[str, ColumnType], spec: ZoneSpec
) -> None:
    for name, own in member.types.items():
        wanted = next(
            type_ for spelt, type_ in target.items() if spelt.casefold() == name.casefold()
        )
        if (
            member.format == "parquet"
            and (own.is_nested or wanted.is_nested)
            and not extends(wanted, own)
        ):
            raise BadFiles(
                f"the column {name} is {own} in {member.files[0].path} and something else in other"
                f" files ({wanted} in common).",
                where=member.files[0].path,
                next=f"Keep the files apart, or {spec.how_to_type(name, str(wanted))}.",
            )


def columns_to_read(member: ReadGroup, target: Mapping[str, ColumnType]) -> tuple[Field, ...]:
    """The columns and types to read with, in the order of the files.

    Text is read directly into the target's types. A Parquet file is read with its own types and
    cast afterwards; only structs are read with the target's fields, some of which they may lack.
    """
    wanted = {name.casefold(): type_ for name, type_ in target.items()}
    if member.format == "csv":
        return tuple(Field(name, str(wanted[name.casefold()])) for name in member.columns)
    if member.format == "json":
        spelling = member.spelling()
        return tuple(
            Field(spelling.get(name.casefold(), name), str(type_)) for name, type_ in target.items()
        )
    return tuple(
        Field(name, str(wanted[name.casefold()] if own.is_nested else own))
        for name, own in member.types.items()
        if name.casefold() in wanted
    )


def schema_difference(member: ReadGroup, spec: ZoneSpec) -> str:
    """How the columns of a group differ from the expected ones; empty if they do not, or if nothing
    is expected.

    Keys may be absent from single JSON records; `check` reports files that lack one altogether.
    """
    expected = {name.casefold(): (name, type_) for name, type_ in (spec.expected or {}).items()}
    if not expected:
        return ""
    names = {name.casefold(): name for name in member.columns or member.types}
    lacking = (
        []
        if member.format == "json"
        else [name for folded, (name, _) in expected.items() if folded not in names]
    )
    extra = [name for folded, name in names.items() if folded not in expected]
    if lacking or extra:
        parts = (
            _listed("it lacks the column", lacking),
            _listed("it has the unexpected column", extra),
        )
        return ", and ".join(part for part in parts if part)
    return _wrong_type(member, expected)


def _wrong_type(member: ReadGroup, expected: Mapping[str, tuple[str, ColumnType]]) -> str:
    for name, (spelt, wanted) in expected.items():
        own = {here.casefold(): type_ for here, type_ in member.types.items()}.get(name)
        if member.format == "parquet" and own and not holds(wanted, kept_as(own)):
            return f"its column {spelt} is {own}, and {wanted} is expected"
        if member.format == "csv" and wanted.is_nested:
            return f"the column {spelt} is expected as {wanted}, which a CSV file cannot hold"
    return ""


def _listed(head: str, names: list[str]) -> str:
    return f"{head}{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""
