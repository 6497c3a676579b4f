"""One scan for several gates: those that only filter the same rows are counted together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from lakebed.errors import LakebedError
from lakebed.ports import Compute
from lakebed.quality.unique_integers import finds_no_repeated_value
from lakebed.sql import FilteringQuery, read_filtering

Counts = Mapping[str, int]


@dataclass(frozen=True)
class SharedScan:
    """A query of one row: for each gate, how many rows are bad."""

    gates: tuple[str, ...]
    query: str


def share_scans(queries: Mapping[str, str]) -> tuple[SharedScan, ...]:
    """The scans that answer two or more of these gates, given by name and query. Pure."""
    sources: dict[str, dict[str, FilteringQuery]] = {}
    for gate, query in queries.items():
        if rows := read_filtering(query):
            sources.setdefault(rows.source, {})[gate] = rows
    return tuple(_scan(source, found) for source, found in sources.items() if len(found) > 1)


def _scan(source: str, filters: Mapping[str, FilteringQuery]) -> SharedScan:
    """Files without a bad row are skipped, as they are for a gate that is asked alone: the WHERE
    lets Iceberg see what is looked for.
    """
    conditions = [f"(\n{rows.condition}\n)" for rows in filters.values()]
    counts = ", ".join(f"count_if{one} AS gate_{place}" for place, one in enumerate(conditions))
    where = " OR ".join(conditions)
    return SharedScan(tuple(filters), f"SELECT {counts}\nFROM {source}\nWHERE {where}")


@dataclass
class _Answer:
    """What a scan found; the first gate that asks runs it, and the others wait."""

    scan: SharedScan
    lock: Lock = field(default_factory=Lock)
    counts: Counts | None = None

    def require(self, compute: Compute) -> Counts:
        with self.lock:
            if self.counts is None:
                self.counts = _counted(self.scan, compute)
            return self.counts


def _counted(scan: SharedScan, compute: Compute) -> Counts:
    """Empty if it fails: then each gate is asked alone, and tells its own error."""
    try:
        (found,) = compute.rows(scan.query, limit=1)
    except LakebedError:
        return {}
    return {gate: int(found[f"gate_{number}"]) for number, gate in enumerate(scan.gates)}


class GateQueries:
    """The queries of a run's gates, compiled once; those that share a scan are counted once."""

    def __init__(self, compile: Callable[[], Mapping[str, str]]) -> None:
        self._compile = compile
        self._lock = Lock()
        self._queries: Mapping[str, str] | None = None
        self._answers: dict[str, _Answer] = {}

    def query(self, gate: str) -> str:
        """The gate's own query."""
        return self._compiled()[gate]

    def bad_rows(self, gate: str, *, compute: Compute) -> int | None:
        """How many rows are bad; None if the gate must be asked alone."""
        query = self.query(gate)
        if answer := self._answers.get(gate):
            return answer.require(compute).get(gate)
        return 0 if finds_no_repeated_value(query, compute=compute) else None

    def _compiled(self) -> Mapping[str, str]:
        with self._lock:
            if self._queries is None:
                queries = self._compile()
                answers = [_Answer(scan) for scan in share_scans(queries)]
                self._answers = {name: one for one in answers for name in one.scan.gates}
                self._queries = queries
            return self._queries
