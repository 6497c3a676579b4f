"""What queries asked of each table, as the query log tells it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

# how a column is compared: with single values, with the beginning of texts, with bounds
Comparing = Literal["point", "prefix", "range"]
_COMPARING: dict[str, Comparing] = {
    "=": "point",
    "in": "point",
    "is null": "point",
    "starts with": "prefix",
    "<": "range",
    "<=": "range",
    ">": "range",
    ">=": "range",
    "between": "range",
}
_NARROWEST: tuple[Comparing, ...] = ("point", "prefix", "range")
_LEAST_READS, _LEAST_DAYS = 10, 2  # of a table, from which advice can be drawn
Conditions: TypeAlias = tuple[tuple[str, Comparing], ...]


@dataclass(frozen=True)
class LoggedRead:
    """One table of one query. `columns` are those that the query names; None: all."""

    table: str
    conditions: tuple[tuple[str, str], ...] | None = ()  # columns and operators; None: not told
    layout: str = ""  # that was read, wholly or in part
    columns: frozenset[str] | None = None


@dataclass(frozen=True)
class LoggedQuery:
    """One query of the log, as far as layouts are concerned."""

    at: datetime
    engine: str = "duckdb"
    reads: tuple[LoggedRead, ...] = ()
    ok: bool = True


@dataclass(frozen=True)
class ReadPattern:
    """What many reads of a table have in common: columns, each with the way it is compared, and
    the columns that are needed; None: all.
    """

    conditions: Conditions
    columns: frozenset[str] | None = None


@dataclass(frozen=True)
class TableWorkload:
    """The reads of one table."""

    patterns: Mapping[ReadPattern, int]  # how many reads are alike
    uses: Mapping[str, Mapping[ReadPattern, int]]  # of these, those that read a layout, by its name
    days: int = 0  # on which it was read (UTC)

    @property
    def reads(self) -> int:
        return sum(self.patterns.values())

    @property
    def is_thin(self) -> bool:
        """Whether it tells too little of what will be read: one query, or one day."""
        return self.reads < _LEAST_READS or self.days < _LEAST_DAYS


@dataclass(frozen=True)
class LogCoverage:
    """What of the log could be seen."""

    since: datetime | None = None
    until: datetime | None = None
    queries: int = 0
    spark: int = 0  # of these, by Spark
    failed: int = 0  # which count for nothing
    without_tables: int = 0  # that read no table of the lake
    reads: int = 0  # tables that queries read, one for each time
    untold: int = 0  # of these, those whose conditions the log does not tell: its older lines
    without_conditions: int = 0  # and those with no condition that could leave out files


def workloads(queries: Iterable[LoggedQuery]) -> tuple[dict[str, TableWorkload], LogCoverage]:
    """The reads of each table, and what of the log was seen."""
    times: list[datetime] = []
    patterns: dict[str, Counter[ReadPattern]] = {}
    uses: dict[str, dict[str, Counter[ReadPattern]]] = {}
    days: dict[str, set[date]] = {}
    seen: Counter[str] = Counter()
    for query in queries:
        times.append(query.at)
        seen["spark"] += query.engine == "spark"
        seen["failed"] += not query.ok
        seen["without_tables"] += query.ok and not query.reads
        for read in query.reads if query.ok else ():
            seen["reads"] += 1
            seen["untold"] += read.conditions is None
            if read.conditions is None:
                continue
            pattern = pattern_of(read)
            seen["without_conditions"] += not pattern.conditions
            patterns.setdefault(read.table, Counter())[pattern] += 1
            days.setdefault(read.table, set()).add(query.at.date())
            if read.layout:
                used = uses.setdefault(read.table, {}).setdefault(read.layout, Counter())
                used[pattern] += 1
    coverage = LogCoverage(min(times, default=None), max(times, default=None), len(times), **seen)
    found = {
        name: TableWorkload(one, uses.get(name, {}), len(days[name]))
        for name, one in patterns.items()
    }
    return found, coverage


def pattern_of(read: LoggedRead) -> ReadPattern:
    """The pattern of one read; of several comparisons of a column the narrowest counts."""
    narrowest: dict[str, Comparing] = {}
    for column, op in read.conditions or ():
        comparing = _COMPARING.get(op.casefold())
        if comparing:
            name = column.casefold()
            narrowest[name] = min(narrowest.get(name, comparing), comparing, key=_NARROWEST.index)
    return ReadPattern(tuple(sorted(narrowest.items())), read.columns)
