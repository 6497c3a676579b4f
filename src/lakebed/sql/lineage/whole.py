"""Whether a query reads every row of a relation."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

# what a SELECT may have: anything that could leave rows of its source unread is not among it
_HARMLESS = {
    "expressions", "from", "from_", "group", "having", "laterals", "order", "where", "windows",
    "with", "with_",
}  # fmt: skip


def reads_every_row(text: str, relation: str) -> bool:
    """Whether a query reads the relation exactly once and to its end, whatever it does with the
    rows. Joins, unions, DISTINCT, LIMIT and subqueries in expressions are taken to do otherwise.
    """
    from sqlglot import exp

    from lakebed.errors.source_text import SourceText
    from lakebed.sql.parsing.lexer import lex
    from lakebed.sql.parsing.parse import parse

    tree = parse(lex(SourceText(text, "query")))
    named = {cte.alias.casefold(): cte.this for cte in tree.find_all(exp.CTE)}
    steps = 0
    query: exp.Expr | None = None if relation.casefold() in named else tree
    while isinstance(query, exp.Select) and _present(query) <= _HARMLESS:
        steps += 1
        source = _source(query)
        if isinstance(source, exp.Subquery) and _present(source) <= {"this", "alias"}:
            query = source.this
        elif isinstance(source, exp.Table) and _present(source) <= {"this", "alias"}:
            if source.name == relation:
                return steps == len(list(tree.find_all(exp.Select, exp.SetOperation, exp.Values)))
            query = named.pop(source.name.casefold(), None)
        else:
            return False
    return False


def _present(node: "exp.Expr") -> set[str]:
    return {name for name, value in node.args.items() if value}


def _source(select: "exp.Select") -> "exp.Expr | None":
    found = select.args.get("from_") or select.args.get("from")
    return found.this if found else None
