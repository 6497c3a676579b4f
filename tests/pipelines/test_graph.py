"""The order in which pipelines run."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import BadPipeline, NameCollision, UnknownName
from lakebed.names import TableName
from lakebed.pipelines.definition.graph import Graph, GraphNode, build_graph, untangle


def t(name: str) -> TableName:
    return TableName.parse(name if "." in name else f"shop.silver.{name}")


def graph(**depends_on: str) -> Graph:
    """Pipelines of silver, each with the space-separated names it reads."""
    nodes = [
        GraphNode(t(name), tuple(map(t, read.split())), path=f"shop/{name}.sql")
        for name, read in depends_on.items()
    ]
    return build_graph(nodes)


def names(tables: "tuple[TableName, ...] | frozenset[TableName]") -> list[str]:
    return [table.name for table in (tables if isinstance(tables, tuple) else sorted(tables))]


DIAMOND = graph(a="", b="a", c="a", d="b c", e="d", lone="")


def test_each_comes_after_what_it_reads_and_by_name_otherwise() -> None:
    assert names(DIAMOND.tables) == ["a", "b", "c", "d", "e", "lone"]
    assert names(graph(z="", y="z", a="y", b="").tables) == ["b", "z", "y", "a"]


def test_an_order_of_some_minds_those_between_them() -> None:
    assert names(graph(a="m", m="z", z="").order([t("a"), t("z")])) == ["z", "a"]


def test_the_order_does_not_depend_on_the_order_of_files() -> None:
    nodes = [GraphNode(node.table, node.depends_on) for node in DIAMOND.nodes]
    assert build_graph(reversed(nodes)).tables == DIAMOND.tables


@pytest.mark.parametrize(
    ("depth", "above", "below"),
    [
        (None, ["a", "b", "c"], ["e"]),
        (0, [], []),
        (1, ["b", "c"], ["e"]),
        (2, ["a", "b", "c"], ["e"]),
        (9, ["a", "b", "c"], ["e"]),
    ],
)
def test_ancestors_and_descendants_go_as_far_as_asked(
    depth: int | None, above: list[str], below: list[str]
) -> None:
    assert names(DIAMOND.ancestors(t("d"), depth)) == above
    assert names(DIAMOND.descendants(t("d"), depth)) == below


def test_tables_that_no_pipeline_makes_may_be_read() -> None:
    found = graph(a="other.gold.outside", b="a")
    assert names(found.tables) == ["a", "b"]
    assert found.ancestors(t("a")) == frozenset()


@pytest.mark.parametrize(
    ("depends_on", "path", "file"),
    [
        ({"a": "b", "b": "a"}, "a → b → a", "shop/a.sql"),
        ({"c": "b", "b": "a", "a": "c"}, "a → c → b → a", "shop/a.sql"),
        ({"a": "a"}, "a → a", "shop/a.sql"),
        ({"a": "x", "x": "y", "y": "x", "z": "a"}, "x → y → x", "shop/x.sql"),
        ({"a": "y", "x": "y", "y": "x"}, "x → y → x", "shop/x.sql"),
    ],
)
def test_a_cycle_is_refused_with_its_whole_path(
    depends_on: dict[str, str], path: str, file: str
) -> None:
    with pytest.raises(BadPipeline) as refused:
        graph(**depends_on)
    shown = " → ".join(f"shop.silver.{name}" for name in path.split(" → "))
    assert shown in refused.value.what
    assert refused.value.where == file


def test_two_pipelines_of_one_table_are_refused() -> None:
    with pytest.raises(NameCollision, match=r"one\.sql"):
        build_graph([GraphNode(t("a"), path="one.sql"), GraphNode(t("a"), path="two.sql")])


def test_an_unknown_table_is_refused_with_near_names() -> None:
    for ask in (DIAMOND.ancestors, DIAMOND.descendants):
        with pytest.raises(UnknownName, match=r"Did you mean shop\.silver\.lone"):
            ask(t("alone"))
    with pytest.raises(UnknownName):
        DIAMOND.order([t("nope")])


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=1, max_size=12))
def test_a_graph_is_ordered_or_shows_a_true_cycle(links: list[list[int]]) -> None:
    reads = {
        t(f"p{number}"): tuple(t(f"p{other}") for other in others if other < len(links))
        for number, others in enumerate(links)
    }
    try:
        order = build_graph([GraphNode(table, others) for table, others in reads.items()]).tables
    except BadPipeline as refused:
        cycle = [t(name) for name in refused.what.split(": ")[1].rstrip(".").split(" → ")]
        assert cycle[0] == cycle[-1]
        assert all(after in reads[before] for before, after in pairwise(cycle))
        return
    assert sorted(order) == sorted(reads)
    assert all(
        order.index(other) < order.index(table)
        for table, others in reads.items()
        for other in others
    )


def test_an_edge_that_only_a_gate_has_is_left_out_where_it_closes_a_cycle() -> None:
    orders = GraphNode(t("orders"), (t("customers"),), frozenset({t("customers")}))
    customers = GraphNode(t("customers"), (t("orders"),))
    lost = GraphNode(t("lost"), (t("lost"),), path="a/lost")
    found = untangle([orders, customers, lost])
    assert names(found.graph.tables) == ["lost", "orders", "customers"]
    assert set(found.by_gates) == {(t("orders"), t("customers"))}
    assert set(found.impossible) == {t("lost")}
