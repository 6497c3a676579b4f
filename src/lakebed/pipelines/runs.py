"""The runs of a lake: `lake.runs`."""

from collections.abc import Sequence

from lakebed.errors import UnknownName, UsageError
from lakebed.names import short_id
from lakebed.pipelines.running.heal import read_log
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord, RunState
from lakebed.tables.lookup.names import find_by_name

_ALL = 10_000


class Runs:
    """The records of runs, and their logs."""

    def __init__(self, services: RunServices) -> None:
        self._services = services

    def list(
        self, *, table: str | None = None, state: RunState | None = None, limit: int = 50
    ) -> tuple[RunRecord, ...]:
        """The newest runs first; of one table if given, which need not exist any more."""
        records = self._services.ports.records
        if table is None:
            return records.runs(state=state, limit=limit)
        known = {record.table for record in self._all()}
        return records.runs(table=find_by_name(table, known), state=state, limit=limit)

    def show(self, run: str) -> RunRecord:
        """The run whose id starts with this text; `last` is the first that failed in the newest
        build, or its newest if none has.
        """
        runs = self._all()
        if run == "last":
            return _last(runs)
        found = [record for record in runs if record.run_id.startswith(run)]
        if len(found) > 1:
            raise UsageError(
                f"{run!r} is ambiguous: {len(found)} runs start with it.",
                next="Give more of the id.",
            )
        if not found:
            raise UnknownName("run", run, [short_id(record.run_id) for record in runs])
        return found[0]

    def log(self, run_id: str) -> str:
        """What a run logged."""
        return read_log(run_id, self._services)

    def _all(self) -> tuple[RunRecord, ...]:
        runs = self._services.ports.records.runs(limit=_ALL)
        if not runs:
            raise UsageError("nothing has run yet.", next="Run something: lakebed run")
        return runs


def _last(runs: Sequence[RunRecord]) -> RunRecord:
    """The newest run, or the first failure of its build: those skipped for it say little."""
    newest = runs[0]
    failed = [run for run in runs if (run.invocation, run.state) == (newest.invocation, "failed")]
    return failed[-1] if failed else newest
