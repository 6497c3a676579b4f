"""Column lineage by sqlglot, with tables under names that it supports."""

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.lineage import Node, lineage

from lakebed.errors.source_text import SourceText
from lakebed.sql.checking.scans import is_cte, is_function
from lakebed.sql.lineage.lineage import ColumnSource, Schemas, Sources
from lakebed.sql.parsing.lexer import lex
from lakebed.sql.parsing.parse import parse, quiet


def origins(text: str, schemas: Schemas, logical: Callable[[str], str]) -> dict[str, Sources]:
    """As `column_lineage`, except that errors are raised."""
    tree = parse(lex(SourceText(text, "lineage")))
    _spread(tree)
    _write_out_windows(tree)
    _write_out_pivots(tree)
    spelt = {
        node.name.casefold(): node.name for node in reversed(list(tree.find_all(exp.Identifier)))
    }
    tables = _rename_tables(tree, logical)
    known = {
        name: {column.casefold(): column for column in schemas.get(table, ())}
        for name, table in tables.items()
    }
    for columns in known.values():
        spelt |= columns
    schema = {name: dict.fromkeys(columns, "string") for name, columns in known.items() if columns}
    recursive = any(ctes.args.get("recursive") for ctes in tree.find_all(exp.With))
    with quiet():
        found = lineage(None, tree, schema, dialect="spark")
    return {
        spelt.get(column.casefold(), column): _sources(
            node, tables, known, spelt, recursive=recursive
        )
        for column, node in found.items()
    }


def _spread(tree: exp.Expr) -> None:
    """`inline(x) AS (a, b)` as two columns that both come from the function's argument."""
    for several in list(tree.find_all(exp.Aliases)):
        select = several.parent
        if isinstance(select, exp.Select):
            at = next(
                index
                for index, projection in enumerate(select.expressions)
                if projection is several
            )
            each = [exp.alias_(several.this.copy(), name.copy()) for name in several.expressions]
            select.set(
                "expressions", [*select.expressions[:at], *each, *select.expressions[at + 1 :]]
            )


def _write_out_windows(tree: exp.Expr) -> None:
    """`OVER w` with the partitions and order that WINDOW defines for w, which may refer to another
    window.
    """
    for window in [window for window in tree.find_all(exp.Window) if window.alias]:
        select = window.parent_select
        named = {
            each.name.casefold(): each
            for each in (select.args.get("windows") if select else None) or ()
        }
        meant = named.get(window.alias.casefold())
        meant = named.get(meant.alias.casefold(), meant) if meant else None
        for part in ("partition_by", "order"):
            if meant and meant.args.get(part):
                window.set(part, meant.copy().args[part])


def _write_out_pivots(tree: exp.Expr) -> None:
    """`sum(x) FOR y IN (…)` with y as a condition of the sum, since y decides which rows count."""
    for pivot in [pivot for pivot in tree.find_all(exp.Pivot) if not pivot.unpivot]:
        for aggregate in list(pivot.expressions):
            computed = aggregate.this if isinstance(aggregate, exp.Alias) else aggregate
            for field in pivot.fields:
                computed.replace(
                    exp.Filter(this=computed.copy(), expression=exp.Where(this=field.this.copy()))
                )


def _rename_tables(tree: exp.Expr, logical: Callable[[str], str]) -> dict[str, str]:
    """Rename every table to a name of one part, since sqlglot supports three at most; returns their
    meaning.
    """
    meanings: dict[str, str] = {}
    for table in [
        table for table in tree.find_all(exp.Table) if not is_function(table) and not is_cte(table)
    ]:
        parts = [part.name for part in table.parts]
        name = f"__table_{len(meanings)}"
        meanings[name] = logical(".".join(parts))
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
        table.set("this", exp.to_identifier(name))
        for part in ("db", "catalog", "version"):
            table.set(part, None)
    return meanings


def _sources(
    node: Node,
    tables: Mapping[str, str],
    known: Schemas,
    spelt: Mapping[str, str],
    *,
    recursive: bool,
) -> Sources:
    found: set[ColumnSource] = set()
    for leaf in node.walk():
        if leaf.downstream:
            continue
        if isinstance(leaf.expression, exp.Placeholder) and not recursive:
            return None  # the step of a recursion reads only what its start reads
        if isinstance(leaf.expression, exp.Table) and leaf.expression.name in tables:
            column = _column(leaf, known[leaf.expression.name], spelt)
            if column is None:
                return None
            found.add(ColumnSource(tables[leaf.expression.name], column))
    return tuple(sorted(found))


def _column(leaf: Node, columns: Mapping[str, str], spelt: Mapping[str, str]) -> str | None:
    """The column of a leaf; None for a star, and for a column that its table does not have."""
    column = exp.to_column(leaf.name)
    if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
        return None
    name = column.name.casefold()
    return columns.get(name) if columns else spelt.get(name, column.name)
