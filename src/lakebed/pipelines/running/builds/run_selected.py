"""`lakebed run` and `lakebed retry`: from the options to the records of all runs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from lakebed import errors
from lakebed.errors import RunFailed, UsageError, raise_all
from lakebed.names import TableName
from lakebed.pipelines.fitting_options import require_fitting_options
from lakebed.pipelines.lineage.artifact_files import read_request, write_artifacts
from lakebed.pipelines.loading import LoadedPipelines, load_pipelines, require_available_inputs
from lakebed.pipelines.options import RunListener, RunOptions
from lakebed.pipelines.planning.pin_inputs import require_known_refs
from lakebed.pipelines.releases import save_drafts
from lakebed.pipelines.running.builds.build import run_each, run_together
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.manual import BY_HAND
from lakebed.pipelines.services import RunServices
from lakebed.ports import RunRecord
from lakebed.requests import RetryKeywords
from lakebed.tables import settle_publications
from lakebed.work import retry

_ALL = 10_000


@dataclass(frozen=True)
class BuildResult:
    """The record of every run of a build, in the order of the graph."""

    invocation: str
    records: tuple[RunRecord, ...]
    left_out: tuple[TableName, ...] = ()  # not run because they were never released

    @property
    def ok(self) -> bool:
        return all(record.state == "success" for record in self.records)

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0, or that of the worst error."""
        if self.ok:
            return 0
        names = [record.error.get("kind", "") for record in self.records if record.error]
        kinds = [getattr(errors, name, RunFailed) for name in names]
        return max((kind.exit_code for kind in kinds), default=RunFailed.exit_code)


def run_selected(options: RunOptions, services: RunServices) -> BuildResult:
    """Run the selected pipelines. Each table is published as its gates pass, or all `together`."""
    request = options.request
    loaded, tables = retry(lambda: _load(options, services), attempts=3, pause=float)
    options.listener.on_select(tables)
    build = Build(loaded.specs, services, options)
    began = time.monotonic()
    records = run_together(build, tables) if request.together else run_each(build, tables)
    write_artifacts(services, loaded.specs, records, options, elapsed=time.monotonic() - began)
    return BuildResult(
        options.invocation, records, loaded.left_out(request.select, request.exclude)
    )


def _load(
    options: RunOptions, services: RunServices
) -> tuple[LoadedPipelines, tuple[TableName, ...]]:
    """Load the selected pipelines, check that they can run, and save their drafts."""
    request = options.request
    loaded = load_pipelines(services, released=request.released)
    tables = loaded.selected(request.select, request.exclude)
    services.placement.require_relocated(*tables)
    if request.together:
        loaded = loaded.judging_later()
    else:
        raise_all(loaded.cycles_of(tables))
    require_available_inputs(tables, loaded, services)
    require_known_refs(tables, loaded.specs, services)
    require_fitting_options([loaded.specs[table] for table in tables], request)
    save_drafts(
        {table: loaded.contents[table] for table in tables if table in loaded.contents}, services
    )
    return loaded, tables


def retry_last(
    services: RunServices, options: RetryKeywords, *, listener: RunListener
) -> BuildResult:
    """Run again what failed or was skipped in the last build, with the options of that build,
    except for those that are given. If everything has succeeded, nothing is run.
    """
    # a run that a crash left half published may have succeeded
    settle_publications(services.ports.catalog)
    last = _last_of_a_build(services)
    if last is None:
        raise UsageError(
            "nothing has run yet, so there is nothing to retry.", next="Run something: lakebed run"
        )
    tables = _unsuccessful(services.ports.records.runs(invocation=last.invocation, limit=_ALL))
    if not tables:
        return BuildResult(last.invocation, ())
    before = read_request(services.ports.files, last.invocation)
    request = before.replace(
        select=tuple(map(str, tables)),
        exclude=(),
        released=last.version is not None,
        **{name: value for name, value in options.items() if value is not None},
    )
    return run_selected(RunOptions(request=request, listener=listener), services)


def _unsuccessful(runs: Sequence[RunRecord]) -> list[TableName]:
    """The tables that have no successful run. A run whose process died is still recorded as
    running.
    """
    succeeded = {record.table for record in runs if record.state == "success"}
    return sorted({record.table for record in runs} - succeeded)


def _last_of_a_build(services: RunServices) -> RunRecord | None:
    """The newest record of a pipeline's run. Manual changes are not builds."""
    for limit in (20, _ALL):
        for record in services.ports.records.runs(limit=limit):
            if record.strategy != BY_HAND:
                return record
    return None
