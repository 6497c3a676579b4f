"""Walking, and the shortest way to what a walk has found."""

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from tests.walks.themes import Theme
from tests.walks.walk import Step

MOST_REPLAYS = 80


def fault_of(theme: Theme, steps: Sequence[Step], folder: Path, seed: int) -> Exception | None:
    """What a walk of these steps, in a new folder, found; None if everything held."""
    folder.mkdir()
    walk = theme.new_walk(folder, seed)
    try:
        for step in steps:
            walk.perform(step, seed=seed)
        walk.end()
    except Exception as fault:  # whatever is not a refusal by Lakebed is a fault, too
        return fault
    finally:
        walk.close()
    return None


def kind_of(fault: Exception) -> str:
    """A fault without what differs from walk to walk."""
    return re.sub(r"(?s)[\d/\[].*", "", f"{type(fault).__name__}: {fault}")


def smallest(
    theme: Theme, steps: Sequence[Step], folder: Path, seed: int, *, kind: str
) -> tuple[Step, ...]:
    """A failing walk without the steps that it fails without: from the end, one at a time."""
    replays = count(1)
    left = list(steps)
    shorter = True
    while shorter:
        shorter = False
        for step in reversed(tuple(left)):
            tried = [other for other in left if other is not step]
            number = next(replays)
            if number > MOST_REPLAYS:
                return tuple(left)
            fault = fault_of(theme, tried, folder / f"replay-{number}", seed)
            if fault and kind_of(fault) == kind:
                left = tried
                shorter = True
    return tuple(left)


def require_nothing_lost(theme: Theme, folder: Path, seed: int) -> None:
    """Walk; if something was lost, doubled or deleted, say by which few steps."""
    steps = theme.steps(seed)
    fault = fault_of(theme, steps, folder / "walk", seed)
    if fault:
        few = smallest(theme, steps, folder, seed, kind=kind_of(fault))
        raise AssertionError(f"{theme.name}, seed {seed}, by {list(few)}") from fault
