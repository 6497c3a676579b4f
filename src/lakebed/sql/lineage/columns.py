"""Columns that a query uses and that certainly do not exist, and those it returns.

Unclear cases are left to Spark.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from lakebed.errors import BadPipeline, near, suggestion
from lakebed.sql.checking.functions import spark_functions
from lakebed.sql.checking.scans import is_function
from lakebed.sql.checking.tree import place
from lakebed.sql.lineage.projection import (
    CLAUSES_AFTER,
    Names,
    Scope,
    aliases,
    expressions_of,
    has,
    is_star_of,
    own_names,
    parts,
    projected,
    renamed,
)
from lakebed.sql.parsing.lexer import LexedText

_CHANGE_COLUMNS = ("pivots", "laterals", "joins")
# ORDER BY ALL, and what GROUP BY CUBE adds
_NO_COLUMNS = {"all", "grouping__id", "spark_grouping_id"}
_SHOWN = 8


@dataclass
class _Reader:
    reading: LexedText
    tables: Mapping[str, Names]
    ctes: dict[str, Names] = field(default_factory=dict)
    outer: tuple[Scope, ...] = ()

    def returned(self, node: exp.Expr | None) -> Names:
        """The columns that a query returns; everything in it is checked on the way."""
        if node is None:
            return None
        inside = self._with_ctes(node)
        match node:
            case exp.Select():
                return inside._select(node)
            case exp.SetOperation():
                names = inside.returned(node.this)
                inside.returned(node.expression)
                return names
            case exp.Subquery():
                names = inside.returned(node.this)
                return None if has(node, "pivots") else names
            case _:
                return None

    def _with_ctes(self, node: exp.Expr) -> "_Reader":
        listed = node.args.get("with_")
        if not listed:
            return self
        inside = replace(self, ctes=dict(self.ctes))
        for cte in listed.expressions:
            name = cte.alias.casefold()
            if listed.args.get("recursive"):
                inside.ctes[name] = None
            names = inside.returned(cte.this)
            inside.ctes[name] = None if listed.args.get("recursive") else renamed(names, cte)
        return inside

    def _select(self, select: exp.Select) -> Names:
        sources = tuple(self._sources(select))
        scope = Scope(sources, frozenset(aliases(select)))
        inside = replace(self, outer=(scope, *self.outer))
        for part in parts(select):
            inside._look_at(part)
        # Spark names none of them
        if all(own_names(one) or is_star_of(one, select) for one in select.expressions):
            returned = frozenset(name for one in select.expressions for name in own_names(one))
            after = replace(
                self, outer=(replace(scope, aliases=scope.aliases | returned), *self.outer)
            )
            for part in expressions_of(select, CLAUSES_AFTER):
                after._look_at(part)
        return projected(select, scope)

    def _sources(self, select: exp.Select) -> Iterator[tuple[str, Names]]:
        clause, joins = select.args.get("from_"), select.args.get("joins") or ()
        for source in (*([clause.this] if clause else ()), *(join.this for join in joins)):
            yield source.alias_or_name, self._source(source)
        if has(select, "laterals", "pivots"):
            yield "", None

    def _source(self, source: exp.Expr) -> Names:
        if isinstance(source, exp.Subquery):
            names = self.returned(source)
        elif isinstance(source, exp.Table) and not is_function(source):
            names = self._table(source)
        else:
            names = None
        return None if has(source, *_CHANGE_COLUMNS) else renamed(names, source)

    def _table(self, table: exp.Table) -> Names:
        parts = [part.name for part in table.parts]
        if len(parts) == 1 and parts[0].casefold() in self.ctes:
            return self.ctes[parts[0].casefold()]
        return self.tables.get(".".join(parts))

    def _look_at(self, node: exp.Expr) -> None:
        """Check the columns of an expression, and the queries inside it separately."""
        if isinstance(node, exp.Query):
            self.returned(node)
            return
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            if error := self._missing(node):
                raise error
            return
        for child in node.iter_expressions():
            self._look_at(child)

    def _missing(self, column: exp.Column) -> BadPipeline | None:
        parts = [part.name for part in column.parts]
        if (
            len(parts) > 2
            or parts[-1].startswith("_")
            or not all(scope.is_known for scope in self.outer)
        ):
            return None
        known = [name for scope in self.outer for name in (*scope.columns, *scope.aliases)]
        folded = {name.casefold() for name in known}
        first = parts[0].casefold()
        # window.start is a field, user a call
        if first in folded or first in spark_functions() or first in _NO_COLUMNS:
            return None
        if len(parts) == 1:
            return self._error(column, parts[0], known)
        named = next((found for scope in self.outer if (found := scope.named(first))), [])
        if len(named) > 1:
            return None
        if not named:
            aliases = [alias for scope in self.outer for alias, _ in scope.sources]
            return self._error(column, parts[0], aliases, kind="table or column")
        has = named[0] or ()
        return (
            None
            if parts[1].casefold() in {name.casefold() for name in has}
            else self._error(column, parts[1], has)
        )

    def _error(
        self, column: exp.Column, name: str, known: Iterable[str], *, kind: str = "column"
    ) -> BadPipeline:
        names = tuple(dict.fromkeys(filter(None, known)))
        listed = ", ".join((*names[:_SHOWN], "…") if len(names) > _SHOWN else names)
        advice = suggestion(near(name, names)) or (
            f"There are: {listed}." if listed else "No table is read here."
        )
        return self.reading.source.error_at(
            f"there is no {kind} {name}.", at=place(column), next=advice
        )


def check_columns(reading: LexedText, tree: exp.Expr, tables: Mapping[str, Names]) -> Names:
    """The columns that a query returns, if known; refused if it uses one that its tables do not
    have.

    `tables` are the columns of tables by the names in the text, without quotes and version
    (`lake.shop.silver.orders`).
    """
    if "|>" in reading.bare:  # the parser rewrites such queries
        return None
    try:
        return _Reader(reading, tables).returned(tree)
    except (RecursionError, AttributeError, TypeError):  # an unknown kind of tree: left to Spark
        return None
