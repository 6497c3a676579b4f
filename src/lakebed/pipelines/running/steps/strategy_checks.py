"""What a strategy asks of the table that is there, before it writes: rows that can be told apart, and columns that it knows."""

from lakebed.pipelines.running.active_run import ActiveRun
from lakebed.ports import OWN_COLUMNS
from lakebed.tables import (
    Scd2,
    Strategy,
    doubled_keys,
    likely_owned,
    match_check,
    owned_columns,
    refuse_doubled,
    refuse_strategy,
    renamed,
    stamp_of,
    time_literal,
)


def refuse_unfit_strategy(work: ActiveRun) -> None:
    """Refuse a strategy that would falsify the rows of a table which another one wrote."""
    metadata, renames = work.setting.target.metadata, work.setting.target.renames
    if metadata is None:
        return
    empty = _replaces(work) or not work.setting.target.rows(work.order.ref)
    refuse_strategy(
        work.spec.strategy,
        () if empty else renamed(_owned(work), renames),
        work.fields,
        policy=work.spec.config.schema_policy,
        there=renamed([column.name for column in metadata.columns], renames),
        table=work.table,
    )


def stamp_columns(work: ActiveRun) -> None:
    """Note in the snapshot which of the table's columns its strategy added, for whoever writes by another."""
    own, target = [name for name, _ in work.spec.strategy.own_columns], work.setting.target
    known = None if target.metadata is None else owned_columns(target.metadata, target.base(work.order.ref))
    if work.first or _replaces(work) or own:
        work.compute.stamp(OWN_COLUMNS, stamp_of(own))
    elif known is not None:
        work.compute.stamp(OWN_COLUMNS, stamp_of(renamed(known, target.renames)))


def _replaces(work: ActiveRun) -> bool:
    return work.setting.pins.full_refresh or work.spec.strategy.strategy == "full_refresh"


def _owned(work: ActiveRun) -> tuple[str, ...]:
    """The columns that the table's own strategy added: as its snapshots say, its pipeline, or its columns' names."""
    metadata = work.setting.target.metadata
    if metadata is None:
        return ()
    known = owned_columns(metadata, work.setting.target.base(work.order.ref))
    if known is not None:
        return known
    pipeline, there = work.setting.specs.get(work.table, work.spec), {column.name for column in metadata.columns}
    own = tuple(name for name, _ in pipeline.strategy.own_columns)
    return own if own and there.issuperset(own) else likely_owned(metadata, work.fields)


def check_matches(work: ActiveRun, strategy: Strategy, *, target: str, staged: str, repeats: bool) -> None:
    """Refuse arriving keys that the table has in several rows, for nothing says which is meant; count the late ones."""
    asked = match_check(strategy, target=target, staged=staged, repeats=repeats)
    if asked is None or not work.result_rows:
        return
    work.met = counted(work, asked)
    if doubled := work.met["doubled"]:
        examples = work.compute.rows(doubled_keys(strategy, target=target, staged=staged, repeats=repeats), limit=20)
        refuse_doubled(strategy, doubled, examples, table=str(work.table))


def counted(work: ActiveRun, query: str) -> dict[str, int]:
    """The numbers of a query of one row."""
    (found,) = work.compute.rows(query, limit=1)
    return {name: int(value or 0) for name, value in found.items()}


def since(work: ActiveRun, strategy: Strategy) -> str | None:
    """When rows began to hold that were there before the table became a history: at its last change, as far as is known."""
    metadata = work.setting.target.metadata
    head = metadata.head(work.order.ref) if metadata else None
    became = isinstance(strategy, Scd2) and strategy.scd_valid_from in {field.name for field in work.change.add}
    return time_literal(head.at) if became and head else None
