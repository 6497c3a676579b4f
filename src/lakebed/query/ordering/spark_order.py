"""Whether the answer of a query may depend on the order of rows, by Spark's tokens and the tree.

Whatever is not known to be the same in any order counts as dependent. The order of the answer's own
rows does not count.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise

from sqlglot import exp

from lakebed.query.ordering.order_functions import SPARK_ORDER_BOUND, SPARK_PLACES
from lakebed.sql.checking.functions import called_functions, functions_under
from lakebed.sql.parsing.lexer import LexedText

_SHORTENED = "LIMIT"


def spark_order_sensitive(
    reading: LexedText, tree: exp.Expr, *, columns: Collection[str] = ()
) -> str:
    """What may make the answer depend on the order of rows; empty if nothing does.

    `columns` are the names of columns that the tables really have: others of certain names tell
    where a row is stored.
    """
    if "|>" in reading.bare:  # the parser rewrites such queries
        return "|>"
    places = SPARK_PLACES - {name.casefold() for name in columns}
    found = {
        *order_bound_calls(reading, tree),
        *(why for node in tree.walk() if (why := _why(node, places))),
    }
    return min(found, default="")


def order_bound_calls(reading: LexedText, tree: exp.Expr) -> Iterator[str]:
    """The calls of functions that depend on the order of rows or change by chance, and of functions
    that are not known.
    """
    for token, after in pairwise(reading.plain):  # FIRST is a keyword too
        if token.is_name and after.upper == "(" and token.name.casefold() in SPARK_ORDER_BOUND:
            yield f"{token.name.casefold()}()"
    for names in called_functions(reading, tree):
        known = functions_under(tuple(token.name.casefold() for token in names[:-1]))
        if known is None or names[-1].name.casefold() not in known:
            yield f"{names[-1].name}()"
    for call in tree.find_all(exp.Anonymous):  # keywords that are called, too
        known = functions_under(_qualifiers(call))
        if known is None or call.name.casefold() not in known:
            yield f"{call.name}()"


def _qualifiers(call: exp.Anonymous) -> tuple[str, ...]:
    around = call.parent
    if not isinstance(around, exp.Dot) or around.expression is not call:
        return ()
    return tuple(part.name.casefold() for part in _parts(around.this))


def _parts(name: exp.Expr) -> tuple[exp.Expr, ...]:
    if isinstance(name, exp.Dot):
        return (*_parts(name.this), name.expression)
    return (name,)


def _why(node: exp.Expr, places: Collection[str]) -> str:
    match node:
        case exp.Limit():
            return "" if _is_zero(node.expression) else _SHORTENED
        case exp.Offset() | exp.Fetch():
            return _SHORTENED
        case exp.TableSample():
            return "a sample"
        case exp.Distinct() if node.args.get("on"):
            return "DISTINCT ON"
        case exp.WindowSpec() if _tells_peers_apart(node):
            return "a window of ROWS"
        case exp.Identifier() if node.name.casefold() in places:
            return node.name.casefold()
        case exp.MatchRecognize():
            return "MATCH_RECOGNIZE"
    return ""


def _is_zero(limit: exp.Expr | None) -> bool:
    return isinstance(limit, exp.Literal) and not limit.is_string and limit.this == "0"


def _tells_peers_apart(frame: exp.WindowSpec) -> bool:
    """Whether a frame counts rows; one over the whole partition has the same rows in any order."""
    edges = [frame.args.get(edge) for edge in ("start", "end")]
    return str(frame.args.get("kind")).upper() != "RANGE" and edges != ["UNBOUNDED", "UNBOUNDED"]
