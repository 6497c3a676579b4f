"""The layouts that the tables of a query in Spark's SQL are read through."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lakebed.ports import Predicate
from lakebed.query.layouts.choosing import SourceScan
from lakebed.query.layouts.wish import LayoutWish
from lakebed.query.parsing.hints import LayoutHints, layout_hints
from lakebed.query.planning.plan import (
    ChosenLayout,
    LayoutChoice,
    PinnedTable,
    PlannedTable,
    ReadTarget,
)
from lakebed.query.planning.planner import QueryContext
from lakebed.query.request import TableReference
from lakebed.requests import QueryRequest

if TYPE_CHECKING:
    from sqlglot import exp

    from lakebed.query.spark_reads.reads import SparkRead
    from lakebed.sql.parsing.lexer import LexedText


@dataclass(frozen=True)
class SparkQuery:
    """A checked query: its words, its tree, and the tables that it reads."""

    reading: "LexedText"
    tree: "exp.Expr"
    reads: "tuple[SparkRead, ...]"


@dataclass(frozen=True)
class SparkTarget:
    """What a name stands for; `own`: the text itself says as of when."""

    reference: TableReference
    pinned: PinnedTable
    own: bool = False


class SparkLayouts:
    """Plans the tables of one query, and chooses layouts of them. Spark chooses the files."""

    def __init__(
        self,
        request: QueryRequest,
        query: SparkQuery,
        targets: Mapping[int, SparkTarget],
        context: QueryContext,
    ) -> None:
        self._request, self._query, self._targets = request, query, targets
        self._context = context

    def plan(self, read: "SparkRead") -> PlannedTable:
        """What the query reads of a table."""
        target = self._targets[read.start]
        part, pinned = target.reference.part, target.pinned
        predicate = self._predicate(read) if part == "rows" else None
        layout, choice = None, None
        if part == "rows" and not target.own:
            layout, choice = self._choose(read, pinned, predicate)
        return PlannedTable(
            pinned.table.parts,
            ReadTarget(pinned, part),
            predicate,
            layout=layout,
            choice=choice,
        )

    def _predicate(self, read: "SparkRead") -> Predicate | None:
        from lakebed.query.spark_reads.reads import spark_predicate

        if self._context.spark_setting:
            return None
        columns = {
            start: target.pinned.columns
            for start, target in self._targets.items()
            if target.reference.part == "rows"
        }
        return spark_predicate(read, columns, timezone=self._context.timezone)

    def _choose(
        self, read: "SparkRead", pinned: PinnedTable, predicate: Predicate | None
    ) -> tuple[ChosenLayout | None, LayoutChoice | None]:
        layouts = self._context.layouts
        if layouts is None or not layouts.chooser.may_have_layouts(pinned):
            return None, None
        scan = self._context.plan(pinned.pointer, pinned.snapshot_id, pinned.schema, predicate)
        needed = None if read.columns.all else read.columns.names
        source = SourceScan(pinned, scan, predicate, needed)
        return layouts.chooser.choose(source, self._wish)

    @cached_property
    def _wish(self) -> LayoutWish:
        hints, layouts = self._hints, self._context.layouts
        forced = (hints.use,) if hints.use else ()
        if not self._request.layouts or hints.off:
            return LayoutWish("HINT_OFF", forced, "spark")
        if _qualifies_fully(self._query.tree):
            return LayoutWish("UNPARSEABLE", forced, "spark")
        if layouts and layouts.settings.order == "strict" and self._in_order:
            return LayoutWish("ORDER_SENSITIVE", forced, "spark")
        return LayoutWish(None, forced, "spark")

    @cached_property
    def _hints(self) -> LayoutHints:
        return layout_hints(self._request.sql, spark=True)

    @property
    def _in_order(self) -> bool:
        from lakebed.query.ordering.spark_order import spark_order_sensitive

        pinned = [target.pinned for target in self._targets.values()]
        columns = {column.name for one in pinned for column in one.columns}
        why = spark_order_sensitive(self._query.reading, self._query.tree, columns=columns)
        return self._request.limit is not None or bool(why)


def _qualifies_fully(tree: "exp.Expr") -> bool:
    """Whether a column may be qualified with more than the last part of its table's name, which a
    subquery in its place does not have.
    """
    from sqlglot import exp

    return any(column.args.get("db") for column in tree.find_all(exp.Column))
