"""What a plan reads: for each table the files considered, those read, and why, as fixed codes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lakebed.ports import Always, And, Comparison, In, IsNull, Not, Or, Predicate, Scan, StartsWith
from lakebed.query.layouts.verdict import LayoutVerdict
from lakebed.query.parsing.tree import MentionedColumns, mentioned_columns
from lakebed.query.planning.plan import (
    CatalogView,
    PlannedTable,
    QueryPlan,
    SystemTable,
)

Reason = Literal[
    "NO_SNAPSHOT",
    "NO_CONDITION",
    "NOTHING_PRUNED",
    "PRUNED",
    "ALL_PRUNED",
    "LAYOUT",
    "METADATA",
    "OWN",
    "BY_SPARK",
    "VIEW_BY_SPARK",
    "VIEW_BY_DUCKDB",
]
How = Literal["parquet", "iceberg", "nothing", "metadata", "view", "spark"]

REASONS: dict[Reason, str] = {
    "NO_SNAPSHOT": "the table has no snapshot yet: there is no file to read",
    "NO_CONDITION": "no condition of the query can prune files: all are read",
    "NOTHING_PRUNED": "every file may hold matching rows",
    "PRUNED": "files that certainly hold no matching row are skipped",
    "ALL_PRUNED": "no file holds a matching row",
    "LAYOUT": "a layout of the table is read, and the table itself only for stale batches",
    "METADATA": "answered from the table's metadata: no data file is read",
    "OWN": "a table that Lakebed keeps about itself",
    "BY_SPARK": "Spark chooses the files itself",
    "VIEW_BY_SPARK": (
        "a view that Spark answers, because not all of its SQL is known to mean the same in DuckDB"
    ),
    "VIEW_BY_DUCKDB": (
        "a view that DuckDB answers, over the tables below: all of its SQL means the same there"
    ),
}


@dataclass(frozen=True)
class TableExplanation:
    """One table of a query."""

    table: str
    reason: Reason
    how: How
    snapshot: int | None = None
    files: int = 0
    total_files: int = 0
    bytes: int = 0
    total_bytes: int = 0
    rows: int = 0  # in the files that are read: the result cannot have more
    condition: str = ""
    columns: tuple[str, ...] = ()
    why: str = ""  # why a view takes Spark
    layout: str = ""  # that is read instead of the table, or of a part of it
    layouts: tuple[LayoutVerdict, ...] = ()  # that were considered
    # of reading the table itself, as in a `LayoutVerdict`; 0 if it has no layouts
    source_needed_bytes: int = 0
    source_cost: int = 0


def explain_plan(plan: QueryPlan) -> tuple[TableExplanation, ...]:
    """Every table of a plan, in the order of the text."""
    named = (
        mentioned_columns(plan.tree)
        if plan.tree is not None
        else MentionedColumns(frozenset(), all=True)
    )
    return tuple(
        one for view in plan.tables for one in (_explain_table(view, named), *_tables_of_view(view))
    )


def _tables_of_view(view: PlannedTable) -> tuple[TableExplanation, ...]:
    """The tables of a view."""
    return (
        explain_plan(view.target.source.plan)
        if isinstance(view.target.source, CatalogView) and view.target.source.plan
        else ()
    )


def _explain_table(view: PlannedTable, named: MentionedColumns) -> TableExplanation:
    what, scan = view.target.source, view.scan
    if isinstance(what, SystemTable):
        return TableExplanation(".".join(what.name), "OWN", "metadata")
    if isinstance(what, CatalogView):
        return TableExplanation(
            str(what.name), *_BY_SPARK if what.why else _BY_DUCKDB, why=what.why
        )
    snapshot = what.snapshot_id
    if scan is None and view.target.part == "rows":
        found = TableExplanation(str(what.table), "BY_SPARK", "spark", snapshot)
        return _with_choice(found, view)
    if scan is None:
        return TableExplanation(
            f"{what.table}${view.target.part}", "METADATA", "metadata", snapshot
        )
    read = [one for _, one in view.reads]
    found = TableExplanation(
        str(what.table),
        _reason(view, scan),
        _how(read),
        snapshot,
        sum(len(one.files) for one in read),
        scan.total_files,
        sum(one.bytes for one in read),
        scan.total_bytes,
        sum(one.rows for one in read),
        predicate_text(view.predicate) if view.predicate else "",
        tuple(
            column.name
            for column in what.columns
            if named.all or column.name.casefold() in named.names
        ),
    )
    return _with_choice(found, view)


def _with_choice(found: TableExplanation, view: PlannedTable) -> TableExplanation:
    choice = view.choice
    if choice is None:
        return found
    return replace(
        found,
        condition=predicate_text(view.predicate) if view.predicate else "",
        layout=view.layout.name if view.layout else "",
        layouts=choice.verdicts,
        source_needed_bytes=choice.source.needed,
        source_cost=choice.source.cost,
    )


def _how(read: Sequence[Scan]) -> How:
    if not any(scan.files for scan in read):
        return "nothing"
    return "parquet" if all(scan.plain for scan in read) else "iceberg"


_BY_SPARK: tuple[Reason, How] = ("VIEW_BY_SPARK", "spark")
_BY_DUCKDB: tuple[Reason, How] = ("VIEW_BY_DUCKDB", "view")


def _reason(view: PlannedTable, scan: Scan) -> Reason:
    if scan.snapshot is None:
        return "NO_SNAPSHOT"
    if view.layout:
        return "LAYOUT"
    if view.predicate is None:
        return "NO_CONDITION"
    if not scan.files and scan.total_files:
        return "ALL_PRUNED"
    return "PRUNED" if len(scan.files) < scan.total_files else "NOTHING_PRUNED"


def predicate_text(predicate: Predicate) -> str:
    """A predicate, readable for people."""
    match predicate:
        case Comparison(column, op, value):
            return f"{column} {op} {_value(value)}"
        case IsNull(column, negated):
            return f"{column} is {'not ' if negated else ''}null"
        case In(column, values, negated):
            return f"{column} {'not ' if negated else ''}in ({', '.join(map(_value, values))})"
        case StartsWith(column, prefix, negated):
            return f"{column} {'does not begin' if negated else 'begins'} with {prefix!r}"
        case And(parts):
            return " and ".join(
                f"({predicate_text(part)})" if isinstance(part, Or) else predicate_text(part)
                for part in parts
            )
        case Or(parts):
            return " or ".join(predicate_text(part) for part in parts)
        case Not(part):
            return f"not ({predicate_text(part)})"
        case Always(value):
            return str(value).lower()


def _value(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)
