"""Looks at the layouts of a table that a query reads, and chooses among them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lakebed.derived.identity import DERIVED_TABLES, ReadMetadata
from lakebed.derived.look import LayoutLooks, LayoutState
from lakebed.errors import LakebedError
from lakebed.ports import Pointer, Predicate, Scan, TableMetadata
from lakebed.query.layouts.arms import Arms, LayoutFiles, restricted, split_files
from lakebed.query.layouts.choose import LayoutDecision, LayoutOffer, choose, refusal
from lakebed.query.layouts.cost import OPEN_COST, FileCosts, file_costs
from lakebed.query.layouts.known_labels import KnownLabels
from lakebed.query.layouts.verdict import LayoutReason
from lakebed.query.layouts.wish import LayoutWish
from lakebed.query.planning.plan import ChosenLayout, LayoutChoice, PinnedTable


class PlanScan(Protocol):
    """Plans a scan, or gives the one that was planned before."""

    def __call__(
        self,
        pointer: Pointer,
        snapshot: int | None,
        schema: int,
        predicate: Predicate | None,
        *,
        columns: tuple[str, ...] | None = None,
    ) -> Scan: ...


@dataclass(frozen=True)
class SourceScan:
    """A table as a query would read it without layouts, and the columns that the query needs; None:
    all.
    """

    pinned: PinnedTable
    scan: Scan
    predicate: Predicate | None = None
    needed: Collection[str] | None = None


class LayoutChooser:
    """Chooses the layouts that queries of a lake read."""

    def __init__(self, looks: LayoutLooks, plan: PlanScan, metadata: ReadMetadata) -> None:
        self._looks, self._plan, self._metadata = looks, plan, metadata
        self._labels = KnownLabels()

    def may_have_layouts(self, pinned: PinnedTable) -> bool:
        """Whether a table has any layout to look at, as far as its own metadata says."""
        return DERIVED_TABLES in pinned.metadata.properties

    def choose(
        self, source: SourceScan, wish: LayoutWish
    ) -> tuple[ChosenLayout | None, LayoutChoice | None]:
        """The layout to read, or None for the table itself; and what was considered, if there is
        any layout.
        """
        states = self._states(source.pinned)
        if not states:
            return None, None
        costs = _costs(source.scan, source, source.pinned.metadata, wish)
        offers = [self._offer(state, source, wish) for state in states]
        whole = costs.measure(source.scan.files)
        decision = choose(whole, costs, [offer for offer, _ in offers], forced=wish.forced)
        return _chosen(decision, offers, source), LayoutChoice(whole, decision.verdicts)

    def _states(self, pinned: PinnedTable) -> tuple[LayoutState, ...]:
        """The layouts of a table. If they cannot be looked at, the table itself can be read."""
        if not self.may_have_layouts(pinned):
            return ()
        try:
            return self._looks.look(pinned.pointer, pinned.metadata, metadata=self._metadata)
        except LakebedError:
            return ()

    def _offer(
        self, state: LayoutState, source: SourceScan, wish: LayoutWish
    ) -> tuple[LayoutOffer, Scan | None]:
        """What reading through a layout would be, and the scan of the layout."""
        reason = _refused(state, source.pinned, wish)
        if reason:
            return LayoutOffer(state, reason), None
        try:
            scan = self._scan(state, source)
        except LakebedError:  # its files are damaged; the table's are not
            return LayoutOffer(state, "TAINTED"), None
        arms = split_files(
            self._files(state, scan, source), source.scan, only_plain_parts=wish.engine == "duckdb"
        )
        costs = _costs(scan, source, state.layout.metadata, wish)
        prunes = len(scan.files) < scan.total_files
        return LayoutOffer(state, arms, costs, prunes, scan.total_files), scan

    def _scan(self, state: LayoutState, source: SourceScan) -> Scan:
        """The layout's files for the same condition, with the columns as the table has them."""
        layout, head = state.layout, state.layout.metadata.head()
        return self._plan(
            layout.pointer,
            head.id if head else None,
            layout.metadata.schema,
            source.predicate,
            columns=tuple(column.name for column in source.scan.columns),
        )

    def _files(self, state: LayoutState, scan: Scan, source: SourceScan) -> LayoutFiles:
        fresh, names = state.freshness, state.layout.spec.batch_columns
        if state.states.incomplete:  # it may have batches that its snapshots do not tell of
            fresh = replace(fresh, covers=False)
        return LayoutFiles(
            scan,
            fresh,
            self._labels.of(state.layout.metadata.columns, names),
            self._labels.of(source.pinned.columns, names),
        )


def _refused(state: LayoutState, pinned: PinnedTable, wish: LayoutWish) -> LayoutReason | None:
    if wish.refused:
        return wish.refused
    if not is_present(pinned):
        return "TIME_TRAVEL"
    found = refusal(state, pinned.metadata)
    if found or wish.engine == "duckdb":
        return found
    # Spark reads a snapshot with the columns that it was written with.
    metadata, head = state.layout.metadata, state.layout.metadata.head()
    return None if head and metadata.schema_at(head) == metadata.schema else "SCHEMA_DRIFT"


def is_present(pinned: PinnedTable) -> bool:
    """Whether a table is read as it is now."""
    metadata = pinned.metadata
    is_now = pinned.snapshot == metadata.head() and pinned.schema == metadata.schema
    return pinned.present and is_now


def _costs(scan: Scan, source: SourceScan, metadata: TableMetadata, wish: LayoutWish) -> FileCosts:
    return file_costs(
        scan.columns,
        source.needed,
        sort_by=metadata.sort_by,
        predicate=source.predicate,
        open_cost=OPEN_COST[wish.engine],
    )


def _chosen(
    decision: LayoutDecision,
    offers: Sequence[tuple[LayoutOffer, Scan | None]],
    source: SourceScan,
) -> ChosenLayout | None:
    if decision.taken is None:
        return None
    offer, scan = offers[decision.taken]
    arms, layout = offer.arms, offer.state.layout
    if scan is None or not isinstance(arms, Arms):
        return None
    metadata = layout.metadata
    return ChosenLayout(
        layout.name,
        PinnedTable(layout.pointer, metadata, metadata.head(), metadata.schema),
        scan if arms.whole else restricted(scan, arms.layout),
        restricted(source.scan, arms.source) if arms.source else None,
        whole=arms.whole,
        batch_columns=layout.spec.batch_columns,
        batches=tuple(sorted(arms.batches)),
        rest_batches=tuple(sorted(arms.source_batches)),
    )
