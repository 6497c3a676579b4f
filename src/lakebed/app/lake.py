"""The lake as users see it: frequent verbs, and a noun for each kind of thing.

What `lakebed.open()` returns.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from lakebed.app.spark.ahead import with_spark_ahead
from lakebed.app.upkeep import LakeUpkeep
from lakebed.names import TableName
from lakebed.requests import QueryRequest, RunRequest
from lakebed.tables import Followers, Tables

if TYPE_CHECKING:
    from lakebed.app.layouts import LakeLayouts
    from lakebed.app.spark.workers import Workers
    from lakebed.kartothek.lake_noun import LakeDatasets
    from lakebed.landing import Zones
    from lakebed.pipelines import BuildResult, Pipelines, RunListener, RunPlan, Runs
    from lakebed.ports import RunRecord
    from lakebed.query.cancellation import Cancellation
    from lakebed.query.lazy.table import LazyTable
    from lakebed.query.planning.explain import TableExplanation
    from lakebed.query.results.result import QueryResult
    from lakebed.requests import ExplainKeywords, PlanKeywords, QueryKeywords, RunKeywords
    from lakebed.tables.adopting.look import Adoption


class Lake(LakeUpkeep):
    """An open lake."""

    # -- nouns

    @cached_property
    def tables(self) -> Tables:
        """The lake's tables: to be found, described, compared and changed as a whole."""
        return Tables(self._table_services)

    @cached_property
    def pipelines(self) -> "Pipelines":
        """The lake's pipelines: their drafts and releases, and what they would do."""
        from lakebed.pipelines import Pipelines

        return Pipelines(self._run_services)

    @cached_property
    def layouts(self) -> "LakeLayouts":
        """Further arrangements of the lake's tables, which queries use by themselves."""
        from lakebed.app.layouts import LakeLayouts

        return LakeLayouts(self._layout_services(), lambda: self.queries)

    @cached_property
    def zones(self) -> "Zones":
        """The lake's landing zones and their files."""
        from lakebed.landing import Zones
        from lakebed.pipelines.zone_readers import zone_readers

        services = self._run_services
        return Zones(self.stores.files, self.stores.records, readers=lambda: zone_readers(services))

    @cached_property
    def runs(self) -> "Runs":
        """What ran."""
        from lakebed.pipelines import Runs

        return Runs(self._run_services)

    @cached_property
    def followers(self) -> Followers:
        """Whoever keeps something in step with the lake's tables."""
        return Followers(self.stores.events)

    @cached_property
    def kartothek(self) -> "LakeDatasets":
        """Kartothek datasets, in this lake or elsewhere."""
        from lakebed.app.kartothek import lake_datasets

        return lake_datasets(self)

    @cached_property
    def workers(self) -> "Workers":
        """The processes that keep Spark running for this lake between commands."""
        from lakebed.app.spark.workers import Workers

        return Workers(self.environment, lake=str(self.root))

    # -- manual changes

    @with_spark_ahead
    def write(
        self,
        name: str | TableName,
        frame: Any,
        *,
        mode: str = "append",
        key: str | Sequence[str] = (),
        order: str | None = None,
        where: str | None = None,
        on_schema_change: str = "fail",
        gates: bool = True,
    ) -> "RunRecord":
        """Write rows to a table manually: under its lease, on a branch, published once its
        pipeline's gates pass.

        `mode` is a strategy: append, overwrite, merge (with `key`, and `order` to tell the newer of
        two rows) … A table that does not exist is created. If this raises, the table is as it was.

        `where` is a condition in Spark's SQL, for mode overwrite: only rows that match it are
        replaced, and rows of the frame that do not match it are refused.
        """
        from lakebed.pipelines.running.manual import WriteOptions, keys_given
        from lakebed.pipelines.running.manual_writes import write_rows

        options = WriteOptions(mode, keys_given(key), order, on_schema_change, where)
        return write_rows(self._run_services, self.tables.target(name), frame, options, gates=gates)

    @with_spark_ahead
    def execute(self, statement: str, *, gates: bool = True) -> "RunRecord":
        """Run one INSERT, UPDATE, DELETE, MERGE or ALTER TABLE, published like a run once the
        table's gates pass.
        """
        from lakebed.pipelines.running.manual_writes import execute_statement

        return execute_statement(self._run_services, statement, find=self.tables.find, gates=gates)

    @with_spark_ahead
    def adopt(
        self,
        folder: str | Path,
        name: str | TableName,
        *,
        rewrite: bool = False,
        gates: bool = True,
    ) -> "RunRecord":
        """Make a table of the Parquet files in a folder, partitioned as their paths are: under its
        lease, published in one step once its pipeline's gates pass.

        The files become part of the table where they are, and stay yours: Lakebed never changes
        or removes them. With `rewrite` their rows are copied to files of the table instead. If
        this raises, there is no such table.
        """
        from lakebed.pipelines.running.adopting.adopt import adopt_folder

        table = self.tables.target(name)
        return adopt_folder(self._run_services, folder, table, rewrite=rewrite, gates=gates)

    def plan_adoption(
        self, folder: str | Path, name: str | TableName, *, rewrite: bool = False
    ) -> "Adoption":
        """What `adopt` would make a table of: files, bytes, rows, columns and partitions.

        Reads the footers of all files, changes nothing, starts no JVM.
        """
        from lakebed.pipelines.running.adopting.adopt import plan_folder

        return plan_folder(self._run_services, folder, self.tables.target(name), rewrite=rewrite)

    # -- reading

    def query(
        self,
        sql: str | QueryRequest,
        *,
        untrusted: bool = False,
        principal: str = "",
        route: str = "api",
        stop: "Cancellation | None" = None,
        **options: "Unpack[QueryKeywords]",
    ) -> "QueryResult":
        """Run a query in DuckDB's SQL (or Spark's), with all tables as of one moment; DuckDB needs
        no JVM.

        `QueryRequest` describes the options, and may be given itself. `untrusted` SQL is checked,
        confined and limited. `stop` cancels the query from another thread. `principal` and `route`
        go into the query log.
        """
        from lakebed.query.request import QueryOptions

        request = QueryRequest.of(sql, **options)
        needs_spark = request.engine == "spark" and not untrusted  # untrusted ones may not use it
        with self.spark_ahead() if needs_spark else nullcontext():
            return self.queries.query(
                QueryOptions(
                    request, untrusted=untrusted, principal=principal, route=route, stop=stop
                )
            )

    def explain(
        self, sql: str | QueryRequest, **options: "Unpack[ExplainKeywords]"
    ) -> "tuple[TableExplanation, ...]":
        """For each table of a query: the files considered, those that would be read, and why, and
        what was decided about each of its layouts; reads no row.
        """
        return self.queries.explain(QueryRequest.of(sql, **options))

    def table(
        self,
        name: str | TableName,
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        at: str | int | None = None,
        memory: str | None = None,
        layouts: bool = True,
    ) -> "LazyTable":
        """A table to be read later by Polars, Arrow, DuckDB, pandas or Spark, pinned to one
        snapshot from now on.

        `where` is a condition in DuckDB's SQL. `memory` limits what DuckDB may use while it reads,
        such as `512MB`. Without `layouts` the table itself is read, never a layout of it.
        """
        from lakebed.query.lazy.select import select_table

        _, pointer, metadata = self.tables.look_up(name)
        lazy = self.queries.lazy_tables
        return select_table(
            pointer,
            metadata,
            lazy,
            columns=columns,
            where=where,
            at=_point(at),
            memory=memory,
            layouts=layouts,
        )

    # -- runs

    def plan(
        self, *selectors: str | RunRequest, **options: "Unpack[PlanKeywords]"
    ) -> "tuple[RunPlan, ...]":
        """What runs of the selected pipelines would do now.

        Changes nothing, starts no JVM. See `run` for the options.
        """
        from lakebed.pipelines.options import RunOptions
        from lakebed.pipelines.preview.selected import plan_selected

        request = RunRequest.of(*selectors, **options)
        return plan_selected(RunOptions(request=request), self._run_services)

    @with_spark_ahead
    def run(
        self,
        *selectors: str | RunRequest,
        listener: "RunListener | None" = None,
        **options: "Unpack[RunKeywords]",
    ) -> "BuildResult":
        """Run the selected pipelines, all without a selector.

        Each table is published as its gates pass.

        A `RunRequest` has selectors and options in one. `full_refresh` rebuilds tables from all
        files, archived ones too; `batches` of a source, as in `year=2020`, are all that runs, and
        with `force` they run even if they are unchanged; `repair_gaps` writes those again that
        other programs have removed from the table. `start` and `end` (exclusive) backfill a range
        of a table, `chunk` by chunk (`month`, or a count of integers), each published by itself; a
        backfill that was interrupted goes on where it was, unless `force` is given. `vars` are for
        templates; `released` runs the newest releases instead of the drafts; `together` publishes
        all tables in one step, or none; `fail_fast` starts nothing after the first failure; `wait`
        is how many seconds to wait for a table that another run has.
        """
        from lakebed.pipelines.options import RunListener, RunOptions
        from lakebed.pipelines.running.builds.run_selected import run_selected

        request = RunRequest.of(*selectors, **options)
        options_of_runs = RunOptions(request=request, listener=listener or RunListener())
        return run_selected(options_of_runs, self._run_services)

    def __repr__(self) -> str:
        return f"Lake({str(self.root)!r})"


def _point(at: str | int | None) -> str | None:
    return None if at is None else str(at)
