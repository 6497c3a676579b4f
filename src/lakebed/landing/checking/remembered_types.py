"""What a zone's columns were taken for before, and what they are taken for now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakebed.landing.spec import ZoneSpec
from lakebed.types import ColumnType, join_types, with_parts

MayWiden = Callable[[ColumnType, ColumnType], bool]  # from what a column was taken for, to what would hold its values too
OtherReader = Callable[
    [str, ColumnType, ColumnType], str
]  # a column and both: which other table may take such a file; empty: none


@dataclass(frozen=True)
class RememberedTypes:
    """What earlier runs took a zone's columns for, by name; `follows` says whether a column may be taken for more.

    Without a word on it, none may: a file with a value that does not fit is bad. `also` are columns that the rows of JSON
    files have even if no record does, for their keys may be absent.
    """

    types: Mapping[str, ColumnType] = field(default_factory=dict)
    may_widen: MayWiden | None = None
    other_reader: OtherReader | None = None
    json_columns: frozenset[str] = frozenset()


NOTHING_REMEMBERED = RememberedTypes()


class ColumnTypes:
    """What each column is taken for while files are looked at. What zone.yaml says of a column is final."""

    def __init__(self, remembered: RememberedTypes, spec: ZoneSpec) -> None:
        declared = spec.declared_types
        self.names = {name.casefold(): name for name in (*remembered.types, *declared)}
        self.said = {name.casefold() for name in declared}
        first = remembered.types if spec.infer_types and not spec.expected else {}
        self._first = {name.casefold(): type_ for name, type_ in (*first.items(), *declared.items())}
        self._dates_are_times = spec.timestamp_format is None  # with a format of its own a time column reads no plain dates
        self.types = dict(self._first)
        self.remembered = remembered

    def of(self, name: str) -> ColumnType | None:
        return self.types.get(name.casefold())

    @property
    def json_columns(self) -> dict[str, ColumnType]:
        """Columns that JSON records may lack, by name."""
        wanted = self.remembered.json_columns
        return {self.names[folded]: type_ for folded, type_ in self.types.items() if folded in wanted}

    @property
    def widened(self) -> frozenset[str]:
        """The columns, by casefolded names, that are taken for more than before."""
        return frozenset(name for name, type_ in self.types.items() if type_ != self._first[name])

    def unfit(self, shown: Mapping[str, ColumnType]) -> dict[str, tuple[ColumnType, ColumnType]]:
        """Columns whose values do not fit by their type: what they are taken for, and the type that would hold both."""
        found = {name: (known, self._joined(known, own)) for name, own in shown.items() if (known := self.of(name))}
        return {name: (known, wider) for name, (known, wider) in found.items() if wider != known}

    def widen(self, shown: Mapping[str, ColumnType]) -> bool:
        """Take columns for as much more as is allowed; whether any was."""
        follows = self.remembered.may_widen
        wider = {
            name.casefold(): wider
            for name, (known, wider) in self.unfit(shown).items()
            if follows and name.casefold() not in self.said and follows(known, wider)
        }
        self.types = self.types | wider
        return bool(wider)

    def reset(self) -> None:
        self.types = dict(self._first)

    def other_reader(self, shown: Mapping[str, ColumnType]) -> str:
        """Another table that may take a file with such columns; empty: none."""
        ask = self.remembered.other_reader
        found = (ask(name, known, wider) for name, (known, wider) in self.unfit(shown).items()) if ask else ()
        return next(filter(None, found), "")

    def _joined(self, known: ColumnType, own: ColumnType) -> ColumnType:
        if own.is_nested or known.is_nested:
            return known if known.name in {own.name, "string"} else join_types(known, own)
        return join_types(known, own, dates_are_times=self._dates_are_times)


def read_as(known: ColumnType | None, shown: ColumnType) -> ColumnType:
    """What values of a text file are read as: what the column was taken for, with the fields of structs that are new."""
    if known is None:
        return shown
    if known.name != shown.name or not known.is_nested:
        return known
    there = dict(shown.parts)
    parts = {name: read_as(part, there[name]) if name in there else part for name, part in known.parts}
    added = {name: part for name, part in shown.parts if name not in parts}
    return with_parts(known, tuple((parts | added).items()))
