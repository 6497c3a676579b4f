"""Who is told how work goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lakebed.work.plan import Plan, Step

S = TypeVar("S", bound=Step)
R = TypeVar("R")
OnProgress = Callable[[int, int], None]  # how much of a step is done, of how much in all


def _ignore(*_: Any) -> None:
    """For whoever does not listen."""


@dataclass(frozen=True)
class Listener(Generic[S, R]):
    """Callbacks of one piece of work; each is optional. `R` is the record kept of a step."""

    on_plan: Callable[[Plan[S]], None] = _ignore
    on_start: Callable[[S], None] = _ignore
    on_progress: OnProgress = _ignore
    on_end: Callable[[S, R], None] = _ignore
