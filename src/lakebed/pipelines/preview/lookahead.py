"""What runs would do, and with which SQL, once the runs before them are done.

Nothing runs, no JVM starts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from lakebed.errors import LakebedError, UsageError
from lakebed.landing.source_files import source_columns
from lakebed.names import TableName
from lakebed.pipelines.definition.batch_source import source_spec
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.backfills.look import look_at_backfill
from lakebed.pipelines.planning.backfills.plan import plan_backfill
from lakebed.pipelines.planning.compile import (
    CompiledQuery,
    TemplateContext,
    compile_gate,
    compile_query,
)
from lakebed.pipelines.planning.otherwise import conditional_steps
from lakebed.pipelines.planning.pin_inputs import Specs, UnpublishedInput
from lakebed.pipelines.planning.plan import RunPlan, plan_run
from lakebed.pipelines.planning.sources.look import SourceLook, look_at_source
from lakebed.pipelines.planning.sources.plan import plan_source
from lakebed.pipelines.planning.sql_check import (
    check_gates,
    check_queries,
    columns_after,
    columns_ahead,
)
from lakebed.pipelines.planning.steps import RunGate
from lakebed.pipelines.preview.preview import template_context
from lakebed.pipelines.releases import columns_of_draft
from lakebed.pipelines.running.undone import look_for_undone, plan_from_look
from lakebed.pipelines.services import RunServices
from lakebed.templates import STAND_IN, SqlValue


@dataclass
class Lookahead:
    """Plans pipelines in order.

    Tables that earlier ones will change, or that do not exist yet, count as built.
    """

    specs: Specs
    services: RunServices
    options: RunOptions
    absent: Mapping[TableName, UnpublishedInput]
    alone: bool  # whether each is published by itself, not together with the others
    columns: dict[TableName, tuple[str, ...] | None] = field(
        default_factory=dict
    )  # after their runs; None if they cannot be known
    unbuilt: dict[TableName, tuple[str, ...] | None] = field(
        default_factory=dict
    )  # of tables that must be built first, as their drafts name them

    @classmethod
    def of(
        cls, specs: Specs, services: RunServices, options: RunOptions, *, alone: bool = True
    ) -> "Lookahead":
        missing = specs.keys() - services.ports.catalog.pointers().keys()
        absent = {table: UnpublishedInput(table, None) for table in missing}
        return cls(specs, services, options, absent, alone)

    def context_of(self, table: TableName, *, mark: SqlValue | None = None) -> TemplateContext:
        """What a run of this table would see once the runs before it are done."""
        found = template_context(
            self.specs[table], self.specs, self.services, self.options, built=self.absent, mark=mark
        )
        self._look_at_unbuilt(table)
        ahead = columns_ahead(found.pins.columns, self.unbuilt | self.columns)
        return replace(found, pins=replace(found.pins, columns=ahead))

    def _look_at_unbuilt(self, table: TableName) -> None:
        """Note the columns of all absent tables that this one reads, directly or through others."""
        links: dict[TableName, list[TableName]] = {}
        unknown = self.absent.keys() - self.columns.keys() - self.unbuilt.keys()
        waiting = [one for one in self.specs[table].inputs if one in unknown]
        while waiting:
            one = waiting.pop()
            if one not in links:  # its gates do not decide its columns, and may close a cycle
                links[one] = [ref.table for ref in self.specs[one].refs if ref.table in unknown]
                waiting += links[one]
        for one in TopologicalSorter(links).static_order():
            self.unbuilt[one] = self._columns_of_draft(self.specs[one])

    def _columns_of_draft(self, spec: PipelineSpec) -> tuple[str, ...] | None:
        """The columns that a first run would make, if the query names them. What is wrong with the
        query is said where it is planned itself.
        """
        if spec.kind != "sql":
            return None
        try:
            return columns_of_draft(
                spec,
                self.services,
                vars=self.options.request.vars,
                ahead=self.unbuilt | self.columns,
            )
        except LakebedError:
            return None

    def plan(self, table: TableName) -> RunPlan:
        """What a run would do; raises if it could not run."""
        if self.specs[table].kind == "source":
            return self._source_plan(table)
        if self.options.request.is_backfill:
            return self._backfill_plan(table)
        context = self.context_of(
            table, mark=STAND_IN if self.specs[table].config.watermark_column else None
        )
        query = check_queries(context)
        unbuilt = [
            one for one in context.pins.inputs if one in self.absent and one not in self.columns
        ]
        self.columns[table] = columns_after(context, query)
        spec, pins, target = context.spec, context.pins, context.target
        undone = look_for_undone(spec, pins, target, self.specs, self.services)
        inline = self.services.builds_layouts
        plan = plan_run(spec, pins, target, layouts=inline, undone=undone)
        later = [RunGate(gate, later=True) for gate in spec.later_gates if plan.publish]
        plan = replace(plan, prepare=(*plan.prepare, *later))
        reason = "; ".join(filter(None, (plan.reason, _unbuilt(unbuilt, table))))
        steps = conditional_steps(context, plan, query, alone=self.alone)
        return replace(plan, reason=reason, otherwise=tuple(steps))

    def check_later_gates(self, table: TableName) -> None:
        """Raise if a gate could not run that is judged once the whole build is written."""
        spec = self.specs[table]
        if spec.later_gates:
            inside = replace(self, specs={**self.specs, table: spec.judged_later})
            check_gates(inside.context_of(table), self.columns.get(table))

    def _source_plan(self, table: TableName) -> RunPlan:
        spec = self.specs[table]
        self.columns[table] = None
        with look_at_source(spec, self.services, self.options) as look:
            source = plan_source(spec, look, layouts=self.services.builds_layouts)
            plan = plan_from_look(spec, look, self.services)
            notes = (*source.notes, *_inferred(spec, look, self.services))
        source = replace(source, notes=notes)
        reason = "; ".join(filter(None, (source.reason, plan.reason)))
        return replace(plan, reason=reason, source=source)

    def _backfill_plan(self, table: TableName) -> RunPlan:
        spec = self.specs[table]
        look = look_at_backfill(spec, self.services, self.options)
        backfill, plan = plan_backfill(look), plan_from_look(spec, look, self.services)
        context = self.context_of(table)
        self.columns[table] = columns_after(context, check_queries(context))
        reason = "; ".join(filter(None, (backfill.reason, plan.reason)))
        return replace(plan, reason=reason, backfill=backfill)

    def compile(self, table: TableName) -> tuple[CompiledQuery, ...]:
        """The SQL of a pipeline and of its gates, over what a run would pin now."""
        spec, context = self.specs[table], self.context_of(table)
        if spec.kind in {"python", "source"}:
            kind = "Python pipeline" if spec.kind == "python" else "pipeline without code"
            raise UsageError(
                f"a {kind} has no SQL to show.",
                where=spec.file,
                next="Look at its rows: lakebed preview",
            )
        this = context.this or spec.table.spark
        self.columns[table] = columns_after(context, check_queries(context))
        gates = (compile_gate(context, gate, this=this) for gate in spec.gates)
        return (compile_query(context), *gates)


def _unbuilt(tables: Sequence[TableName], reader: TableName) -> str:
    return (
        f"{', '.join(map(str, tables))} must be built first: lakebed run +{reader}"
        if tables
        else ""
    )


def _inferred(spec: PipelineSpec, look: SourceLook, services: RunServices) -> Iterator[str]:
    """What the first files that are due show of the types of columns that the table has not."""
    first = next((due.found for due in look.decision.due if due.found), None)
    if first is None:
        return
    files, _ = services.source_store(look.source.pattern.store)
    former = {name: column.read_from for name, column in spec.config.columns.items()}
    columns = look.metadata.columns if look.metadata else ()
    shown = source_columns(
        files,
        look.found.files_of(first),
        source_spec(spec.config),
        known={former.get(column.name) or column.name: column.type for column in columns},
    )
    yield from (column.inferred for column in shown if column.inferred)
