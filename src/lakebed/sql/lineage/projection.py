"""The sources of a SELECT, and the names of the columns it returns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

Names = tuple[str, ...] | None  # None: unknown
_CLAUSES = ("where", "group", "windows")
# these may also refer to columns that the SELECT returns
CLAUSES_AFTER = ("having", "order", "sort", "cluster", "distribute")


@dataclass(frozen=True)
class Scope:
    """The names a SELECT can use: its sources by alias, and its own aliases."""

    sources: tuple[tuple[str, Names], ...]
    aliases: frozenset[str]

    @property
    def is_known(self) -> bool:
        return all(names is not None for _, names in self.sources)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for _, names in self.sources for name in names or ())

    def named(self, alias: str) -> list[Names]:
        return [names for name, names in self.sources if name.casefold() == alias.casefold()]


def has(node: exp.Expr, *clauses: str) -> bool:
    return any(node.args.get(clause) for clause in clauses)


def parts(select: exp.Select) -> Iterator[exp.Expr]:
    """The expressions of a SELECT that use columns of its sources, without those inside the
    sources.
    """
    yield from select.expressions
    yield from expressions_of(select, _CLAUSES)
    yield from (on for join in select.args.get("joins") or () if (on := join.args.get("on")))


def expressions_of(select: exp.Select, clauses: Iterable[str]) -> Iterator[exp.Expr]:
    for clause in clauses:
        found = select.args.get(clause)
        yield from found if isinstance(found, list) else [found] if found else ()


def is_star_of(projection: exp.Expr, select: exp.Select) -> bool:
    """Whether it is a star over a source, not over the fields of a struct."""
    if isinstance(projection, exp.Star):
        return True
    sources = [select.args.get("from_"), *(select.args.get("joins") or ())]
    aliases = {source.this.alias_or_name.casefold() for source in sources if source}
    if not isinstance(projection, exp.Column) or not isinstance(projection.this, exp.Star):
        return False
    return projection.table.casefold() in aliases


def aliases(select: exp.Select) -> Iterator[str]:
    """Aliases of a SELECT's columns, which other columns may use, and parameters of its lambdas."""
    for projection in select.expressions:
        yield from own_names(projection) if isinstance(projection, exp.Alias | exp.Aliases) else ()
    for function in select.find_all(exp.Lambda):
        yield from (given.name for given in function.expressions)


def own_names(projection: exp.Expr) -> tuple[str, ...]:
    """The name of a column of a SELECT; none where Spark makes it up, or where there are
    several.
    """
    match projection:
        case exp.Aliases():
            return tuple(name.name for name in projection.expressions)
        case exp.Alias():
            return (projection.alias,)
        case exp.Column() if not isinstance(projection.this, exp.Star):
            return (projection.name,)
        case _:
            return ()


def renamed(names: Names, source: exp.Expr) -> Names:
    """The names that an alias gives: `t(a, b)`."""
    alias = source.args.get("alias")
    given = (
        tuple(column.name for column in alias.args.get("columns") or ())
        if isinstance(alias, exp.TableAlias)
        else ()
    )
    return given or names


def projected(select: exp.Select, scope: Scope) -> Names:
    found: list[str] = []
    for projection in select.expressions:
        names = _names_of(projection, scope)
        if names is None:
            return None
        found += names
    return tuple(found)


def _names_of(projection: exp.Expr, scope: Scope) -> Names:
    match projection:
        case exp.Star():
            return scope.columns if scope.is_known and scope.sources else None
        case exp.Column() if isinstance(projection.this, exp.Star):
            named = scope.named(projection.table)
            return named[0] if len(named) == 1 and len(projection.parts) == 2 else None
        case _:
            return own_names(projection) or None
