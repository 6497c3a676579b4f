"""Which columns of a relation a query passes through unchanged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class PassedColumns:
    """Which columns of a relation a query returns unchanged. Names are casefolded."""

    all: bool = False  # by a star
    sources: Mapping[str, str] = field(default_factory=dict)  # empty for what is something else

    def source(self, name: str) -> str:
        """The relation's column that a column of the result is; empty if it is something else."""
        folded = name.casefold()
        return self.sources.get(folded, folded if self.all else "")

    def has(self, name: str) -> bool:
        """Whether a column is returned under its own name."""
        return self.source(name) == name.casefold()


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
    sources: dict[str, str] = {}
    for name, source in (_projected(projection, own) for projection in tree.expressions):
        sources[name] = source if sources.get(name, source) == source else ""
    return PassedColumns(all=sources.pop("*", "") == "*", sources=sources)


def _read(select: "exp.Select") -> "exp.Table | None":
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    return source.this if source and isinstance(source.this, exp.Table) else None


def _projected(projection: "exp.Expr", own: set[str]) -> tuple[str, str]:
    """The name of a column of the result, and the relation's column that it is; `*` for all."""
    from sqlglot import exp

    name, inner = projection.alias_or_name.casefold(), projection.unalias()
    if isinstance(inner, exp.Star):
        return "*", "*" if "" in own else ""
    if not isinstance(inner, exp.Column):
        return name, ""
    if isinstance(inner.this, exp.Star):
        name = "*"
    is_own = inner.table.casefold() in own
    return name, inner.name.casefold() if is_own else ""
