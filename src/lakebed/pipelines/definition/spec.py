"""A pipeline as it was written, checked. Everything that it reads is known before anything runs."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

from lakebed.batches.finding import BatchSource
from lakebed.derived.checks import DeclaredLayouts
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.config import PipelineConfig
from lakebed.pipelines.definition.configure import NOWHERE, Origin
from lakebed.quality import Gate
from lakebed.tables import Strategy

# what a query reads of its own table
_OWN_ROWS = frozenset({"this", "watermark", "watermark_value", "is_incremental"})

Kind = Literal["sql", "python", "source", "hand"]
Style = Literal["sql", "spark", "duckdb", "flat", "source", "hand"]


@dataclass(frozen=True)
class Ref:
    """A table that a pipeline or one of its gates reads, under the name used there."""

    text: str
    table: TableName
    where: str
    line: int
    gate: str = ""  # the gate that reads it; none: the query


@dataclass(frozen=True)
class ZoneRef:
    """A landing zone that a pipeline reads; with a pattern, only the files that match."""

    text: str
    zone: ZoneName
    pattern: str | None
    where: str
    line: int


@dataclass(frozen=True)
class PipelineSpec:
    """One pipeline, read from its files."""

    table: TableName
    folder: str
    file: str  # pipeline.sql, pipeline.py or config.yaml, below the root
    kind: Kind
    style: Style
    source: str
    config: PipelineConfig
    strategy: Strategy
    gates: tuple[Gate, ...]
    refs: tuple[Ref, ...]
    gate_refs: tuple[Ref, ...]
    zones: tuple[ZoneRef, ...]
    names: frozenset[str]  # template names the source uses
    digest: str  # digest of all files
    version: int | None = None  # None: the draft
    batches: BatchSource | None = None  # of a pipeline that reads files by a pattern
    origin: Origin = field(default=NOWHERE, compare=False, repr=False)  # of its settings
    layouts_key: str = "layouts"  # under which its settings declare layouts
    # of a build that publishes all together: judged once the others have written, too
    later_gates: tuple[Gate, ...] = ()
    later_refs: tuple[Ref, ...] = ()

    @property
    def is_view(self) -> bool:
        return self.config.materialized == "view"

    @property
    def strategy_name(self) -> str:
        """How rows enter the table, as run records store it."""
        if self.kind == "hand":
            return "by hand"
        if self.kind == "source":
            return "batches"
        return "view" if self.is_view else self.strategy.strategy

    @property
    def inputs(self) -> tuple[TableName, ...]:
        """The tables it reads, each once, without its own."""
        return tuple(
            dict.fromkeys(
                ref.table for ref in (*self.refs, *self.gate_refs) if ref.table != self.table
            )
        )

    @property
    def reads_itself(self) -> bool:
        """Whether its query looks at its own table. Code in Python may, in ways that its text does
        not tell.
        """
        own = any(ref.table == self.table for ref in self.refs)
        return self.kind == "python" or own or bool(self.names & _OWN_ROWS)

    @property
    def gate_inputs(self) -> frozenset[TableName]:
        """The tables that only its gates read."""
        return frozenset(self.inputs) - {ref.table for ref in self.refs}

    def judging_later(self, tables: Collection[TableName]) -> "PipelineSpec":
        """The pipeline, with the gates that read these tables among those that are judged later."""
        later = {ref.gate for ref in self.gate_refs if ref.table in tables}
        return replace(
            self,
            gates=tuple(gate for gate in self.gates if gate.name not in later),
            gate_refs=tuple(ref for ref in self.gate_refs if ref.gate not in later),
            later_gates=tuple(gate for gate in self.gates if gate.name in later),
            later_refs=tuple(ref for ref in self.gate_refs if ref.gate in later),
        )

    @property
    def judged_later(self) -> "PipelineSpec":
        """The pipeline with the gates that are left, and with no others."""
        return replace(
            self,
            gates=self.later_gates,
            gate_refs=self.later_refs,
            later_gates=(),
            later_refs=(),
        )

    @property
    def zone_names(self) -> tuple[ZoneName, ...]:
        return tuple(dict.fromkeys(ref.zone for ref in self.zones))


def declared_layouts(spec: PipelineSpec) -> DeclaredLayouts:
    """The layouts that a pipeline declares for its table."""
    keys = tuple(key.name for key in spec.batches.keys) if spec.batches else ()
    where = f"{spec.folder}/config.yaml"
    return DeclaredLayouts(spec.config.alternate_partitions, keys, where, spec.layouts_key)
