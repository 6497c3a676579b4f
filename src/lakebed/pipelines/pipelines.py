"""The pipelines of a lake: `lake.pipelines`."""

import getpass
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from lakebed.derived.checks import DeclaredLayouts
from lakebed.errors import LakebedError, raise_all
from lakebed.names import TableName
from lakebed.pipelines.definition.spec import declared_layouts
from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage
from lakebed.pipelines.lineage.selected import columns_of_selected, lineage_of_selected
from lakebed.pipelines.loading import LoadedPipelines, load_pipelines
from lakebed.pipelines.options import RunListener, RunOptions
from lakebed.pipelines.preview.preview import Preview
from lakebed.pipelines.preview.selected import (
    CompiledSql,
    GateResults,
    OnGateResults,
    compile_selected,
    preview_one,
    test_selected,
)
from lakebed.pipelines.releases.run import (
    ReleaseResult,
    RestoredDraft,
    delete_draft,
    release_draft,
    restore_draft,
    roll_back,
    save_draft,
)
from lakebed.pipelines.releases.states import (
    PipelineState,
    find_pipeline,
    known_pipelines,
    pipeline_states,
)
from lakebed.pipelines.releases.stored import (
    DRAFT,
    PipelineDiff,
    diff_files,
    find_stored,
    last_stored,
    read_draft,
)
from lakebed.pipelines.running.builds.run_selected import BuildResult, retry_last
from lakebed.pipelines.services import RunServices
from lakebed.pipelines.zone_readers import drafts_and_releases
from lakebed.ports import Draft, Release
from lakebed.requests import (
    CompileKeywords,
    GateKeywords,
    RetryKeywords,
    RunRequest,
    SelectKeywords,
    SqlKeywords,
)
from lakebed.tables.migration.plan import DeclaredPartitions


