"""Merging a staged batch into the place where a run writes: one MERGE, with its checks."""

from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.pipelines.running.steps.evolve import fields_to_write
from lakebed.pipelines.running.steps.strategy_checks import check_matches, since
from lakebed.ports import Field
from lakebed.tables import (
    Strategy,
    apply_renames,
    inverse_renames,
    matched_once,
    may_lose_digits,
    merge_counts,
    merge_shows_duplicates,
    rename_strategy_columns,
    selection,
    write_statement,
)
from lakebed.types import read_table_type


def merge(run: ActiveRun, place: str, *, repeats: bool, present: tuple[Field, ...] = ()) -> None:
    """One MERGE: the staged batch is converted to the names and types that are `present` where it
    is written; by default, the table's.
    """
    progress = run.progress
    back, staged, columns = (
        inverse_renames(progress.schema_change.renames),
        run.stage.spark,
        progress.fields,
    )
    there = {field.name.casefold(): field for field in present or fields_to_write(run)}
    if back or any(
        "<" in field.type or _may_lose(field, there.get(field.name.casefold())) for field in columns
    ):
        columns = tuple(
            there[name.casefold()]
            for name in apply_renames([field.name for field in columns], back)
        )
        chosen = selection(progress.fields, columns, sources=dict(progress.schema_change.renames))
        staged = f"(SELECT {', '.join(chosen)} FROM {staged})"
    strategy = rename_strategy_columns(run.spec.strategy, back)
    shows_duplicates = place == run.write_target and merge_shows_duplicates(strategy)
    if not shows_duplicates:
        check_matches(run, strategy, target=place, staged=staged, repeats=repeats)
    statement = write_statement(
        strategy,
        target=place,
        staged=staged,
        columns=columns,
        now=run.timestamp_literal,
        repeats=repeats,
        since=since(run, strategy),
    )
    if statement:
        run.log.info("write:\n%s", statement)
        run.compute.execute(statement)
    # A MERGE leaves every row of a key in its place: the branch answers as the table would have.
    if shows_duplicates and not _matched_once(run, strategy):
        check_matches(run, strategy, target=place, staged=staged, repeats=repeats)


def _matched_once(run: ActiveRun, strategy: Strategy) -> bool:
    made = run.made
    counts = merge_counts(strategy, made.summary) if made else {}
    return matched_once(counts, arrived=run.progress.result_rows or 0)


def _may_lose(field: Field, target: Field | None) -> bool:
    return target is not None and may_lose_digits(
        read_table_type(field.type), read_table_type(target.type)
    )
