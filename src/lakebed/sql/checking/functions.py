"""The functions of Spark and Iceberg, and calls of unknown ones.

`functions.json` lists those of the pinned versions.
"""

import json
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise

from sqlglot import exp

from lakebed.errors import near, suggestion
from lakebed.names import CATALOG
from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind
from lakebed.sql.parsing.syntax import grammar

_LIST = "https://spark.apache.org/docs/latest/api/sql/"
_ICEBERG = (CATALOG, "system")
_BUILTIN = (("system", "builtin"), ("builtin",))


@cache
def spark_functions() -> frozenset[str]:
    """Spark's functions, in lower case."""
    return frozenset(_listed()["spark"])


@cache
def spark_aggregates() -> frozenset[str]:
    """Spark's functions of many rows: aggregates and window functions."""
    return frozenset(_listed()["aggregates"])


@cache
def changing_functions() -> frozenset[str]:
    """Spark's functions that may give another value each time, or tell where a row is stored."""
    return frozenset(_listed()["changing"])


@cache
def iceberg_functions() -> frozenset[str]:
    """Iceberg's functions, called as `lake.system.…`."""
    return frozenset(_listed()["iceberg"])


def _listed() -> dict[str, list[str]]:
    held: dict[str, list[str]] = json.loads((files("lakebed.sql") / "functions.json").read_text())
    return held


def refuse_unknown_functions(reading: LexedText, tree: exp.Expr, others: Collection[str]) -> None:
    """Refuse a call of a function that neither Spark, Iceberg nor `others` (in lower case) have."""
    for names in called_functions(reading, tree):
        known = functions_under(tuple(token.name.casefold() for token in names[:-1]))
        called = names[-1].name
        if known is None or called.casefold() in known or called.casefold() in others:
            continue
        advice = suggestion(near(called, known)) or f"See those of Spark: {_LIST}"
        raise reading.source.error_at(
            f"there is no function {called}().", at=names[-1].start, next=advice
        )


def functions_under(before: tuple[str, ...]) -> frozenset[str] | None:
    """The functions that can be called with this qualifier; None for other catalogs, whose
    functions are unknown.
    """
    if not before or before in _BUILTIN:
        return spark_functions()
    return iceberg_functions() if before == _ICEBERG else None


def called_functions(reading: LexedText, tree: exp.Expr) -> Iterator[tuple[Token, ...]]:
    """The names of every call: names before a parenthesis, except keywords and aliases with
    columns, t(a, b).
    """
    tokens, words = reading.plain, grammar().words
    aliases = {
        place
        for alias in tree.find_all(exp.TableAlias)
        if (place := _start(alias.this)) is not None
    }
    for index, (token, after) in enumerate(pairwise(tokens)):
        if (
            not token.is_name
            or after.upper != "("
            or token.start in aliases
            or token.upper in words
        ):
            continue
        first = index
        while first >= 2 and tokens[first - 1].upper == "." and tokens[first - 2].is_name:
            first -= 2
        if first and _is_alias_after(tokens[first - 1]):
            continue
        yield tokens[first : index + 1 : 2]


def _is_alias_after(token: Token) -> bool:
    """Whether a name after this token can only be an alias: calls follow symbols and keywords other
    than AS.
    """
    if token.kind is TokenKind.SYMBOL:
        return token.text in (")", "]")
    return (
        token.kind is not TokenKind.WORD
        or token.upper == "AS"
        or token.upper not in grammar().words
    )


def _start(node: exp.Expr | None) -> int | None:
    return node.meta.get("start") if node else None
