"""Plans as text, one line per step."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import assert_never

from lakebed.batches.changes import DueBatch
from lakebed.names import short_id
from lakebed.notebook import html_table
from lakebed.pipelines.planning.pins import Batch
from lakebed.pipelines.planning.plan import RunPlan
from lakebed.pipelines.planning.steps import (
    ArchiveFiles,
    BatchSteps,
    BuildLayouts,
    Calculate,
    CheckFirst,
    CheckKeys,
    ConditionalStep,
    CreateHidden,
    CreateView,
    DropStage,
    EvolveArrangement,
    Execute,
    OpenBranch,
    OpenZone,
    PrepareSchema,
    Publish,
    PublishBatch,
    ReadBatch,
    ReadFolder,
    Rebase,
    Replay,
    RunGate,
    RunStep,
    Stage,
    StartOver,
    TakeCare,
    TakeFiles,
    TryAgain,
    Write,
)
from lakebed.ports import FileInfo, InputPin
from lakebed.sizes import format_size
from lakebed.tables import ArrangementChange, Strategy

_SHOWN = 3  # names of files in a line
_BATCHES_SHOWN = 20
_POLICIES = {
    "fail": "fail unless the result has the table's columns",
    "append": "add new columns",
    "sync": "make the table's columns those of the result",
}


class Plans(tuple[RunPlan, ...]):
    """The plans of several runs, in their order."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Tables, for notebooks."""
        return "".join(map(plan_html, self))


def plan_html(plan: RunPlan) -> str:
    """A plan as a table for notebooks, a row a step."""
    steps = (*plan.prepare, *plan.publish, *plan.after)
    title = ": ".join(filter(None, (str(plan.table), plan_strategy(plan), plan.reason)))
    rows = (
        *(("warning", warning) for warning in (*plan.warnings, *plan.advice)),
        *(("batch", line) for line in batch_lines(plan.batches)),
        *((number, step_text(step)) for number, step in enumerate(steps, start=1)),
    )
    return html_table(title, (("step", ""), ("what it does", "")), rows)


def plan_strategy(plan: RunPlan) -> str:
    """The strategy of a plan; `view` for a view, empty if there is nothing to do."""
    for step in plan.steps:
        if isinstance(step, Write):
            return step.strategy.strategy
        if isinstance(step, CreateView):
            return "view"
    return ""


def plan_inputs(plan: RunPlan) -> tuple[InputPin, ...]:
    """The tables that a plan reads, with their snapshots."""
    reading = (step for step in plan.steps if isinstance(step, Calculate | Replay))
    return tuple(dict.fromkeys(pin for step in reading for pin in step.inputs))


def step_text(step: RunStep) -> str:  # noqa: C901 - one case per step
    """What a step does."""
    match step:
        case OpenZone(zone, pattern, files):
            matching = f" that match {pattern!r}" if pattern else ""
            return (
                f"read {len(files)} {_files(files)} of {zone}{matching}{_names(files, zone.folder)}"
            )
        case Calculate(file, inputs):
            return f"run {file}{_over(inputs)}"
        case ReadBatch(batch):
            return f"read {len(batch.files)} {_files(batch.files)} of batch {batch.label or 'all'}"
        case ReadFolder(found):
            return f"read the Parquet files in {found.adoption.folder}"
        case TakeFiles():
            return "make the files part of the table as they are"
        case Replay():
            return (
                f"replay {step.number} of {step.of}: {_batch(step.batch)}, by"
                f" {step.strategy.strategy}{_over(step.inputs)}"
            )
        case Stage():
            return "compute the result once, into a hidden table"
        case CheckKeys(keys, order):
            ordered = f"; of repeated keys the newest by {order} wins" if order else ""
            return f"check the key {', '.join(keys)}: never NULL{ordered}"
        case PrepareSchema(policy, renames):
            called = (
                f"; publishing renames {', '.join(f'{old} to {new}' for old, new in renames)}"
                if renames
                else ""
            )
            return f"compare columns: {_POLICIES[policy]} ({policy}){called}"
        case EvolveArrangement(_, change):
            return f"{_arrangement(change)}: new files only"
        case CreateHidden():
            return "create the table under a hidden name"
        case OpenBranch(_, branch, _):
            return f"open the branch {branch}"
        case Write(_, _, True):
            return "replace all rows"
        case Write(_, strategy):
            return f"write by {strategy.strategy}: {strategy.sentence}{_by(strategy)}"
        case Execute(_, statement):
            return f"run the {statement.kind.upper()} on the branch"
        case DropStage():
            return "remove the hidden table"
        case RunGate(gate, later):
            consequence = "blocks" if gate.severity == "error" else "warns"
            when = ", once all of the build is written" if later else ""
            return (
                f"run the gate {gate.name}{when}"
                f" ({consequence}){f': {gate.description}' if gate.description else ''}"
            )
        case Rebase(table):
            return f"put the run's files on top of what others have appended to {table}"
        case CheckFirst():
            return "take back what was written, and check all files before writing again"
        case StartOver(_, times):
            return f"start over {_times(times)}"
        case TryAgain(_, times):
            return f"try again {_times(times)}"
        case TakeCare():
            return "rewrite small files and expire old snapshots, as far as that is due by then"
        case Publish(table, ref):
            return f"publish {table}: {ref} moves, and readers see the new rows"
        case PublishBatch(_, batch):
            return f"batch {batch.label or 'all'}{_of_files(batch)}"
        case CreateView(table):
            return f"create the view {table}"
        case ArchiveFiles(zone):
            return f"move files of {zone} that every reader has taken to _processed/"
        case BuildLayouts(_, names, rows):
            called = f" {', '.join(names)}" if names else ""
            if not rows:
                return f"make the layouts{called}, without rows: care builds them later"
            return f"build the layouts{called}: only batches that have changed"
        case _:
            assert_never(step)


