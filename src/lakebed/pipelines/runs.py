"""The runs of a lake: `lake.runs`."""

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
        """The run whose id starts with this text; `last` is the newest."""
        runs = self._all()
        found = (
            list(runs[:1])
            if run == "last"
            else [record for record in runs if record.run_id.startswith(run)]
        )
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
