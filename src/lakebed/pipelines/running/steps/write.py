"""The steps that write a result to its table: staged, checked, and written to the run's branch in
one commit.
"""

from dataclasses import replace

from lakebed.errors import BadBatch, RunFailed
from lakebed.names import TableName, spark_identifier
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.heal import undo_failed_run
from lakebed.pipelines.running.steps.batches.state import one_file_at_a_time, record_batch
from lakebed.pipelines.running.steps.calculate import at_source
from lakebed.pipelines.running.steps.evolve import arrangement_of_new, fields_to_write
from lakebed.pipelines.running.steps.merge import merge
from lakebed.pipelines.running.steps.proving import prove_files
from lakebed.pipelines.running.steps.strategy_checks import (
    LONGEST_MESSAGE,
    counted,
    require_keys_of_range,
    require_matching_rows,
    stamp_columns,
)
from lakebed.ports import Field, Frame
from lakebed.quality import count_if_unique
from lakebed.sql import ChangeStatement
from lakebed.tables import (
    SchemaChange,
    as_stored,
    first_batch_rows,
    integer_key,
    key_check_query,
    offending_keys_query,
    order_statement,
    require_valid_keys,
    row_counts,
    selection,
    statement_counts,
    tie_check_query,
    violations,
)
from lakebed.tables import string_literal as quoted


def stage(run: ActiveRun) -> None:
    """Compute the result once, into a hidden table; then decide what an empty result means."""
    compute_stage(run)
    apply_empty_policy(run)


def compute_stage(run: ActiveRun) -> None:
    """Compute the result once, into a hidden table."""
    progress = run.progress
    at_source(progress.compiled, lambda: create_stage(run, progress.frame))
    prove_files(run)
    # its frame may be another session's, whose snapshots would not carry the run's id
    if run.options.manual_change:
        progress.frame = run.compute.query(f"SELECT * FROM {run.stage.spark}")
    head = run.metadata(run.stage).head()
    progress.result_rows = (head.count("total-records") or 0) if head else 0


def create_stage(run: ActiveRun, frame: Frame) -> None:
    """Create the hidden table with the rows of a frame."""
    placement = run.services.placement
    placement.ports.catalog.create_namespace(run.table.namespace, run.table.layer)
    key = integer_key(run.spec.strategy, run.progress.fields)
    run.compute.create_table(
        frame,
        run.stage.spark,
        location=placement.temporary_location(run.stage),
        properties=placement.temporary_properties(bounds_of=key),
    )


def apply_empty_policy(run: ActiveRun) -> None:
    """Apply the policy for empty results, as soon as the result is known to be empty."""
    if run.progress.result_rows == 0:
        require_rows(run)
        policy = run.spec.config.empty_policy
        run.progress.skip_write = not run.is_first_run and (policy == "skip" or _means_nothing(run))


def require_rows(run: ActiveRun) -> None:
    """Raise for an empty result if the pipeline says that it is an error."""
    if run.progress.result_rows == 0 and run.spec.config.empty_policy == "fail":
        remedy = (
            "say so by an UPDATE" if run.options.manual_change else "set on_empty to write or skip"
        )
        raise BadBatch(
            "the result has no row.",
            where=run.spec.file,
            safe="The table is unchanged.",
            next=f"If that is right, {remedy}.",
        )


def _means_nothing(run: ActiveRun) -> bool:
    """Whether an empty batch leaves the table unchanged; for some strategies absent keys have a
    meaning.
    """
    strategy = run.spec.strategy
    return (
        strategy.staged
        and not strategy.replaces_rows
        and not run.context.pins.full_refresh
        and not strategy.absence_matters
    )


def check_keys(run: ActiveRun) -> None:
    """Refuse NULL keys, and repeated keys without an order; the error names some of them."""
    progress = run.progress
    strategy, staged = run.spec.strategy, run.stage.spark
    asked = key_check_query(strategy, staged=staged)
    if asked is None or not progress.result_rows:
        return
    counts = _unique_counts(run) or counted(run, asked)
    if ties := tie_check_query(strategy, counts, staged=staged, columns=progress.fields):
        counts |= counted(run, ties)
    progress.keys = counts.get("keys")
    if violations(strategy, counts):
        examples = run.compute.rows(
            offending_keys_query(strategy, counts, staged=staged, columns=progress.fields), limit=20
        )
        require_valid_keys(strategy, counts, examples, table=str(run.table))


def _unique_counts(run: ActiveRun) -> dict[str, int]:
    """What the key check counts, found faster where integer keys lie close together and are unique;
    else empty.
    """
    key = integer_key(run.spec.strategy, run.progress.fields)
    rows = key and count_if_unique(key, source=run.stage.spark, compute=run.compute)
    return {"rows": rows, "null_keys": 0, "keys": rows, "repeated": 0} if rows else {}


