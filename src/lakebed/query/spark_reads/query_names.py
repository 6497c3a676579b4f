"""What a name in Spark's SQL means: the sources of a FROM, and their columns.

Spark ignores case in names, and refuses a name that two columns of a FROM have, unless USING or
NATURAL made one of them.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from lakebed.ports import Column
from lakebed.query.parsing.parse_nodes import folded
from lakebed.query.spark_reads.column_tests import NameInQuery

FindColumn: TypeAlias = Callable[[NameInQuery], Column | None]


@dataclass(frozen=True)
class QuerySource:
    """A source of a FROM; `start` is where a table's name begins in the text, None for others."""

    qualifier: str
    start: int | None = None


def may_be_same(name: str) -> str:
    """Names that Spark might take for the same have the same result, however it folds letters."""
    letters = unicodedata.normalize("NFKD", name)
    return "".join(one for one in letters if not unicodedata.combining(one)).upper().casefold()


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """The sources of a FROM, in the order of the text."""
    clause = select.args.get("from_")
    joined = [join.this for join in select.args.get("joins") or ()]
    return [*([clause.this] if clause else ()), *joined, *(select.args.get("laterals") or ())]


def select_over(source: exp.Expr) -> exp.Select | None:
    """The SELECT in whose FROM something is; None if it is elsewhere, such as in brackets."""
    clause = source.parent
    if not isinstance(clause, exp.From | exp.Join):
        return None
    return clause.parent if isinstance(clause.parent, exp.Select) else None


def merges_columns(select: exp.Select) -> bool:
    """Whether a join makes one column of two with the same name."""
    return any(
        join.args.get("using") or join.args.get("method") for join in select.args.get("joins") or ()
    )


def is_alone(source: exp.Expr, select: exp.Select) -> bool:
    """Whether no other source of the FROM may have its qualifier."""
    own = may_be_same(source.alias_or_name)
    return [may_be_same(one.alias_or_name) for one in sources_of(select)].count(own) == 1


def column_finder(
    own: int,
    sources: Sequence[QuerySource],
    columns: Mapping[int, Sequence[Column]],
    *,
    merged: bool,
) -> FindColumn:
    """Finds the column of the table at `own` that a name means.

    `columns` are those of the tables, by where they begin; `merged` says that a name may mean a
    column that a join made of two.
    """
    others = [columns.get(one.start) for one in sources if one.start not in (None, own)]
    unknown = any(one.start is None for one in sources) or None in others
    elsewhere = {may_be_same(column.name) for one in others for column in one or ()}
    qualifiers = [may_be_same(one.qualifier) for one in sources]
    mine = next((one.qualifier for one in sources if one.start == own), "")

    def find(name: NameInQuery) -> Column | None:
        qualifier, column = name
        if qualifier and (
            folded(qualifier) != folded(mine) or qualifiers.count(may_be_same(mine)) != 1
        ):
            return None
        if not qualifier and (may_be_same(column) in elsewhere or (merged and unknown)):
            return None
        same = [one for one in columns[own] if may_be_same(one.name) == may_be_same(column)]
        return same[0] if len(same) == 1 and folded(same[0].name) == folded(column) else None

    return find
