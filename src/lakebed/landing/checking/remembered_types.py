"""Types of a zone's columns that earlier runs recorded, and those that this run uses."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lakebed.landing.spec import ZoneSpec
from lakebed.types import STRING, ColumnType, join_types, with_parts

# from the recorded type to one that would hold the new values too
MayWiden = Callable[[ColumnType, ColumnType], bool]
OtherReader = Callable[
    [str, ColumnType, ColumnType], str
]  # column, recorded and wider type → another table that may read such a file, or empty


@dataclass(frozen=True)
class RememberedTypes:
    """Types that earlier runs recorded for a zone's columns, by name; `may_widen` says whether one
    may change.

    Without `may_widen` none may: a file with a value that does not fit is bad. `json_columns` are
    columns that rows of JSON files always have, although keys may be absent from their records.
    `keys` are casefolded names of columns in which two spellings of one number are refused.
    """

    types: Mapping[str, ColumnType] = field(default_factory=dict)
    may_widen: MayWiden | None = None
    other_reader: OtherReader | None = None
    json_columns: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


NOTHING_REMEMBERED = RememberedTypes()


class ColumnTypes:
    """The type of each column while files are checked. A type set in zone.yaml is final."""

    def __init__(self, remembered: RememberedTypes, spec: ZoneSpec) -> None:
        declared = spec.declared_types
        self.names = {name.casefold(): name for name in (*remembered.types, *declared)}
        self.said = {name.casefold() for name in declared}
        first = remembered.types if spec.infer_types and not spec.expected else {}
        self._first = {
            name.casefold(): type_ for name, type_ in (*first.items(), *declared.items())
        }
        # with a timestamp_format, plain dates cannot be read as timestamps
        self._dates_are_times = spec.timestamp_format is None
        self.types = dict(self._first)
        self.remembered = remembered

    def of(self, name: str) -> ColumnType | None:
        return self.types.get(name.casefold())

    def is_remembered(self, name: str) -> bool:
        """Whether a column has the type that earlier runs gave it."""
        folded = name.casefold()
        return folded not in self.said and self.types.get(folded) == self._first.get(folded, "")

    @property
    def json_columns(self) -> dict[str, ColumnType]:
        """Columns that JSON records may lack, by name."""
        wanted = self.remembered.json_columns
        return {
            self.names[folded]: type_ for folded, type_ in self.types.items() if folded in wanted
        }

    @property
    def widened(self) -> frozenset[str]:
        """Casefolded names of the columns whose type was widened."""
        return frozenset(name for name, type_ in self._first.items() if self.types[name] != type_)

    def unfit(self, shown: Mapping[str, ColumnType]) -> dict[str, tuple[ColumnType, ColumnType]]:
        """Columns whose values do not fit: their type, and the type that would hold all values."""
        found = {
            name: (known, self._joined(known, own))
            for name, own in shown.items()
            if (known := self.of(name))
        }
        return {name: (known, wider) for name, (known, wider) in found.items() if wider != known}

    def widen(self, shown: Mapping[str, ColumnType]) -> bool:
        """Widen columns as far as allowed; whether any was widened."""
        follows = self.remembered.may_widen
        wider = {
            name.casefold(): wider
            for name, (known, wider) in self.unfit(shown).items()
            if follows and name.casefold() not in self.said and follows(known, wider)
        }
        self.types = self.types | wider
        return bool(wider)

    def read_as_text(self, names: Iterable[str]) -> None:
        """Columns for whose values there is no other type."""
        for name in names:
            self.names.setdefault(name.casefold(), name)
            self.types = self.types | {name.casefold(): STRING}

    def reset(self) -> None:
        self.types = dict(self._first)

    def other_reader(self, shown: Mapping[str, ColumnType]) -> str:
        """Another table that may read a file with such columns; empty if there is none."""
        ask = self.remembered.other_reader
        found = (
            (ask(name, known, wider) for name, (known, wider) in self.unfit(shown).items())
            if ask
            else ()
        )
        return next(filter(None, found), "")

    def _joined(self, known: ColumnType, own: ColumnType) -> ColumnType:
        if own.is_nested or known.is_nested:
            return known if known.name in {own.name, "string"} else join_types(known, own)
        return join_types(known, own, dates_are_times=self._dates_are_times)


def read_as(known: ColumnType | None, shown: ColumnType) -> ColumnType:
    """The type to read a text column with: the known one, plus new fields of structs."""
    if known is None:
        return shown
    if known.name != shown.name or not known.is_nested:
        return known
    there = dict(shown.parts)
    parts = {
        name: read_as(part, there[name]) if name in there else part for name, part in known.parts
    }
    added = {name: part for name, part in shown.parts if name not in parts}
    return with_parts(known, tuple((parts | added).items()))
