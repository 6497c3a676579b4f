"""Which pipeline waits for which. Pure: pipelines in, an order out."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

from lakebed.errors import BadPipeline, NameCollision, UnknownName
from lakebed.names import TableName, ZoneName

Links = Mapping[TableName, tuple[TableName, ...]]


@dataclass(frozen=True)
class GraphNode:
    """A pipeline: the table it makes, what it reads, and by what it can be selected."""

    table: TableName
    depends_on: tuple[TableName, ...] = ()
    zones: tuple[ZoneName, ...] = ()
    tags: frozenset[str] = frozenset()
    path: str = ""  # below the root
    modified: bool = False


@dataclass(frozen=True)
class Graph:
    """Pipelines without a circle. A table that no pipeline makes may be read; it is not part of the graph."""

    nodes: tuple[GraphNode, ...]  # by name

    @cached_property
    def by_table(self) -> dict[TableName, GraphNode]:
        return {node.table: node for node in self.nodes}

    @cached_property
    def tables(self) -> tuple[TableName, ...]:
        """All of them, each after those it reads; by name where nothing else decides."""
        return _in_order(self.parents, self.children)

    @cached_property
    def parents(self) -> Links:
        """The pipelines that each reads directly."""
        return {node.table: tuple(sorted({table for table in node.depends_on if table in self.by_table})) for node in self.nodes}

    @cached_property
    def children(self) -> Links:
        """The pipelines that read each directly."""
        found: dict[TableName, list[TableName]] = {node.table: [] for node in self.nodes}
        for table, parents in self.parents.items():
            for parent in parents:
                found[parent].append(table)
        return {table: tuple(children) for table, children in found.items()}

    def order(self, tables: Iterable[TableName]) -> tuple[TableName, ...]:
        """These, each after those it reads, also those it reads through others that are not among them."""
        wanted = {self._known(table) for table in tables}
        return tuple(table for table in self.tables if table in wanted)

    def ancestors(self, table: TableName, depth: int | None = None) -> frozenset[TableName]:
        """What it reads, directly and through others; at most so many steps away."""
        known = self._known(table)
        return self._above[known] if depth is None else _reached(known, self.parents, depth)

    def descendants(self, table: TableName, depth: int | None = None) -> frozenset[TableName]:
        """What reads it, directly and through others; at most so many steps away."""
        return _reached(self._known(table), self.children, depth)

    def ready(self, unfinished: Collection[TableName]) -> tuple[TableName, ...]:
        """Of the tables that are not finished (running ones included), those that wait for none of the others."""
        left = {self._known(table) for table in unfinished}
        return tuple(sorted(table for table in left if left.isdisjoint(self._above[table])))

    def levels(self, tables: Iterable[TableName]) -> tuple[tuple[TableName, ...], ...]:
        """These in waves: each needs only what stands in former waves."""
        left, waves = {self._known(table) for table in tables}, []
        while left:
            waves.append(self.ready(left))
            left -= set(waves[-1])
        return tuple(waves)

    @cached_property
    def _above(self) -> dict[TableName, frozenset[TableName]]:
        above: dict[TableName, frozenset[TableName]] = {}
        for table in self.tables:
            above[table] = frozenset(self.parents[table]).union(*(above[parent] for parent in self.parents[table]))
        return above

    def _known(self, table: TableName) -> TableName:
        if table not in self.by_table:
            raise UnknownName("pipeline", str(table), map(str, self.by_table))
        return table


def build_graph(nodes: Iterable[GraphNode]) -> Graph:
    """The graph of these pipelines; refused if they wait for each other, naming the whole circle."""
    graph = Graph(tuple(sorted(nodes, key=lambda node: node.table)))
    for one, two in zip(graph.nodes, graph.nodes[1:], strict=False):
        if one.table == two.table:
            raise NameCollision(f"pipeline {one.path or one.table}", f"pipeline {two.path or two.table}", str(one.table))
    if circle := _circle(graph):
        first = graph.by_table[circle[0]]
        raise BadPipeline(
            f"pipelines read each other in a circle: {' → '.join(map(str, circle))}.",
            where=first.path or str(first.table),
            next="Take one of these refs out. A pipeline reads its own table as {{ this }}.",
        )
    return graph


def _in_order(parents: Links, children: Links) -> tuple[TableName, ...]:
    """Parents first; those in a circle, and all behind them, are left out."""
    waiting = {table: len(above) for table, above in parents.items()}
    free = [table for table, count in waiting.items() if count == 0]
    heapify(free)
    order: list[TableName] = []
    while free:
        table = heappop(free)
        order.append(table)
        for child in children[table]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(free, child)
    return tuple(order)


def _circle(graph: Graph) -> tuple[TableName, ...]:
    """A circle, from its first name back to it, each reading the next; nothing if there is none."""
    stuck = {node.table for node in graph.nodes} - set(graph.tables)
    if not stuck:
        return ()
    table, path = min(stuck), list[TableName]()
    while table not in path:  # one of the parents of a stuck table is stuck itself, so this comes round
        path.append(table)
        table = min(parent for parent in graph.parents[table] if parent in stuck)
    circle = path[path.index(table) :]
    start = circle.index(min(circle))
    return (*circle[start:], *circle[:start], circle[start])


def _reached(table: TableName, links: Links, depth: int | None) -> frozenset[TableName]:
    found: set[TableName] = set()
    edge = {table}
    while edge and (depth is None or depth > 0):
        edge = {other for one in edge for other in links[one]} - found
        found |= edge
        depth = None if depth is None else depth - 1
    return frozenset(found)