class Pipelines:
    """The pipelines of one lake: drafts, releases, and what they would do.

    `lake.run` runs them, `lake.plan` plans them.
    """

    def __init__(self, services: RunServices) -> None:
        self.services = services

    def select(
        self, *selectors: str, exclude: Sequence[str] = (), released: bool = False
    ) -> tuple[TableName, ...]:
        """The tables of the selected pipelines, in the order in which they run; all without a
        selector.
        """
        return self.load(released=released).selected(selectors, exclude)

    def load(self, *, released: bool = False) -> LoadedPipelines:
        """All drafts as they are now, or all newest releases.

        Selecting one that cannot be read raises, with its line.
        """
        return load_pipelines(self.services, released=released)

    def keys_of(self, table: TableName) -> tuple[str, ...]:
        """The columns by which a table's pipeline identifies rows; none without a pipeline that can
        be read.
        """
        try:
            spec = self.load().specs.get(table)
        except LakebedError:
            return ()
        return spec.strategy.keys if spec else ()

    def partitions_of(self, table: TableName) -> tuple[DeclaredPartitions, ...]:
        """How a table's draft declares its partitioning, then its newest release if that differs
        from the draft; nothing for those that leave it to the table.
        """
        specs = self.load().specs
        both = (spec for spec in drafts_and_releases(specs, self.services) if spec.table == table)
        return tuple(
            DeclaredPartitions(
                spec.folder + (f", version {spec.version}," if spec.version else ""),
                spec.config.partition_by,
                tuple(key.name for key in spec.batches.keys) if spec.batches else (),
            )
            for spec in both
            if spec.config.arrangement.partition_by is not None
        )

    def layouts(self) -> dict[TableName, DeclaredLayouts]:
        """The layouts that drafts declare for their tables. Raises if one cannot be read."""
        loaded = self.load()
        raise_all(loaded.faults_among())
        return {table: declared_layouts(spec) for table, spec in loaded.specs.items()}

    def retry(
        self, *, listener: RunListener | None = None, **options: Unpack[RetryKeywords]
    ) -> BuildResult:
        """Run again what failed or was skipped in the last build, with the options of that build,
        except for those that are given.
        """
        return retry_last(self.services, options, listener=listener or RunListener())

    # -- without running them

    def compile(
        self, *selectors: str | RunRequest, **options: Unpack[CompileKeywords]
    ) -> tuple[CompiledSql, ...]:
        """The SQL that would run now, over pinned snapshots. Starts no JVM.

        `start` and `end` are the range of a backfill.
        """
        request = RunRequest.of(*selectors, **options)
        return compile_selected(RunOptions(request=request), self.services)

    def preview(self, name: str, *, limit: int = 20, **options: Unpack[SqlKeywords]) -> Preview:
        """The first rows of one pipeline's result, from a zone's `_samples/` where it has some.

        Writes nothing. `start` and `end` are the range of a backfill.
        """
        request = RunRequest(**options)
        return preview_one(name, RunOptions(request=request), self.services, limit=limit)

    def test(
        self,
        *selectors: str | RunRequest,
        on_end: OnGateResults = lambda *_: None,
        **options: Unpack[GateKeywords],
    ) -> tuple[GateResults, ...]:
        """Run the gates on what is published.

        `on_end` gets each pipeline's results, and the number of pipelines.
        """
        request = RunRequest.of(*selectors, **options)
        return test_selected(RunOptions(request=request), self.services, on_end=on_end)

    def lineage(self, *selectors: str | RunRequest, **options: Unpack[SelectKeywords]) -> Lineage:
        """What the selected pipelines read, with the snapshots that their last successful
        runs saw.
        """
        request = RunRequest.of(*selectors, **options)
        return lineage_of_selected(request, self.services)

    def column_lineage(
        self, *selectors: str | RunRequest, **options: Unpack[GateKeywords]
    ) -> tuple[ColumnLineage, ...]:
        """The columns that each column of the selected pipelines comes from."""
        request = RunRequest.of(*selectors, **options)
        return columns_of_selected(request, self.services)

    # -- drafts and releases

    def find(self, name: str) -> TableName:
        """The pipeline with this name, or with a name that ends so; near names are suggested if
        there is none.
        """
        return find_pipeline(name, self.services)

    def known(self) -> tuple[TableName, ...]:
        """All pipelines: drafts, valid or not, releases, and those that can be restored."""
        return known_pipelines(self.services)

    def list(self) -> tuple[PipelineState, ...]:
        """All pipelines, with how their drafts compare with their newest releases."""
        return pipeline_states(self.services)

    def release(
        self, name: str, *, message: str = "", vars: Mapping[str, Any] | None = None
    ) -> ReleaseResult:
        """Check a draft and make it the next version, unless the newest version has the
        same files.
        """
        table = self.find(name)
        contents = read_draft(table, self.services)
        return release_draft(
            table, contents, self.services, who=this_user(), message=message, vars=vars or {}
        )

    def releases(self, name: str) -> tuple[Release, ...]:
        """The versions of a pipeline that are kept, newest first."""
        return self.services.ports.releases.versions(self.find(name))

    def diff(self, name: str, one: str, other: str = DRAFT) -> PipelineDiff:
        """What differs between two of: a version, the start of a saved draft's digest, `draft`."""
        return diff_files(self.find(name), one, other, self.services)

    def rollback(self, name: str, version: int, *, message: str = "") -> ReleaseResult:
        """Make a new version with the files of an earlier one. The draft stays as it is."""
        return roll_back(self.find(name), version, self.services, who=this_user(), message=message)

    def save(self, name: str) -> tuple[Draft, bool]:
        """Save the draft; the second value says whether its content is new."""
        table = self.find(name)
        return save_draft(table, read_draft(table, self.services), self.services)

    def drafts(self, name: str) -> tuple[Draft, ...]:
        """The saved drafts of a pipeline, newest first."""
        return self.services.ports.releases.drafts(self.find(name))

    def restore(self, name: str, state: str | None = None) -> tuple[str, RestoredDraft]:
        """Make a version or a saved draft the draft again, and say which.

        Without one, what a draft that is gone was last.
        """
        table = self.find(name)
        stored = (
            last_stored(table, self.services)
            if state is None
            else find_stored(table, state, self.services)
        )
        return stored.name, restore_draft(table, stored.files, self.services)

    def delete(self, name: str) -> PipelineState:
        """Remove a pipeline from the lake.

        Its draft is saved, its releases are kept for a while, its table stays.
        """
        table = self.find(name)
        delete_draft(table, self.services)
        return next(state for state in self.list() if state.table == table)


def this_user() -> str:
    """Who releases: `user@host`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        user = f"uid {os.getuid()}"
    return f"{user}@{socket.gethostname()}"
