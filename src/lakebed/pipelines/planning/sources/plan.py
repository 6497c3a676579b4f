"""What a run of a source would do: batches, sizes, and what to beware of. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.batches.advice import (
    Estimate,
    TableShape,
    batch_warnings,
    estimate,
    is_large,
    row_group_advice,
    table_warnings,
)
from lakebed.batches.finding import FoundBatch, distinct_values
from lakebed.batches.gaps import deletion_notes, gap_warnings
from lakebed.pipelines.definition.batch_source import batch_keys
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.pipelines.planning.sources.look import SourceLook

_FORMATS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".pq": "parquet"}


@dataclass(frozen=True)
class DueLine:
    """One batch that is due."""

    batch: str
    reason: str
    files: int = 0
    bytes: int = 0
    memory: int = 0  # estimated
    output: int = 0  # estimated


@dataclass(frozen=True)
class SourcePlan:
    """What a run of a source would do."""

    reason: str
    due: tuple[DueLine, ...]
    unchanged: int
    files: int
    bytes: int
    expected_files: int
    expected_file_size: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def plan_source(spec: PipelineSpec, look: "SourceLook", *, layouts: bool = True) -> SourcePlan:
    """The plan, with the warnings of all batches that are due; with `layouts` it builds them."""
    lines = tuple(
        DueLine(
            due.label,
            due.reason,
            *(
                (due.found.files, due.found.bytes, *_estimated(spec, due.found))
                if due.found
                else ()
            ),
        )
        for due in look.decision.due
    )
    found = [due.found for due in look.decision.due if due.found]
    shape = table_shape(spec, look)
    return SourcePlan(
        _reason(look),
        lines,
        look.decision.unchanged,
        sum(line.files for line in lines),
        sum(line.bytes for line in lines),
        shape.files,
        shape.file_size,
        (
            *missing_warnings(look),
            *(f"{bad.why}: it is left out, and a run fails" for bad in look.found.bad),
            *(w for one in found for w in warnings_of(spec, look, one)),
            *table_warnings(shape),
        ),
        (
            *_layout_notes(spec, inline=layouts),
            *deletion_notes(look.gaps, _due(look)),
            *_notes(look),
            *row_group_advice(shape, is_sorted=bool(spec.config.sort_by)),
        ),
    )


def warnings_of(spec: PipelineSpec, look: "SourceLook", batch: FoundBatch) -> Iterator[str]:
    """Why a batch may be too large; other values are counted only if it is."""
    expected = expected_of(spec, batch)
    if is_large(batch, expected):
        counts: Mapping[str, int] = distinct_values(look.found, batch, look.source)
        keys = batch_keys(spec.config)
        yield from batch_warnings(batch, expected, keys=keys, distinct=counts)


def expected_of(spec: PipelineSpec, batch: FoundBatch) -> Estimate:
    """What a batch will take."""
    name = (spec.config.source or "").casefold()
    plain = name.removesuffix(".gz")
    format_ = spec.config.format or _FORMATS.get(plain[plain.rfind(".") :], "json")
    return estimate(batch, format_, packed=name.endswith(".gz"))


def _estimated(spec: PipelineSpec, batch: FoundBatch) -> tuple[int, int]:
    expected = expected_of(spec, batch)
    return expected.memory, expected.output


def table_shape(spec: PipelineSpec, look: "SourceLook") -> TableShape:
    """What the whole table will look like. Values of keys that are not in paths are not known, and
    count as one.
    """
    fields = [field.column for field in spec.config.partition_by]
    batches = look.found.batches
    by_key = {
        key.name: len({batch.values[place] for batch in batches})
        for place, key in enumerate(look.source.keys)
    }
    others = [name for name in fields if name in look.source.pattern.names and name not in by_key]
    leaves = len(batches)
    for name in others:
        most = max(distinct_values(look.found, one, look.source)[name] for one in batches[:1])
        by_key[name], leaves = most, leaves * most
    output = sum(expected_of(spec, batch).output for batch in batches)
    counts = tuple((name, by_key[name]) for name in fields if name in by_key)
    return TableShape(tuple(fields), leaves, counts, output)


def _due(look: "SourceLook") -> frozenset[str]:
    return frozenset(due.label for due in look.decision.due)


def missing_warnings(look: "SourceLook") -> tuple[str, ...]:
    """The batches that others have removed, and that this run does not write."""
    return tuple(gap_warnings(look.gaps, _due(look)))


def _reason(look: "SourceLook") -> str:
    due, whole = _due(look), len(look.found.batches)
    missing = sum(not gap.is_meant and gap.label not in due for gap in look.gaps)
    gaps = f", {missing} missing in the table" if missing else ""
    if due:
        return f"{len(due)} of {whole} batches are due{gaps}"
    return f"all {whole} batches are unchanged{gaps}"


def _layout_notes(spec: PipelineSpec, *, inline: bool) -> Iterator[str]:
    when = "built after the last batch" if inline else "built by the next care"
    for layout in spec.config.alternate_partitions:
        keys = ", ".join(map(str, (*layout.partition_by, *layout.order)))
        yield f"the layout {layout.label} (by {keys}) is {when}: only what has changed"


def _notes(look: "SourceLook") -> Iterator[str]:
    for found in (due.found for due in look.decision.due):
        if found and found.files > look.at_once:
            parts = -(-found.files // look.at_once)
            yield (
                f"batch {found.label or 'all'} is read in {parts} parts, of {look.at_once:,} files"
                " each: more do not fit into spark.memory at once"
            )
    if look.states.foreign:
        count = len(look.states.foreign)
        yield f"others have changed the table {count} times; --force writes every batch again"
    if look.states.incomplete:
        yield "earlier snapshots have expired without a trace; batches that are not known run again"


def source_lines(plan: SourcePlan) -> Iterator[str]:
    """What there is to say besides the steps."""
    size, each = format_size(plan.bytes), format_size(plan.expected_file_size)
    yield f"{plan.files:,} files, {size}; {plan.unchanged} batches are unchanged"
    yield f"expected: {plan.expected_files:,} data files of about {each}"
    yield from (f"warning: {warning}" for warning in plan.warnings)
    yield from plan.notes
