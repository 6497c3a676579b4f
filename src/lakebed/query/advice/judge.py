"""Layouts that do not pay. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lakebed.derived import LayoutSpec
from lakebed.query.advice.workload import ReadPattern, TableWorkload

Fault = Literal["no_pruning_gain", "unused", "costs_more"]


@dataclass(frozen=True)
class PresentLayout:
    """A layout that exists, or is declared only: then nothing was written. `saves` are the bytes
    that a read of each pattern saves by it.
    """

    spec: LayoutSpec
    bytes: int = 0
    written: int = 0  # bytes, by builds while the log was written
    saves: Mapping[ReadPattern, float] | None = None
    exists: bool = True

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


def judge(
    layout: PresentLayout, workload: TableWorkload | None, source: "Sequence[str]", order: Sequence[str]
) -> Judgement | None:
    """What is to be said against a layout of a table with these partitions and this order; None:
    nothing.
    """
    uses = workload.uses.get(layout.name, {}) if workload else {}
    reads = sum(uses.values())
    saves = layout.saves or {}
    saved = int(sum(count * max(saves.get(pattern, 0.0), 0.0) for pattern, count in uses.items()))
    if only_reorders(layout.spec, source, order):
        return Judgement(layout, "no_pruning_gain", reads, saved)
    if not layout.exists or not workload or not workload.reads:
        return None
    if not reads:
        return Judgement(layout, "unused", 0, 0)
    return Judgement(layout, "costs_more", reads, saved) if saved < layout.written else None


def only_reorders(spec: LayoutSpec, source: Sequence[str], order: Sequence[str]) -> bool:
    """Whether a layout has the partitions of its table in another order, and no sort order of its
    own: Iceberg prunes by each field alone, so no query reads fewer files of it.
    """
    fields = {str(field).casefold() for field in spec.fields}
    sorted_so = [str(term).casefold() for term in spec.order]
    same_order = not sorted_so or sorted_so == [term.casefold() for term in order]
    return same_order and fields == {field.casefold() for field in source}
