"""A run's work in hand: what it was asked, and what its steps have come to so far."""

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from lakebed.landing import ZoneRows
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.compile import CompiledQuery, TemplateContext
from lakebed.pipelines.planning.hidden_tables import hidden_table, staged_table
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.services import RunServices
from lakebed.ports import MAIN, ColumnAlias, Compute, Field, Frame, InputPin, RunRecord, Snapshot, TableMetadata, Verdict
from lakebed.tables import HeldLease, SchemaChange, at_snapshot, on_branch, projection, time_literal


@dataclass
class ActiveRun:
    """Filled in step by step; only the run that owns it touches it."""

    services: RunServices
    options: RunOptions
    context: TemplateContext
    plan: RunPlan
    held: HeldLease
    record: RunRecord
    timestamp: datetime  # the run's one time, in what it writes; of a replay: that of the run at hand
    log: logging.Logger
    resources: ExitStack = field(default_factory=ExitStack)
    landed: dict[tuple[ZoneName, str | None], ZoneRows] = field(default_factory=dict)
    zone_types: dict[tuple[ZoneName, str | None], Mapping[str, str]] = field(default_factory=dict)  # of zones: column → type
    digests: dict[str, str] = field(default_factory=dict)  # of the files of zones, by path
    batch: dict[tuple[ZoneName, str | None], ZoneRows] = field(default_factory=dict)  # of a replay: the batch at hand
    frame: Frame = None
    compiled: CompiledQuery | None = None
    fields: tuple[Field, ...] = ()
    result_rows: int | None = None
    keys: int | None = None
    key_matches: Mapping[str, int] = field(default_factory=dict)  # what the arriving keys met in the table
    schema_change: SchemaChange = field(default_factory=SchemaChange)
    aliases: tuple[ColumnAlias, ...] = ()  # the branch's columns as they will be called; none said: as they are
    skip_write: bool = False
    unchanged: bool = False
    publishing: Literal["", "tried", "done"] = ""  # how far it came; tried: perhaps it happened
    replay_fields: tuple[Field, ...] = ()  # of a replay: the hidden table's columns, once there is one
    collected: list[tuple[Frame, tuple[Field, ...]]] = field(default_factory=list)  # of a replay: rows not yet added
    replayed: bool = False  # rows of a replay came into the hidden table; in the end: the frame has the strategy's own columns
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def spec(self) -> PipelineSpec:
        return self.context.spec

    @property
    def table(self) -> TableName:
        return self.context.spec.table

    @property
    def run_id(self) -> str:
        return self.record.run_id

    @property
    def is_first_run(self) -> bool:
        return self.context.target.absent

    @property
    def physical_table(self) -> TableName:
        """The table that is written: the hidden one in a first run."""
        return hidden_table(self.table, self.run_id) if self.is_first_run else self.table

    @property
    def branch(self) -> str:
        return MAIN if self.is_first_run else self.context.pins.branch

    @property
    def write_target(self) -> str:
        """What is written and what gates read, in Spark's words; columns have their present names."""
        if self.skip_write:
            return at_snapshot(self.table, self.context.target.base(self.options.ref))
        return self.physical_table.spark if self.is_first_run else on_branch(self.table, self.branch)

    @property
    def gate_target(self) -> str:
        """The same with the columns called as they will be."""
        if self.skip_write:
            return self.context.this or self.write_target
        return projection(self.write_target, self.aliases)

    @property
    def stage(self) -> TableName:
        return staged_table(self.table, self.run_id)

    @property
    def timestamp_literal(self) -> str:
        """The run's one moment, as a literal."""
        return time_literal(self.timestamp)

    @property
    def read(self) -> Mapping[tuple[ZoneName, str | None], ZoneRows]:
        """The files that the pipeline sees."""
        return self.batch or self.landed

    @cached_property
    def compute(self) -> Compute:
        """The run's own session, opened when it is first needed."""
        compute = self.services.compute(self.run_id)
        self.resources.callback(compute.close)
        return compute

    def metadata(self, table: TableName) -> TableMetadata:
        """A table as the catalog has it now."""
        catalog = self.services.placement.catalog
        return catalog.metadata(catalog.pointers([table]).values())[table]

    def head(self) -> Snapshot | None:
        """Where the branch stands."""
        return self.metadata(self.physical_table).head(self.branch)

    @property
    def input_pins(self) -> tuple[InputPin, ...]:
        return tuple(self.context.pins.inputs.values())

    @property
    def vars(self) -> Mapping[str, Any]:
        return self.options.vars
