"""What a strategy requires of an existing table before it writes: rows that its key identifies, and
columns that it knows.
"""

from collections.abc import Sequence
from dataclasses import replace

from lakebed.batches.chunks import fits
from lakebed.errors import BadBatch, near, suggestion
from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import OWN_COLUMNS
from lakebed.sql import check_condition
from lakebed.tables import (
    Strategy,
    apply_renames,
    duplicate_keys_query,
    guess_owned_columns,
    inverse_renames,
    keys_elsewhere_query,
    match_check_query,
    outside_examples,
    outside_query,
    own_columns_summary,
    owned_columns,
    refuse_duplicate_keys,
    refuse_keys_elsewhere,
    refuse_outside,
    require_compatible_strategy,
    time_literal,
)
from lakebed.types import read_table_type

LONGEST_MESSAGE = 500
_COMPARE = "Keep rows from batch_start on and before batch_end: WHERE at >= {{ batch_start }} AND …"


def refuse_unfit_strategy(run: ActiveRun) -> None:
    """Refuse a strategy that would corrupt the rows of a table written by another one."""
    metadata, renames = run.context.target.metadata, run.context.target.renames
    if metadata is None:
        return
    empty = _replaces(run) or not run.context.target.rows(run.options.ref)
    require_compatible_strategy(
        run.spec.strategy,
        () if empty else apply_renames(_owned(run), renames),
        run.progress.fields,
        policy=run.spec.config.schema_policy,
        there=apply_renames([column.name for column in metadata.columns], renames),
        table=run.table,
    )


def stamp_columns(run: ActiveRun) -> None:
    """Record in the snapshot which of the table's columns its strategy added, for later writes with
    another strategy.
    """
    own, target = [name for name, _ in run.spec.strategy.own_columns], run.context.target
    known = (
        None
        if target.metadata is None
        else owned_columns(target.metadata, target.base(run.options.ref))
    )
    if run.is_first_run or _replaces(run) or own:
        run.compute.set_snapshot_property(OWN_COLUMNS, own_columns_summary(own))
    elif known is not None:
        run.compute.set_snapshot_property(
            OWN_COLUMNS, own_columns_summary(apply_renames(known, target.renames))
        )


def _replaces(run: ActiveRun) -> bool:
    return run.context.pins.full_refresh or run.spec.strategy.rebuilds_all


def _owned(run: ActiveRun) -> tuple[str, ...]:
    """The columns that the table's own strategy added, according to its snapshots, its pipeline, or
    the columns' names.
    """
    metadata = run.context.target.metadata
    if metadata is None:
        return ()
    known = owned_columns(metadata, run.context.target.base(run.options.ref))
    if known is not None:
        return known
    pipeline, there = (
        run.context.specs.get(run.table, run.spec),
        {column.name for column in metadata.columns},
    )
    own = tuple(name for name, _ in pipeline.strategy.own_columns)
    return (
        own if own and there.issuperset(own) else guess_owned_columns(metadata, run.progress.fields)
    )


def check_matches(
    run: ActiveRun, strategy: Strategy, *, target: str, staged: str, repeats: bool
) -> None:
    """Refuse arriving keys that match several rows of the table, because it is unknown which one is
    meant; count late rows.
    """
    progress = run.progress
    asked = match_check_query(strategy, target=target, staged=staged, repeats=repeats)
    if asked is None or not progress.result_rows:
        return
    progress.key_matches = counted(run, asked)
    if doubled := progress.key_matches["doubled"]:
        examples = run.compute.rows(
            duplicate_keys_query(strategy, target=target, staged=staged, repeats=repeats), limit=20
        )
        refuse_duplicate_keys(strategy, doubled, examples, table=str(run.table))


def counted(run: ActiveRun, query: str) -> dict[str, int]:
    """The numbers of a query of one row."""
    (found,) = run.compute.rows(query, limit=1)
    return {name: int(value or 0) for name, value in found.items()}


def since(run: ActiveRun, strategy: Strategy) -> str | None:
    """Since when rows are valid that were there before the table became a history: since its last
    change, if that is known.
    """
    metadata = run.context.target.metadata
    head = metadata.head(run.options.ref) if metadata else None
    became = strategy.valid_from in {field.name for field in run.progress.schema_change.add}
    return time_literal(head.at) if became and head else None


def check_overwrite(run: ActiveRun, condition: str) -> None:
    """Refuse a condition on columns that neither the table nor the frame has; note it in the run's
    record.
    """
    metadata, progress = run.context.target.metadata, run.progress
    there = [column.name for column in metadata.columns] if metadata else []
    named = [field.name for field in progress.fields]
    known = dict.fromkeys((*apply_renames(there, run.context.target.renames), *named))
    check_condition(condition, columns=tuple(known), functions=run.context.functions)
    told = f"overwrite where {' '.join(condition.split())}"
    progress.record = replace(progress.record, message=told[:LONGEST_MESSAGE])


def check_range(run: ActiveRun, column: str) -> None:
    """Refuse a result without the column of the range, or with one of another type."""
    chunk, fields = run.context.pins.chunk, run.progress.fields
    found = next((one for one in fields if one.name.casefold() == column.casefold()), None)
    if chunk is None:
        return
    if found is None:
        what = f"the backfill is over {column!r}, and the result has no such column."
        advice = suggestion(near(column, [field.name for field in fields]))
        raise BadBatch(what, where=run.spec.file, safe="Nothing was written.", next=advice)
    if not fits(chunk.kind, read_table_type(found.type)):
        what = f"the column {found.name!r} is {found.type}, and the range {chunk.label} is not."
        advice = "Write start and end as values of that type, or choose another batch_column."
        raise BadBatch(what, where=run.spec.file, safe="Nothing was written.", next=advice)


def require_keys_of_range(run: ActiveRun, *, column: str, where: str) -> None:
    """Refuse arriving keys that the table has outside of the range: it would have them twice."""
    strategy, staged = run.spec.strategy, run.stage.spark
    if run.is_first_run or not strategy.one_row_per_key or not run.progress.result_rows:
        return
    asked = keys_elsewhere_query(strategy.keys, where=where, target=run.gate_target, staged=staged)
    if examples := run.compute.rows(asked, limit=5):
        refuse_keys_elsewhere(strategy.keys, examples, column=column, table=str(run.table))


def require_matching_rows(run: ActiveRun, condition: str, chosen: Sequence[str]) -> str:
    """Refuse arriving rows that the condition does not match; `chosen` brings them under the
    table's present names and types.

    Returns the condition under these names.
    """
    checked = check_condition(condition)
    back = dict(inverse_renames(run.progress.schema_change.renames))
    where = checked.renamed(back)
    rows = f"(SELECT {', '.join(chosen)} FROM {run.stage.spark})"
    (found,) = run.compute.fields(run.compute.query(f"SELECT (\n{where}\n) AS holds FROM {rows}"))
    if found.type != "boolean":
        raise BadBatch(
            f"the condition gives {found.type}, not true or false.",
            where=str(run.table),
            safe="The table is unchanged.",
            next="Compare it with something.",
        )
    if outside := counted(run, outside_query(rows, where))["outside"]:
        columns = apply_renames(checked.columns, tuple(back.items()))
        examples = run.compute.rows(outside_examples(rows, where, columns), limit=20)
        told = {"next": _COMPARE} if run.spec.strategy.range_column else {}
        refuse_outside(outside, examples, where=condition, table=str(run.table), **told)
    return where
