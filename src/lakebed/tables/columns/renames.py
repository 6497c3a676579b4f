"""Renames of columns: declared by a pipeline, and pending as long as the table has the old name.

Pure.
"""

from collections.abc import Collection, Sequence

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.tables.merging.strategies import Strategy

Renames = tuple[tuple[str, str], ...]
"""Pairs of the old and the new name."""


def rename_conflict(renames: Renames) -> str:
    """Why these renames contradict each other; empty if they do not."""
    olds, news = (
        [name.casefold() for name in names]
        for names in (zip(*renames, strict=True) if renames else ((), ()))
    )
    for old, new in renames:
        if old.casefold() == new.casefold():
            return f"{old} is renamed to itself"
        if olds.count(old.casefold()) > 1:
            return f"{old} gets two new names"
        if news.count(new.casefold()) > 1:
            return f"two columns become {new}"
        if old.casefold() in news:
            return f"{old} is renamed and is itself the new name of another column"
    return ""


def pending_renames(present: Collection[str], declared: Renames, *, where: str) -> Renames:
    """The renames still to be made on a table with these columns, in its spelling; made ones may
    stay declared.
    """
    there = {name.casefold(): name for name in present}
    due = []
    for old, new in declared:
        has_old, has_new = old.casefold() in there, new.casefold() in there
        if has_old and has_new:
            what = f"{old} is renamed to {new}, and the table has both columns."
            raise BadPipeline(what, where=where, next=f"Choose another name, or drop {new} first.")
        if not has_old and not has_new:
            what = f"{old} is renamed to {new}, and the table has neither column."
            raise BadPipeline(
                what, where=where, next=suggestion(near(old, present)) or "Remove the rename."
            )
        if has_old:
            due.append((there[old.casefold()], new))
    return tuple(due)


def apply_renames(names: Sequence[str], renames: Renames) -> tuple[str, ...]:
    """The names as they are after the renames."""
    by_old = {old.casefold(): new for old, new in renames}
    return tuple(by_old.get(name.casefold(), name) for name in names)


def inverse_renames(renames: Renames) -> Renames:
    """From the new names to the old ones."""
    return tuple((new, old) for old, new in renames)


def rename_strategy_columns(strategy: Strategy, renames: Renames) -> Strategy:
    """The strategy after its columns were renamed."""
    named = {name: value for name, value in strategy if name != "strategy"}
    lists = {
        name: apply_renames(value, renames)
        for name, value in named.items()
        if isinstance(value, tuple)
    }
    single = {
        name: apply_renames((value,), renames)[0]
        for name, value in named.items()
        if isinstance(value, str)
    }
    return strategy.model_copy(update=lists | single)
