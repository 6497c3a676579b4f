"""Layouts that do not pay. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lakebed.derived import LayoutSpec
from lakebed.query.advice.workload import ReadPattern, TableWorkload

Fault = Literal["no_pruning_gain", "unused", "costs_more"]


@dataclass(frozen=True)
class PresentLayout:
    """A layout that exists, or one that is only declared. `saves` are the bytes that a read of each
    pattern saves by it; `only_reorders`: it has the partitions of its table, in another order.
    """

    spec: LayoutSpec
    bytes: int = 0
    written: int = 0  # bytes, by builds since the log begins
    saves: Mapping[ReadPattern, float] = field(default_factory=dict)
    exists: bool = True
    only_reorders: bool = False

    @property
    def name(self) -> str:
        return self.spec.label


@dataclass(frozen=True)
class Judgement:
    """Why a layout does not pay."""

    layout: PresentLayout
    fault: Fault
    reads: int  # of the log that used it
    saved: int  # bytes
    of: int = 0  # reads of its table in the log
    days: int = 0  # on which these were


def judge(layout: PresentLayout, workload: TableWorkload | None) -> Judgement | None:
    """What is to be said against a layout; None: nothing."""
    uses = workload.uses.get(layout.name, {}) if workload else {}
    reads = sum(uses.values())
    saved = int(sum(count * max(layout.saves.get(one, 0.0), 0.0) for one, count in uses.items()))
    if layout.only_reorders:
        return Judgement(layout, "no_pruning_gain", reads, saved)
    if not layout.exists or not workload or workload.is_thin:
        return None
    seen = (workload.reads, workload.days)
    if not reads:
        return Judgement(layout, "unused", 0, 0, *seen)
    return Judgement(layout, "costs_more", reads, saved, *seen) if saved < layout.written else None
