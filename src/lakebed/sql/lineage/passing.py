"""Which columns of a relation a query passes through unchanged."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class PassedColumns:
    """Columns that a query returns unchanged under their own names. Names are casefolded."""

    all: bool = False  # by a star
    names: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()  # names with which the result has something else

    def has(self, name: str) -> bool:
        return (self.all or name.casefold() in self.names) and name.casefold() not in self.other


NOTHING_PASSED = PassedColumns()


def passed_columns(text: str, relation: str) -> PassedColumns:
    """The columns that a plain SELECT from the relation passes through; none for any other
    query.
    """
    from sqlglot import exp

    from lakebed.errors.source_text import SourceText
    from lakebed.sql.parsing.lexer import lex
    from lakebed.sql.parsing.parse import parse

    tree = parse(lex(SourceText(text, "query")))
    table = _read(tree) if isinstance(tree, exp.Select) and not tree.ctes else None
    if table is None or table.name != relation or table.args.get("db") or table.args.get("pivots"):
        return NOTHING_PASSED
    alone = not (tree.args.get("joins") or tree.args.get("laterals"))
    own = {table.alias_or_name.casefold(), *([""] if alone else [])}
    found = [_projected(projection, own) for projection in tree.expressions]
    return PassedColumns(
        any(name == "*" for name, passed in found if passed),
        frozenset(name for name, passed in found if passed),
        frozenset(name for name, passed in found if not passed),
    )


def _read(select: "exp.Select") -> "exp.Table | None":
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    return source.this if source and isinstance(source.this, exp.Table) else None


def _projected(projection: "exp.Expr", own: set[str]) -> tuple[str, bool]:
    """The name of a column of the result, `*` for all, and whether it is the relation's column of
    that name.
    """
    from sqlglot import exp

    name, inner = projection.alias_or_name.casefold(), projection.unalias()
    if isinstance(inner, exp.Star):
        return "*", "" in own
    if not isinstance(inner, exp.Column):
        return name, False
    if isinstance(inner.this, exp.Star):
        return "*", inner.table.casefold() in own
    return name, inner.table.casefold() in own and inner.name.casefold() == name
