"""Selecting pipelines, with dbt's syntax.

a   silver.a   shop.silver.a   silver.*   *orders*      names, with * ? [ab]
tag:x   path:shop/pipelines/silver   state:modified     what a pipeline is
layer:silver   namespace:shop   zone:orders             where it is, what it reads (also source:)
+a   a+   2+a   a+3   @a                                what it reads, what reads it, so many steps
"a b"   a,b                                             either, both
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lakebed.errors import UnknownName, UsageError, near, suggestion
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.graph import Graph, GraphNode

_TERM = re.compile(r"(?P<at>@)?(?:(?P<up>\d*)\+)?(?P<what>.*?)(?:\+(?P<down>\d*))?")
_ASKS_FOR_CONTENTS = re.compile(r"^@|^(?:\d*\+)?(?:tag|zone|source):|\+\d*$")
_EXAMPLES = (
    "Write a name (silver.orders), a pattern (silver.*), or tag:x, path:x, layer:x, namespace:x,"
    " zone:x, state:modified."
)


def select(
    graph: Graph, selectors: Sequence[str], exclude: Sequence[str] = ()
) -> tuple[TableName, ...]:
    """The selected pipelines, each after those it reads. No selector means all."""
    wanted = _either(graph, selectors) if selectors else frozenset(graph.tables)
    return graph.order(wanted - _either(graph, exclude))


def asks_for_contents(selectors: Sequence[str]) -> bool:
    """Whether what is selected depends on what pipelines say, not on their names and places."""
    terms = [term for selector in selectors for term in re.split(r"[\s,]+", selector)]
    return any(_ASKS_FOR_CONTENTS.search(term) for term in terms)


def _either(graph: Graph, arguments: Sequence[str]) -> frozenset[TableName]:
    """What any word of any argument selects."""
    for argument in arguments:
        if not argument.strip():
            raise UsageError("a selector is empty.", next=_EXAMPLES)
    words = [word for argument in arguments for word in argument.split()]
    return frozenset[TableName]().union(*(_both(graph, word) for word in words))


def _both(graph: Graph, word: str) -> frozenset[TableName]:
    """What every term between commas selects."""
    first, *rest = (_term(graph, term) for term in word.split(","))
    return first.intersection(*rest)


def _term(graph: Graph, term: str) -> frozenset[TableName]:
    """What one term selects, including what its + and @ add."""
    found = _TERM.fullmatch(term)
    if not found or not found["what"]:
        raise UsageError(f"{term!r} selects nothing: it has no name in it.", next=_EXAMPLES)
    if found["at"] and (found["up"] is not None or found["down"] is not None):
        raise UsageError(
            f"@ and + cannot be combined in {term!r}.",
            next="@a means a, what reads it, and all they need.",
        )
    tables = _matching(graph, found["what"])
    if found["at"]:
        below = _spread(tables, graph.descendants)
        return _spread(below, graph.ancestors)
    result = tables
    if found["up"] is not None:
        result |= _spread(tables, lambda table: graph.ancestors(table, _depth(found["up"])))
    if found["down"] is not None:
        result |= _spread(tables, lambda table: graph.descendants(table, _depth(found["down"])))
    return result


def _spread(
    tables: Iterable[TableName], reach: Callable[[TableName], frozenset[TableName]]
) -> frozenset[TableName]:
    start = frozenset(tables)
    return start.union(*(reach(table) for table in start))


def _depth(digits: str) -> int | None:
    return int(digits) if digits else None


@dataclass(frozen=True)
class SelectorMethod:
    """One way to select pipelines, and the values that can be selected by."""

    matches: Callable[[GraphNode, str], bool]
    values: Callable[[GraphNode], Iterable[str]]
    noun: str


def _matching(graph: Graph, what: str) -> frozenset[TableName]:
    """The pipelines that a name or `method:value` matches; raises if there are none."""
    named, colon, value = what.partition(":")
    if not colon:
        named, value = ("path", what) if "/" in what else ("name", what)
    if named == "state":
        return _in_state(graph, value)
    if named not in METHODS:
        raise UnknownName(
            "way to select",
            f"{named}:",
            [f"{name}:" for name in (*METHODS, "state") if name != "name"],
        )
    method = METHODS[named]
    tables = frozenset(node.table for node in graph.nodes if method.matches(node, value))
    if not tables:
        raise UnknownName(
            method.noun,
            value,
            sorted({text for node in graph.nodes for text in method.values(node)}),
        )
    return tables


def _in_state(graph: Graph, state: str) -> frozenset[TableName]:
    """The modified pipelines; there may be none."""
    if state != "modified":
        next = suggestion(near(state, ["modified"])) or "Use state:modified."
        raise UsageError(f"there is no state {state!r} to select by.", next=next)
    return frozenset(node.table for node in graph.nodes if node.modified)


def _name_matches(node: GraphNode, pattern: str) -> bool:
    """Matches part by part from the right: a, silver.a, shop.silver.a; shop.* matches a whole
    namespace.
    """
    parts, wanted = node.table.parts, pattern.split(".")
    if len(wanted) == 2 and wanted[1] == "*" and fnmatchcase(parts[0], wanted[0]):
        return True
    return len(wanted) <= 3 and all(map(fnmatchcase, parts[3 - len(wanted) :], wanted))


def _path_matches(node: GraphNode, pattern: str) -> bool:
    """The path itself, or a folder above it."""
    pattern = pattern.removeprefix("./").rstrip("/")
    return fnmatchcase(node.path, pattern) or fnmatchcase(node.path, f"{pattern}/*")


def _zone_matches(zone: ZoneName, pattern: str) -> bool:
    return fnmatchcase(str(zone) if "." in pattern else zone.name, pattern)


def _names(node: GraphNode) -> tuple[str, ...]:
    namespace, layer, name = node.table.parts
    return (name, f"{layer}.{name}", f"{namespace}.{layer}.{name}")


_ZONE = SelectorMethod(
    lambda node, value: any(_zone_matches(zone, value) for zone in node.zones),
    lambda node: [name for zone in node.zones for name in (zone.name, str(zone))],
    "zone that a pipeline reads",
)
METHODS = {
    "name": SelectorMethod(_name_matches, _names, "pipeline"),
    "tag": SelectorMethod(
        lambda node, value: any(fnmatchcase(tag, value) for tag in node.tags),
        lambda node: node.tags,
        "tag",
    ),
    "path": SelectorMethod(_path_matches, lambda node: [node.path], "pipeline below the path"),
    "layer": SelectorMethod(
        lambda node, value: fnmatchcase(node.table.layer, value),
        lambda node: [node.table.layer],
        "layer",
    ),
    "namespace": SelectorMethod(
        lambda node, value: fnmatchcase(node.table.namespace, value),
        lambda node: [node.table.namespace],
        "namespace",
    ),
    "zone": _ZONE,
    "source": _ZONE,
}
