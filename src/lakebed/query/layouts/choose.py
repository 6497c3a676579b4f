"""The layout that a query reads instead of a table: one that is certainly right, and clearly
cheaper. Pure.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lakebed.derived.look import LayoutState
from lakebed.ports import Column, TableMetadata
from lakebed.query.layouts.arms import Arms
from lakebed.query.layouts.cost import FileCosts, ReadCost
from lakebed.query.layouts.verdict import LayoutReason, LayoutVerdict

MARGIN = 0.8  # a layout must cost at most so much of what the source costs


@dataclass(frozen=True)
class LayoutOffer:
    """What reading through a layout would be: the files, or why it is refused."""

    state: LayoutState
    arms: Arms | LayoutReason
    costs: FileCosts | None = None
    prunes: bool = False  # the query's conditions leave out files of it
    total_files: int = 0

    @property
    def name(self) -> str:
        return self.state.layout.name


@dataclass(frozen=True)
class LayoutDecision:
    """The offer that is taken, by its place, or None for the source; and a verdict for each."""

    taken: int | None
    verdicts: tuple[LayoutVerdict, ...]


def refusal(state: LayoutState, source: TableMetadata) -> LayoutReason | None:
    """Why a layout is not right for any query of the source's present state; None if it may be."""
    fresh = state.freshness
    if fresh.tainted:
        return "TAINTED"
    if not state.states.batches or state.layout.metadata.head() is None:
        return "NOT_BUILT"
    if not _same_columns(state.layout.metadata.columns, source.columns):
        return "SCHEMA_DRIFT"
    if fresh.fresh:
        return None
    return "SCHEMA_DRIFT" if "drift" in fresh.stale.values() else "STALE"


def _same_columns(layout: Sequence[Column], source: Sequence[Column]) -> bool:
    """Whether a layout has every column of its source, with the same type."""
    known = {column.name: column.type for column in layout}
    return all(known.get(column.name) == column.type for column in source)


def choose(
    source: ReadCost,
    source_costs: FileCosts,
    offers: Sequence[LayoutOffer],
    *,
    forced: Collection[str] = (),
) -> LayoutDecision:
    """The cheapest offer, if it is clearly cheaper than the source. A layout that is `forced` is
    taken wherever it is right.
    """
    names = {name.casefold() for name in forced}
    costs = [_cost(offer, source_costs) for offer in offers]
    asked = [place for place, offer in enumerate(offers) if offer.name.casefold() in names]
    able = [place for place in asked or range(len(offers)) if costs[place] is not None]
    best = min(able, key=lambda place: _order(costs[place]), default=None)
    if best is not None and not asked and not _pays(costs[best], source):
        best = None
    verdicts = (
        _verdict(offer, cost, taken=place == best)
        for place, (offer, cost) in enumerate(zip(offers, costs, strict=True))
    )
    return LayoutDecision(best, tuple(verdicts))


def _order(cost: ReadCost | None) -> tuple[int, int]:
    return (cost.cost, cost.files) if cost else (0, 0)


def _pays(cost: ReadCost | None, source: ReadCost) -> bool:
    return cost is not None and source.cost > 0 and cost.cost <= MARGIN * source.cost


def _cost(offer: LayoutOffer, source_costs: FileCosts) -> ReadCost | None:
    if isinstance(offer.arms, str) or offer.costs is None:
        return None
    return offer.costs.measure(offer.arms.layout) + source_costs.measure(offer.arms.source)


def _verdict(offer: LayoutOffer, cost: ReadCost | None, *, taken: bool) -> LayoutVerdict:
    layout, fresh = offer.state.layout, offer.state.freshness
    found = LayoutVerdict(
        layout.name,
        str(layout.table),
        "refused",
        offer.arms if isinstance(offer.arms, str) else "COST_HIGHER",
        total_files=offer.total_files,
        fresh_batches=len(fresh.fresh),
        stale_batches=len(fresh.stale),
    )
    if cost is None or isinstance(offer.arms, str):
        return found
    return replace(
        found,
        verdict="chosen" if taken else "possible",
        reason=_reason(offer, offer.arms, taken=taken),
        files=cost.files,
        bytes=cost.bytes,
        needed_bytes=cost.needed,
        cost=cost.cost,
        source_files=len(offer.arms.source),
    )


def _reason(offer: LayoutOffer, arms: Arms, *, taken: bool) -> LayoutReason:
    if taken:
        return "HYBRID" if arms.source else "CHOSEN"
    return "COST_HIGHER" if offer.prunes else "NO_PRUNING_GAIN"
