"""A look at a backfill: its range, cut into chunks, and which of them an earlier run has done."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import islice
from zoneinfo import ZoneInfo

from lakebed.batches.changes import BatchDecision, DueBatch, Reason
from lakebed.batches.chunks import (
    Bound,
    ChunkRange,
    Kind,
    Unit,
    chunk_label,
    cut,
    guess_kind,
    is_empty,
    kind_of,
    read_bound,
    read_size,
    spelt,
)
from lakebed.batches.finding import MOST_BATCHES
from lakebed.batches.sidecars import known_batches
from lakebed.errors import UsageError
from lakebed.names import spark_identifier
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.options import RunOptions
from lakebed.pipelines.planning.backfills.allowed import (
    batch_column,
    default_size,
    require_backfill,
)
from lakebed.pipelines.planning.pins import Chunk
from lakebed.pipelines.services import RunServices
from lakebed.ports import TableMetadata
from lakebed.tables import ReplaceRange, apply_renames
from lakebed.templates import SqlValue, sql_value
from lakebed.types import ColumnType, read_iceberg_type, read_table_type

_LOOKED_AT = 1_000  # records of runs


@dataclass(frozen=True)
class BackfillLook:
    """What was asked for, and what is left of it."""

    column: str
    kind: Kind
    whole: ChunkRange
    size: Unit | int
    zone: ZoneInfo
    request: str  # digest: the same range of the same code
    chunks: Mapping[str, ChunkRange]  # by label
    decision: BatchDecision
    metadata: TableMetadata | None = None

    @property
    def asked(self) -> str:
        """What was asked for, in words."""
        start, end = (spelt(one, zone=self.zone) for one in (self.whole.start, self.whole.end))
        return f"{self.column} from {start} to {end} by {self.size}"

    def pinned(self, spec: PipelineSpec, due: DueBatch) -> tuple[ReplaceRange, Chunk]:
        """How a chunk is written, and what the pipeline sees of it."""
        return self._pinned(spec, due.label, self.chunks[due.label])

    def pinned_whole(self, spec: PipelineSpec) -> tuple[ReplaceRange, Chunk]:
        """The same as if the whole range were one chunk."""
        return self._pinned(spec, chunk_label(self.column, self.whole, zone=self.zone), self.whole)

    def _pinned(
        self, spec: PipelineSpec, label: str, part: ChunkRange
    ) -> tuple[ReplaceRange, Chunk]:
        name = spark_identifier(self.column)
        start, end = self._value(part.start), self._value(part.end)
        where = f"{name} >= {start.literal} AND {name} < {end.literal}"
        given = spec.strategy
        strategy = ReplaceRange(
            where=where,
            column=self.column,
            unique_key=given.keys,
            watermark_column=given.order,
            keeps_one_row=given.one_row_per_key,
        )
        return strategy, Chunk(label, where, start, end, self.kind, self.request, self.request)

    def _value(self, bound: Bound) -> SqlValue:
        if isinstance(bound, datetime) and bound.tzinfo:
            bound = bound.astimezone(self.zone)
        return sql_value(bound, timezone=self.zone.key)


def look_at_backfill(
    spec: PipelineSpec, services: RunServices, options: RunOptions
) -> BackfillLook:
    """Cut the range, and leave out chunks that a backfill which did not end has published.

    Raises `UsageError` if the pipeline or the range is not one to backfill. Reads no rows.
    """
    require_backfill(spec)
    catalog = services.ports.catalog
    metadata = catalog.metadata(catalog.pointers([spec.table]).values()).get(spec.table)
    known, zone = _types(spec, metadata), ZoneInfo(services.ports.settings.timezone)
    column = batch_column(spec.config, known, where=spec.file)
    kind = _kind(column, known, spec, options)
    try:
        whole, size = _asked(spec, options, column, kind, zone)
    except ValueError as error:
        raise _unusable(f"{error}.", spec) from None
    chunks = _chunks(column, whole, size, zone, spec)
    request = _digest(spec, options, [column, *chunks, str(size)])
    done = frozenset[str]() if options.request.force else _done(request, spec, services, metadata)
    reason: Reason = "forced" if options.request.force else "backfill"
    due = tuple(DueBatch(label, reason) for label in chunks if label not in done)
    decision = BatchDecision(due, unchanged=len(chunks) - len(due))
    return BackfillLook(column, kind, whole, size, zone, request, chunks, decision, metadata)


def _types(spec: PipelineSpec, metadata: TableMetadata | None) -> dict[str, ColumnType]:
    """Types of columns by folded name: those that the table has, else those that are declared."""
    there = metadata.columns if metadata else ()
    names = apply_renames([column.name for column in there], spec.config.renames)
    declared = {name: column.type for name, column in spec.config.columns.items() if column.type}
    own = {name.casefold(): read_table_type(type_) for name, type_ in declared.items()}
    return own | {
        name.casefold(): read_iceberg_type(column.type)
        for name, column in zip(names, there, strict=True)
    }


def _kind(
    column: str, known: Mapping[str, ColumnType], spec: PipelineSpec, options: RunOptions
) -> Kind:
    type_ = known.get(column.casefold())
    if type_ is None:
        return guess_kind(options.request.start or "", options.request.end or "")
    kind = kind_of(type_)
    if kind is None:
        what = f"the column {column!r} is {type_}: a range needs dates, times or integers."
        raise _unusable(what, spec, "Set batch_column to a column that holds such.")
    return kind


def _asked(
    spec: PipelineSpec, options: RunOptions, column: str, kind: Kind, zone: ZoneInfo
) -> tuple[ChunkRange, Unit | int]:
    """The range and the size of its chunks; `ValueError` says what is wrong with them."""
    start = read_bound(options.request.start or "", kind, zone=zone)
    end = read_bound(options.request.end or "", kind, zone=zone)
    whole = ChunkRange(start, end)
    if is_empty(whole):
        raise ValueError(
            f"the range from {options.request.start} to {options.request.end} is empty; its end is"
            " exclusive"
        )
    if options.request.chunk is not None:
        return whole, read_size(options.request.chunk, kind)
    return whole, default_size(spec.config, column, whole)


def _chunks(
    column: str, whole: ChunkRange, size: Unit | int, zone: ZoneInfo, spec: PipelineSpec
) -> dict[str, ChunkRange]:
    parts = islice(cut(whole, size, zone=zone), MOST_BATCHES + 1)
    found = {chunk_label(column, part, zone=zone): part for part in parts}
    if len(found) > MOST_BATCHES:
        what = f"the range has more than {MOST_BATCHES:,} chunks; each is a commit."
        raise _unusable(what, spec, "Choose a larger --chunk.")
    return found


def _digest(spec: PipelineSpec, options: RunOptions, asked: list[str]) -> str:
    told = json.dumps([spec.source, options.request.vars, asked], sort_keys=True, default=str)
    return sha256(told.encode(errors="surrogatepass")).hexdigest()[:32]


def _done(
    request: str, spec: PipelineSpec, services: RunServices, metadata: TableMetadata | None
) -> frozenset[str]:
    """The chunks that earlier runs of the same backfill have published, since it last came to its
    end. Those that a rollback has taken back are not among them.
    """
    if metadata is None:
        return frozenset()
    states = known_batches(services.ports.files, metadata).batches
    there = {label: state.snapshot for label, state in states.items()}
    return frozenset(_published(request, spec, services, there))


def _published(
    request: str, spec: PipelineSpec, services: RunServices, there: Mapping[str, int | None]
) -> Iterator[str]:
    for record in services.ports.records.runs(table=spec.table, limit=_LOOKED_AT):
        if record.given != request:
            continue
        if record.state == "success":
            return
        for line in record.batches:
            written = line.snapshot is None or there.get(line.label) == line.snapshot
            if line.state == "success" and written:
                yield line.label


def _unusable(what: str, spec: PipelineSpec, next: str = "") -> UsageError:
    return UsageError(what, where=str(spec.table), safe="Nothing was written.", next=next)