def _times(count: int) -> str:
    return "once" if count == 1 else f"up to {count} times"


def condition_text(step: ConditionalStep) -> str:
    """When a step is done that need not be."""
    match step:
        case Rebase():
            return "if others have only appended rows meanwhile"
        case CheckFirst():
            return "if a file is not as it seems"
        case StartOver():
            return "if others have changed meanwhile what was read"
        case TryAgain():
            return "if it fails for a reason that may pass"
        case _:
            assert_never(step)


def _batch(batch: Batch) -> str:
    files = [file for chosen in batch.files.values() for file in chosen]
    run = (
        f" of the run {short_id(batch.run_id)} of {batch.at:%Y-%m-%d %H:%M}"
        if batch.at
        else " still waiting"
    )
    return f"{len(files)} {_files(files)}{run}"


def batch_lines(steps: Sequence[PublishBatch]) -> Iterator[str]:
    """The batches of a plan as text; of very many, the first and the last."""
    yield from map(step_text, steps[:_BATCHES_SHOWN])
    if len(steps) > _BATCHES_SHOWN:
        last = steps[-1].batch.label
        yield f"… and {len(steps) - _BATCHES_SHOWN} more batches, up to {last}"


def each_lines(plan: RunPlan) -> Iterator[str]:
    """The steps of the batches."""
    for alike in plan.each:
        makes = any(isinstance(step, CreateHidden) for step in alike.steps)
        yield f"{_batches(alike, plan)}{', which makes the table' if makes else ''}:"
        for number, step in enumerate(alike.steps, start=1):
            yield f"  {number:>2}. {step_text(step)}"


def _batches(alike: BatchSteps, plan: RunPlan) -> str:
    label = alike.first or "all"
    if alike.count == 1:
        return f"batch {label}"
    if alike.count == len(plan.batches):
        return "each batch"
    return f"each of {alike.count} batches, such as {label}"


def _of_files(batch: DueBatch) -> str:
    """A chunk of a backfill has none."""
    if batch.found:
        return f" ({batch.reason}): {batch.found.files:,} files, {format_size(batch.found.bytes)}"
    return ": its files are gone" if batch.reason == "gone" else ""


def _files(files: Collection[FileInfo]) -> str:
    return "file" if len(files) == 1 else "files"


def _names(files: Sequence[FileInfo], folder: str) -> str:
    if not files:
        return ""
    shown = [file.path.removeprefix(f"{folder}/") for file in files[:_SHOWN]]
    return f": {', '.join((*shown, '…') if len(files) > _SHOWN else shown)}"


def _over(inputs: Iterable[InputPin]) -> str:
    pins = [
        f"{pin.table} at {pin.snapshot}" if pin.snapshot else f"{pin.table} (no rows yet)"
        for pin in inputs
    ]
    return f" over {', '.join(pins)}" if pins else ""


def _arrangement(change: ArrangementChange) -> str:
    said = [
        f"{label} {', '.join(map(str, fields))}"
        for label, fields in (
            ("no longer partition by", change.drop),
            ("partition by", change.add),
            ("sort by", change.sort),
        )
        if fields
    ]
    return ", ".join((*said, "no longer sort") if change.sort == () else said)


def _by(strategy: Strategy) -> str:
    columns = (strategy.partition,) if strategy.partition else strategy.keys
    return f" (by {', '.join(columns)})" if columns else ""
