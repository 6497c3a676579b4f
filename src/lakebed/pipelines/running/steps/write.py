"""The steps that bring a result into its table: staged, checked, and written to the run's branch in one commit."""

from dataclasses import replace

from lakebed.errors import BadBatch, Diverged, RunFailed
from lakebed.names import TableName, spark_identifier
from lakebed.pipelines.planning.plan import is_staged
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.heal import set_back
from lakebed.pipelines.running.steps.calculate import at_source
from lakebed.pipelines.running.steps.evolve import layout_of_new, present_fields
from lakebed.pipelines.running.steps.strategy_checks import check_matches, counted, since, stamp_columns
from lakebed.ports import Field, Snapshot
from lakebed.sql import ChangeStatement
from lakebed.tables import (
    SchemaChange,
    backwards,
    create_branch,
    fresh_rows,
    kept,
    key_check,
    may_lose,
    offences,
    offending_keys,
    ordering,
    read_type,
    refuse_batch,
    renamed,
    row_counts,
    selection,
    statement_counts,
    strategy_under,
    tie_check,
    write_statement,
)
from lakebed.tables import text as quoted

LONGEST_MESSAGE = 500


def stage(work: ActiveRun) -> None:
    """Compute the result once, into a hidden table; should it be empty, what that means is decided."""
    compute_stage(work)
    apply_empty_policy(work)


def compute_stage(work: ActiveRun) -> None:
    """Compute the result once, into a hidden table."""
    ground = work.tools.ground
    ground.catalog.create_namespace(work.table.namespace, work.table.layer)
    place = ground.passing_place(work.stage)
    at_source(
        work.compiled,
        lambda: work.compute.create(work.frame, work.stage.spark, location=place, properties=ground.passing_properties()),
    )
    if work.order.hand:  # its frame may be another session's, whose snapshots would not carry the run's id
        work.frame = work.compute.query(f"SELECT * FROM {work.stage.spark}")
    head = work.metadata(work.stage).head()
    work.result_rows = (head.count("total-records") or 0) if head else 0


def apply_empty_policy(work: ActiveRun) -> None:
    """What an empty result means, as soon as it is known to be empty."""
    if work.result_rows == 0:
        refuse_empty(work)
        policy = work.spec.config.empty_policy
        work.skip_write = not work.first and (policy == "skip" or _means_nothing(work))


def refuse_empty(work: ActiveRun) -> None:
    """An empty result may have been said to be wrong."""
    if work.result_rows == 0 and work.spec.config.empty_policy == "fail":
        remedy = "say so by an UPDATE" if work.order.hand else "set on_empty to write or skip"
        raise BadBatch(
            "the result has no row.",
            where=work.spec.file,
            safe="The table is as it was.",
            next=f"If that is right, {remedy}.",
        )


def _means_nothing(work: ActiveRun) -> bool:
    """Whether an empty batch leaves a table as it is; absent keys mean something to some strategies."""
    strategy = work.spec.strategy
    return bool(is_staged(strategy)) and not work.setting.pins.full_refresh and not strategy.counts_absence


def check_keys(work: ActiveRun) -> None:
    """Refuse NULL keys, and repeated ones that have no order; names some of them."""
    strategy, staged = work.spec.strategy, work.stage.spark
    asked = key_check(strategy, staged=staged)
    if asked is None or not work.result_rows:
        return
    counts = counted(work, asked)
    if ties := tie_check(strategy, counts, staged=staged, columns=work.fields):
        counts |= counted(work, ties)
    work.keys = counts.get("keys")
    if offences(strategy, counts):
        examples = work.compute.rows(offending_keys(strategy, counts, staged=staged, columns=work.fields), limit=20)
        refuse_batch(strategy, counts, examples, table=str(work.table))


def create_hidden(work: ActiveRun, hidden: TableName) -> None:
    """The table of a first run, at its final place and under a name that nobody knows."""
    own = (Field(name, type_) for name, type_ in work.spec.strategy.own_columns)
    columns = ", ".join(_column(kept(field), work) for field in (*work.fields, *own))
    layout, ground = layout_of_new(work), work.tools.ground
    partition_by = [field.spark for field in layout.partition_by or ()]
    work.compute.execute(
        ground.creation_of(work.table, columns, hidden=hidden, partition_by=partition_by, is_sorted=bool(layout.sort_by))
    )
    if layout.sort_by:
        work.compute.execute(ordering(hidden, layout.sort_by))


def _column(field: Field, work: ActiveRun) -> str:
    declared = work.spec.config.columns.get(field.name)
    comment = f" COMMENT {quoted(declared.description)}" if declared and declared.description else ""
    return f"{spark_identifier(field.name)} {field.type}{comment}"


