"""Themes: which steps a walk takes, and how often each."""

import random
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.walks.walk import Step, Walk

MOST_REPLAYS = 80
NewWalk = Callable[[Path, int], Walk]


@dataclass(frozen=True)
class Theme:
    """Every walk begins with the same steps, then draws so many more by weight."""

    name: str
    begin: Sequence[str]
    weights: Mapping[str, int]
    length: int
    new_walk: NewWalk  # in a new folder, for a seed

    def steps(self, seed: int) -> tuple[Step, ...]:
        chance = random.Random(seed)
        names = [name for name, weight in self.weights.items() for _ in range(weight)]
        drawn = [*self.begin, *(chance.choice(names) for _ in range(self.length))]
        return tuple(Step(name, number) for number, name in enumerate(drawn, start=1))


def failure_of(theme: Theme, steps: Sequence[Step], folder: Path, seed: int) -> str:
    """What a walk of these steps found; empty if everything held."""
    folder.mkdir()
    walk = theme.new_walk(folder, seed)
    try:
        for step in steps:
            walk.perform(step, seed=seed)
        walk.end()
    except Exception:  # whatever is not a refusal by Lakebed is a fault, too
        return traceback.format_exc()
    finally:
        walk.close()
    return ""


def kind_of(failure: str) -> str:
    """The last line of a failure without what differs from walk to walk."""
    return re.sub(r"[\d/\[].*", "", failure.strip().rpartition("\n")[2])


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
            failure = failure_of(theme, tried, folder / f"replay-{number}", seed)
            if failure and kind_of(failure) == kind:
                left = tried
                shorter = True
    return tuple(left)


def require_nothing_lost(theme: Theme, folder: Path, seed: int) -> None:
    """Walk; if something was lost, doubled or deleted, say by which few steps."""
    steps = theme.steps(seed)
    failure = failure_of(theme, steps, folder / "walk", seed)
    if failure:
        few = smallest(theme, steps, folder, seed, kind=kind_of(failure))
        raise AssertionError(f"{theme.name}, seed {seed}, by {list(few)}:\n{failure}")
