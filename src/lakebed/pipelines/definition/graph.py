"""The graph of pipelines: which one reads which, and in which order they run. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import pairwise

from lakebed.errors import NameCollision, PipelineCycle, UnknownName
from lakebed.names import TableName, ZoneName

Links = Mapping[TableName, tuple[TableName, ...]]


@dataclass(frozen=True)
class GraphNode:
    """A pipeline: its table, what it reads, and what it can be selected by."""

    table: TableName
    depends_on: tuple[TableName, ...] = ()
    gate_inputs: frozenset[TableName] = frozenset()  # of these, the ones that only gates read
    zones: tuple[ZoneName, ...] = ()
    tags: frozenset[str] = frozenset()
    path: str = ""  # below the root
    modified: bool = False


@dataclass(frozen=True)
class Graph:
    """Pipelines without a cycle.

    Tables that no pipeline makes may be read, but are not part of the graph.
    """

    nodes: tuple[GraphNode, ...]  # by name

    @cached_property
    def by_table(self) -> dict[TableName, GraphNode]:
        return {node.table: node for node in self.nodes}

    @cached_property
    def tables(self) -> tuple[TableName, ...]:
        """All tables, each after those it reads, and by name where the graph leaves a choice."""
        return _in_order(self.parents)

    @cached_property
    def parents(self) -> Links:
        """The pipelines that each pipeline reads directly."""
        return {
            node.table: tuple(
                sorted({table for table in node.depends_on if table in self.by_table})
            )
            for node in self.nodes
        }

    @cached_property
    def children(self) -> Links:
        """The pipelines that read each pipeline directly."""
        found: dict[TableName, list[TableName]] = {node.table: [] for node in self.nodes}
        for table, parents in self.parents.items():
            for parent in parents:
                found[parent].append(table)
        return {table: tuple(children) for table, children in found.items()}

    def order(self, tables: Iterable[TableName]) -> tuple[TableName, ...]:
        """These tables, each after those it reads, directly or through tables that are not among
        them.
        """
        wanted = {self._known(table) for table in tables}
        return tuple(table for table in self.tables if table in wanted)

    def ancestors(self, table: TableName, depth: int | None = None) -> frozenset[TableName]:
        """What a table reads, directly and through others, up to `depth` steps away."""
        known = self._known(table)
        return self._above[known] if depth is None else _reached(known, self.parents, depth)

    def descendants(self, table: TableName, depth: int | None = None) -> frozenset[TableName]:
        """What reads a table, directly and through others, up to `depth` steps away."""
        return _reached(self._known(table), self.children, depth)

    @cached_property
    def _above(self) -> dict[TableName, frozenset[TableName]]:
        above: dict[TableName, frozenset[TableName]] = {}
        for table in self.tables:
            above[table] = frozenset(self.parents[table]).union(
                *(above[parent] for parent in self.parents[table])
            )
        return above

    def _known(self, table: TableName) -> TableName:
        if table not in self.by_table:
            raise UnknownName("pipeline", str(table), map(str, self.by_table))
        return table


def build_graph(nodes: Iterable[GraphNode]) -> Graph:
    """The graph of these pipelines.

    Raises if two make one table, or if they read each other in a cycle.
    """
    graph = Graph(tuple(sorted(nodes, key=lambda node: node.table)))
    for one, two in zip(graph.nodes, graph.nodes[1:], strict=False):
        if one.table == two.table:
            raise NameCollision(
                f"pipeline {one.path or one.table}",
                f"pipeline {two.path or two.table}",
                str(one.table),
            )
    try:
        _ = graph.tables
    except CycleError as error:
        raise _cycle_error(graph, error.args[1]) from None
    return graph


Edge = tuple[TableName, TableName]  # a pipeline, and what it reads


@dataclass(frozen=True)
class UntangledGraph:
    """A graph without the edges that close cycles."""

    graph: Graph
    impossible: Mapping[TableName, PipelineCycle]  # pipelines whose queries read each other
    by_gates: Mapping[Edge, PipelineCycle]  # what only a gate reads, and the cycle that it closes


def untangle(nodes: Iterable[GraphNode]) -> UntangledGraph:
    """The graph of these pipelines, whatever cycles they form."""
    left = {node.table: node for node in nodes}
    impossible: dict[TableName, PipelineCycle] = {}
    by_gates: dict[Edge, PipelineCycle] = {}
    while True:
        try:
            return UntangledGraph(build_graph(left.values()), impossible, by_gates)
        except PipelineCycle as error:
            named = {str(table): table for table in left}
            edges = list(pairwise(named[name] for name in error.tables))
            gates = [(one, read) for one, read in edges if read in left[one].gate_inputs]
            if gates:
                by_gates[gates[0]] = error
            else:
                impossible |= dict.fromkeys((one for one, _ in edges), error)
            for one, read in gates[:1] or edges:
                kept = tuple(table for table in left[one].depends_on if table != read)
                left[one] = replace(left[one], depends_on=kept)


def _cycle_error(graph: Graph, cycle: Sequence[TableName]) -> PipelineCycle:
    """Names the whole cycle, from its first name back to it, each pipeline reading the next."""
    names = list(reversed(cycle))[
        :-1
    ]  # graphlib lists a pipeline before its readers, and the first one twice
    start = names.index(min(names))
    path = (*names[start:], *names[:start], names[start])
    first = graph.by_table[path[0]]
    return PipelineCycle(
        map(str, path),
        where=first.path or str(first.table),
        next="Remove one of these refs. A pipeline reads its own table as {{ this }}.",
    )


def _in_order(parents: Links) -> tuple[TableName, ...]:
    """Parents first, and by name where the graph leaves a choice, so that the order never changes
    by itself.
    """
    sorter = TopologicalSorter(parents)
    sorter.prepare()
    free: list[TableName] = []
    order: list[TableName] = []
    while sorter.is_active():
        for table in sorter.get_ready():
            heappush(free, table)
        order.append(heappop(free))
        sorter.done(order[-1])
    return tuple(order)


def _reached(table: TableName, links: Links, depth: int | None) -> frozenset[TableName]:
    found: set[TableName] = set()
    edge = {table}
    while edge and (depth is None or depth > 0):
        edge = {other for one in edge for other in links[one]} - found
        found |= edge
        depth = None if depth is None else depth - 1
    return frozenset(found)