def open_branch(work: ActiveRun, at: int | None) -> None:
    """The run's own branch, from the state that it has read; one that would stay empty is not made."""
    if work.skip_write:
        return
    try:
        work.compute.execute(create_branch(work.table, work.branch, at=at))
    except RunFailed:
        head = work.metadata(work.table).head(work.order.ref)
        if (head.id if head else None) != at:  # others went on, and the state that was read is gone already
            raise Diverged(str(work.table), work.order.ref, work.branch) from None
        raise


def write(work: ActiveRun) -> None:
    """Bring the result in by the strategy: one commit, on the branch. What came of it is counted."""
    if work.skip_write:
        work.unchanged = True
        work.record = replace(work.record, rows={"result": work.result_rows or 0})
        return
    at_source(work.compiled, lambda: _write(work))
    made = _made(work)
    summary = dict(made.summary) if made else {}
    if work.result_rows is None:
        work.result_rows = int(summary.get("added-records", 0))
        apply_empty_policy(work)
        _take_back(work)
    touched = made is not None and made.changes_rows
    work.unchanged = not work.first and (work.skip_write or not (touched or work.change.at_publishing))
    counts = {"inserted": int(summary.get("added-records", 0))} if work.first else {}
    counts |= row_counts(work.spec.strategy, summary, staged_rows=work.result_rows, distinct_keys=work.keys, met=work.met)
    total = {"total": made.rows} if made and made.rows is not None else {}
    work.record = replace(work.record, rows={"result": work.result_rows, **counts, **total})


def _made(work: ActiveRun) -> Snapshot | None:
    """The snapshot that the run has written; None while it has written none."""
    head = work.head()
    return head if head and head.id != work.setting.target.base(work.order.ref) else None


def _take_back(work: ActiveRun) -> None:
    """A result that turned out to be empty, and is not written, leaves no column behind that was to take its values."""
    if work.skip_write and work.change.renames:
        set_back(work.record, work.tools, lease=work.held.lease)
        work.change, work.shown = SchemaChange(), ()


def _write(work: ActiveRun) -> None:
    strategy, compute = work.spec.strategy, work.compute
    anew = work.first or work.setting.pins.full_refresh
    stamp_columns(work)
    staged, repeats = work.stage.spark, work.keys != work.result_rows
    if is_staged(strategy) and not anew:
        merge(work, work.place, repeats=repeats)
        return
    rows, given = work.frame, work.fields
    if work.replayed:
        given = compute.fields(rows)
    elif is_staged(strategy):
        rows = compute.query(fresh_rows(strategy, staged=staged, columns=work.fields, now=work.now, repeats=repeats))
        given = compute.fields(rows)
    shaped = compute.select(rows, selection(given, present_fields(work), sources=dict(work.change.renames)))
    replaces = not work.first and (anew or strategy.strategy == "full_refresh")
    (compute.overwrite if replaces else compute.append)(shaped, work.place)


def merge(work: ActiveRun, place: str, *, repeats: bool, present: tuple[Field, ...] = ()) -> None:
    """One MERGE, in the words of the place: the staged batch is brought under the names and types that are `present` there.

    Nothing said, these are the table's.
    """
    back, staged, columns = backwards(work.change.renames), work.stage.spark, work.fields
    there = {field.name.casefold(): field for field in present or present_fields(work)}
    if back or any("<" in field.type or _may_lose(field, there.get(field.name.casefold())) for field in columns):
        columns = tuple(there[name.casefold()] for name in renamed([field.name for field in columns], back))
        chosen = selection(work.fields, columns, sources=dict(work.change.renames))
        staged = f"(SELECT {', '.join(chosen)} FROM {staged})"
    strategy = strategy_under(work.spec.strategy, back)
    check_matches(work, strategy, target=place, staged=staged, repeats=repeats)
    statement = write_statement(
        strategy, target=place, staged=staged, columns=columns, now=work.now, repeats=repeats, since=since(work, strategy)
    )
    if statement:
        work.log.info("write:\n%s", statement)
        work.compute.execute(statement)


def _may_lose(field: Field, target: Field | None) -> bool:
    return target is not None and may_lose(read_type(field.type), read_type(target.type))


def execute(work: ActiveRun, statement: ChangeStatement) -> None:
    """Run the statement on the branch, and count what it did."""
    place, alias = work.place, spark_identifier(work.table.name)
    text = statement.on(place, alias=alias)
    work.log.info("statement:\n%s", text)
    try:
        work.compute.execute(text)
    except RunFailed as error:
        what = statement.with_own_positions(error.what, place, alias=alias)
        raise RunFailed(what, where=error.where, next=error.next) from error
    made = _made(work)
    work.unchanged = made is None or not made.changes_rows
    rows = statement_counts(statement.kind, made, before=work.setting.target.rows(work.order.ref)) if made else {}
    told = " ".join(statement.on(str(work.table), alias="").split())
    work.record = replace(work.record, rows=rows, message=told[:LONGEST_MESSAGE])
