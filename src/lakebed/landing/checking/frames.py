"""The rows of checked landing files as a frame: of all of them, or of some."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lakebed.landing.checking.bad_files import restrict
from lakebed.landing.checking.outcome import CheckedFiles
from lakebed.landing.checking.propose import Proposal
from lakebed.landing.checking.read_groups import Address, ReadGroup, columns_to_read
from lakebed.landing.spec import ZoneSpec
from lakebed.ports import (
    Field,
    FileGroup,
    FileInfo,
    Frame,
    LandingReader,
    ObservedRows,
    UnreadableFiles,
)
from lakebed.types import ColumnType


def frame_of(
    reader: LandingReader,
    checked: CheckedFiles,
    spec: ZoneSpec,
    address: Address,
    *,
    path_column: str = "",
) -> Frame | None:
    """All groups under the same columns; without a good file, the expected columns and no row."""
    if not checked.groups and not spec.expected:
        return None
    return _read(reader, checked.groups, checked.target, address, path_column)


def observed_frame(
    reader: LandingReader, proposal: Proposal, address: Address, *, path_column: str = ""
) -> ObservedRows:
    """The rows of files that are checked by the job that reads them."""
    asked = _asked(proposal.groups, proposal.target, address)
    return reader.read_observed(*asked, path_column=path_column)


def frame_of_some(
    reader: LandingReader,
    checked: CheckedFiles,
    files: Collection[FileInfo],
    spec: ZoneSpec,
    address: Address,
    *,
    all_columns: bool,
) -> Frame | None:
    """Some of the files, with the types of all of them; with their own columns only, or with all
    columns.

    None if none of them is good.
    """
    groups = restrict(checked.groups, [file for file in files if file.path in checked.rows])
    target = checked.target
    if not (all_columns or spec.expected):
        own = {name.casefold() for member in groups for name in _names(reader, member, address)}
        own |= checked.json_columns if any(member.format == "json" for member in groups) else set()
        target = {name: type_ for name, type_ in target.items() if name.casefold() in own}
    return _read(reader, groups, target, address) if groups else None


def _names(reader: LandingReader, member: ReadGroup, address: Address) -> Iterator[str]:
    """The columns of some of a group's files: JSON records have no others than those that occur."""
    answer = reader.infer(member.to_read((), address)) if member.format == "json" else ()
    found = () if isinstance(answer, UnreadableFiles) else tuple(column.name for column in answer)
    yield from found or member.columns or member.types


def _read(
    reader: LandingReader,
    groups: Sequence[ReadGroup],
    target: Mapping[str, ColumnType],
    address: Address,
    path_column: str = "",
) -> Frame:
    return reader.read(*_asked(groups, target, address), path_column=path_column)


def _asked(
    groups: Sequence[ReadGroup], target: Mapping[str, ColumnType], address: Address
) -> tuple[list[FileGroup], list[Field]]:
    return (
        [member.to_read(columns_to_read(member, target), address) for member in groups],
        [Field(name, str(type_)) for name, type_ in target.items()],
    )