def create_hidden(run: ActiveRun, hidden: TableName) -> None:
    """Create the table of a first run, at its final location and under a hidden name."""
    own = (Field(name, type_) for name, type_ in run.spec.strategy.own_columns)
    columns = ", ".join(_column(as_stored(field), run) for field in (*run.progress.fields, *own))
    layout, placement = arrangement_of_new(run), run.services.placement
    partition_by = [field.spark for field in layout.partition_by or ()]
    run.compute.execute(
        placement.create_statement(
            run.table,
            columns,
            hidden=hidden,
            partition_by=partition_by,
            is_sorted=bool(layout.sort_by),
        )
    )
    if layout.sort_by:
        run.compute.execute(order_statement(hidden, layout.sort_by))
    if run.context.pins.source_batch:
        run.compute.execute(one_file_at_a_time(hidden))


def _column(field: Field, run: ActiveRun) -> str:
    declared = run.spec.config.columns.get(field.name)
    comment = (
        f" COMMENT {quoted(declared.description)}" if declared and declared.description else ""
    )
    return f"{spark_identifier(field.name)} {field.type}{comment}"


def write(run: ActiveRun) -> None:
    """Write the result by the strategy, in one commit on the branch, and count its rows."""
    progress = run.progress
    if progress.skip_write:
        progress.unchanged = True
        progress.record = replace(progress.record, rows={"result": progress.result_rows or 0})
        return
    at_source(progress.compiled, lambda: _write(run))
    prove_files(run)
    made = run.made
    summary = dict(made.summary) if made else {}
    if progress.result_rows is None:
        progress.result_rows = int(summary.get("added-records", 0))
        apply_empty_policy(run)
        _take_back(run)
    # an empty batch is one, too: what it was made from must be known
    touched = made is not None and (made.changes_rows or bool(run.context.pins.replaced))
    progress.unchanged = not run.is_first_run and (
        progress.skip_write or not (touched or progress.schema_change.at_publishing)
    )
    counts = {"inserted": int(summary.get("added-records", 0))} if run.is_first_run else {}
    counts |= row_counts(
        run.spec.strategy,
        summary,
        staged_rows=progress.result_rows,
        distinct_keys=progress.keys,
        met=progress.key_matches,
    )
    total = {"total": made.rows} if made and made.rows is not None else {}
    progress.record = replace(
        progress.record, rows={"result": progress.result_rows, **counts, **total}
    )


def _take_back(run: ActiveRun) -> None:
    """Remove the columns that were added for a result that turned out to be empty and is not
    written.
    """
    progress = run.progress
    if progress.skip_write and progress.schema_change.renames:
        undo_failed_run(progress.record, run.services, lease=run.held.lease)
        progress.schema_change, progress.aliases = SchemaChange(), ()


def _write(run: ActiveRun) -> None:
    progress = run.progress
    strategy, compute = run.spec.strategy, run.compute
    rebuilt = run.is_first_run or run.context.pins.full_refresh
    stamp_columns(run)
    staged, repeats = run.stage.spark, progress.keys != progress.result_rows
    if strategy.staged and not (rebuilt or strategy.replaces_rows):
        merge(run, run.write_target, repeats=repeats)
        return
    rows, given = progress.frame, progress.fields
    if progress.replayed:
        given = compute.fields(rows)
    elif strategy.staged:
        rows = compute.query(
            first_batch_rows(
                strategy,
                staged=staged,
                columns=progress.fields,
                now=run.timestamp_literal,
                repeats=repeats,
            )
        )
        given = compute.fields(rows)
    chosen = selection(given, fields_to_write(run), sources=dict(progress.schema_change.renames))
    where = strategy.condition
    if where is not None and strategy.checks_condition:
        where = require_matching_rows(run, where, chosen)
    shaped = compute.select(rows, chosen)
    if strategy.range_column is not None and strategy.condition is not None:
        require_keys_of_range(run, column=strategy.range_column, where=strategy.condition)
    if run.context.pins.replaced:
        record_batch(run, run.context.pins.replaced)
    if run.is_first_run or not (rebuilt or strategy.replaces_rows):
        compute.append(shaped, run.write_target)
    elif where is not None and strategy.replaces_files:
        compute.replace_files(shaped, run.write_target, where=where)
    else:
        compute.overwrite(shaped, run.write_target, where=where)


def execute(run: ActiveRun, statement: ChangeStatement) -> None:
    """Run the statement on the branch, and count the rows it changed."""
    progress = run.progress
    place, alias = run.write_target, spark_identifier(run.table.name)
    text = statement.on(place, alias=alias)
    run.log.info("statement:\n%s", text)
    try:
        run.compute.execute(text)
    except RunFailed as error:
        what = statement.with_own_positions(error.what, place, alias=alias)
        raise RunFailed(what, where=error.where, next=error.next) from error
    made = run.made
    progress.unchanged = made is None or not made.changes_rows
    rows = (
        statement_counts(statement.kind, made, before=run.context.target.rows(run.options.ref))
        if made
        else {}
    )
    told = " ".join(statement.on(str(run.table), alias="").split())
    progress.record = replace(progress.record, rows=rows, message=told[:LONGEST_MESSAGE])
