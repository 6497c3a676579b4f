"""What checking the files of a zone resulted in. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lakebed.landing.checking.read_groups import ReadGroup
from lakebed.landing.checking.remembered_types import ColumnTypes
from lakebed.landing.formats.sniffed import BadFile
from lakebed.types import ColumnType, kept_as


@dataclass(frozen=True)
class CheckedFiles:
    """The outcome of checking all rows of the files."""

    groups: tuple[ReadGroup, ...]  # good files only
    target: Mapping[str, ColumnType]  # the columns that all rows get
    rows: Mapping[str, int]  # of each good file
    bad: tuple[BadFile, ...]
    # types of the target known from values or earlier runs
    learned: Mapping[str, ColumnType] = field(default_factory=dict)
    widened: frozenset[str] = frozenset()  # casefolded names of columns whose type was widened
    # casefolded names of columns that all JSON records have, if only as NULL
    json_columns: frozenset[str] = frozenset()
    # texts from which the remembered type of a column would not be inferred, such as 007
    odd: Mapping[str, int] = field(default_factory=dict)


def plain_types(types: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
    """The types under which a table keeps columns that are not nested."""
    return {name: kept_as(type_) for name, type_ in types.items() if not type_.is_nested}


def learned_types(
    groups: Iterable[ReadGroup],
    target: Mapping[str, ColumnType],
    empty: Collection[tuple[str, str]],
    taken: ColumnTypes,
) -> dict[str, ColumnType]:
    """The columns whose types are known from values; types set in zone.yaml are not learned."""
    shown = {
        name.casefold()
        for member in groups
        for name in member.types
        if (member.files[0].path, name) not in empty
    }
    return {
        name: type_
        for name, type_ in target.items()
        if name.casefold() not in taken.said and (name.casefold() in shown or taken.of(name))
    }
