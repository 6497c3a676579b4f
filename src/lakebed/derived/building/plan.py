"""What is due for the layouts of a table. Pure: states in, frozen steps out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lakebed.batches.keys import BatchKey, KeyValues, read_label
from lakebed.batches.state import BatchStates
from lakebed.derived.building.batches import BatchSize
from lakebed.derived.building.columns import fit_of, missing_columns
from lakebed.derived.building.steps import (
    AddColumns,
    BuildBatches,
    ClearLayout,
    CreateLayout,
    ForgetLayout,
    LayoutStep,
    RemoveBatches,
    Restamp,
)
from lakebed.derived.checks import complete_spec, renamed_spec
from lakebed.derived.freshness import Freshness, columns_digest, source_snapshot
from lakebed.derived.identity import Layout
from lakebed.derived.labels import batch_key_problem
from lakebed.derived.spec import LayoutSpec
from lakebed.names import TableName
from lakebed.ports import TableMetadata
from lakebed.sizes import format_size

BUDGET = 1024**3  # bytes of the table's files that are built at once
MOST_AT_ONCE = 200  # batches of a commit


@dataclass(frozen=True)
class LayoutTables:
    """What is to be done about hidden tables, and the layouts that are then there, by name.

    `undeclared` are layouts that the table's pipeline does not declare.
    """

    steps: tuple[LayoutStep, ...]
    specs: dict[str, LayoutSpec]
    undeclared: tuple[str, ...] = ()


def plan_tables(
    table: TableName,
    source: TableMetadata,
    present: Sequence[Layout],
    declared: Sequence[LayoutSpec] | None,
    *,
    batch_columns: Sequence[str] = (),
) -> LayoutTables:
    """Make what is declared and missing; make anew what is declared otherwise, or can no longer
    hold the table's rows. None is declared for a table without a pipeline: its layouts stay as they
    were asked for.
    """
    kept, steps = _one_of_each(table, source, present)
    wanted = {name: renamed_spec(layout.spec, source) for name, layout in kept.items()}
    asked = [complete_spec(spec, source, batch_columns=batch_columns) for spec in declared or ()]
    wanted |= {spec.label.casefold(): spec for spec in asked}
    for name, spec in wanted.items():
        steps += _of_table(table, source, spec, kept.get(name))
    named = {spec.label.casefold() for spec in asked}
    strange = () if declared is None else (kept[name].name for name in kept if name not in named)
    return LayoutTables(
        tuple(steps), {spec.label: spec for spec in wanted.values()}, tuple(strange)
    )


def _one_of_each(
    table: TableName, source: TableMetadata, present: Iterable[Layout]
) -> tuple[dict[str, Layout], list[LayoutStep]]:
    """Of several layouts of one name, which a crash may leave, the newest that fits."""
    ordered = sorted(
        present, key=lambda one: (fit_of(one, source) != "other", one.metadata.updated_at)
    )
    kept = {one.name.casefold(): one for one in ordered}
    why = "another has taken its place"
    return kept, [
        ForgetLayout(source=table, name=one.name, table=one.table, why=why)
        for one in ordered
        if kept[one.name.casefold()] is not one
    ]


def _of_table(
    table: TableName, source: TableMetadata, spec: LayoutSpec, layout: Layout | None
) -> Iterator[LayoutStep]:
    name = spec.label
    if layout is None:
        yield CreateLayout(source=table, name=name, spec=spec, why="there is none yet")
        return
    fit = fit_of(layout, source)
    other = "it is declared otherwise" if layout.spec.digest != spec.digest else ""
    other = other or ("the table's columns have changed" if fit == "other" else "")
    if other:
        yield CreateLayout(source=table, name=name, spec=spec, replaces=layout.table, why=other)
    elif fit == "lacks":
        columns = tuple(column.name for column in missing_columns(layout, source))
        yield AddColumns(source=table, name=name, columns=columns, why="the table has gained them")


def as_if_unchanged(states: BatchStates, source: TableMetadata) -> BatchStates:
    """The states of a layout whose columns are the table's, without regard to what they were when
    its batches were built: columns that were added since are NULL there, as in the table.
    """
    digest = columns_digest(source)
    known = {label: replace(state, schema=digest) for label, state in states.batches.items()}
    return replace(states, batches=known)


@dataclass(frozen=True)
class BatchLook:
    """What the batches of a layout are decided by. `freshness` is for the table at `snapshot`;
    `rows` is how many the layout has, None if that is not known.
    """

    table: TableName
    source: TableMetadata
    snapshot: int
    layout: Layout
    keys: tuple[BatchKey, ...]
    states: BatchStates
    freshness: Freshness
    batches: tuple[BatchSize, ...]

    @property
    def must_clear(self) -> bool:
        """Whether rows may be there that no batch tells of."""
        head = self.layout.metadata.head()
        rows = bool(head and head.count("total-records") != 0)
        lost = not self.states.batches and rows
        strange = any(self.values(label) is None for label in self.states.batches)
        return self.freshness.tainted or self.states.incomplete or lost or strange

    def values(self, label: str) -> KeyValues | None:
        """The values of a batch that the layout has; None if its label tells none."""
        try:
            return read_label(label, self.keys) if self.keys else ()
        except ValueError:
            return None

    @property
    def is_stamped(self) -> bool:
        """Whether all batches are known to be those of the snapshot, and all there are."""
        uuid, digest = self.source.uuid, columns_digest(self.source)
        return self.layout.covers == self.snapshot and all(
            source_snapshot(state, uuid) == self.snapshot and state.schema == digest
            for state in self.states.batches.values()
        )


def plan_batches(
    look: BatchLook, *, force: bool = False, budget: int = BUDGET
) -> tuple[LayoutStep, ...]:
    """Build what is stale or missing, remove what the table no longer has, stamp the rest."""
    source, name = look.table, look.layout.name
    clear = force or look.must_clear
    fresh = frozenset[str]() if clear else look.freshness.fresh
    due = [batch for batch in look.batches if batch.label not in fresh]
    steps: list[LayoutStep] = []
    if clear and look.layout.metadata.head():
        why = "all of it is built again" if force else "others have written into it"
        steps.append(ClearLayout(source=source, name=name, why=why))
    elif gone := _gone(look):
        why = "the table no longer has them"
        steps.append(RemoveBatches(source=source, name=name, batches=gone, why=why))
    groups = list(_groups(due, budget))
    steps += [
        BuildBatches(
            source=source, name=name, batches=group, number=number, of=len(groups), why=_why(look)
        )
        for number, group in enumerate(groups, start=1)
    ]
    if steps or not look.is_stamped:
        why = "so that earlier snapshots of the table are not needed"
        steps.append(Restamp(source=source, name=name, snapshot=look.snapshot, why=why))
    return tuple(steps)


def _why(look: BatchLook) -> str:
    return "the table has changed" if look.states.batches else "it has no rows yet"


def _gone(look: BatchLook) -> tuple[tuple[str, KeyValues], ...]:
    there = {batch.label for batch in look.batches}
    gone = sorted(label for label in look.states.batches if label not in there)
    return tuple((label, look.values(label) or ()) for label in gone)


def _groups(due: Iterable[BatchSize], budget: int) -> Iterator[tuple[BatchSize, ...]]:
    """Neighbouring batches that fit into the budget together; a larger one by itself."""
    group: list[BatchSize] = []
    size = 0
    for batch in due:
        if group and (size + batch.bytes > budget or len(group) >= MOST_AT_ONCE):
            yield tuple(group)
            group, size = [], 0
        group.append(batch)
        size += batch.bytes
    if group:
        yield tuple(group)


def large_batches(look: BatchLook, *, budget: int = BUDGET) -> Iterator[str]:
    """Warnings of batches that are larger than what is built at once."""
    large = [batch for batch in look.batches if batch.bytes > budget]
    if not large:
        return
    most = max(large, key=lambda one: one.bytes)
    count = f"{len(large)} batches are" if len(large) > 1 else "a batch is"
    yield (
        f"{look.layout.name}: {count} larger than {format_size(budget)}, up to"
        f" {format_size(most.bytes)} ({most.label or 'all rows'}). {_finer(look)}"
    )


def _finer(look: BatchLook) -> str:
    """A further column that would divide batches."""
    columns = {column.name.casefold(): column for column in look.source.columns}
    used = [key.name for key in look.keys]
    others = (columns.get(field.casefold()) for field in look.source.partition_by)
    for one in others:
        if one and one.name not in used and not batch_key_problem(one):
            return f"Consider a finer batch_by: {', '.join((*used, one.name))}."
    return "The table has no further partition column to divide them by: partition it finer."
