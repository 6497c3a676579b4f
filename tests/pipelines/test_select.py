"""Every form of a selector, and what it selects."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import UnknownName, UsageError
from lakebed.names import TableName, ZoneName
from lakebed.pipelines.definition.graph import Graph, GraphNode, build_graph
from lakebed.pipelines.definition.select import select


def node(
    table: str, reads: str = "", *, zone: str = "", tags: str = "", modified: bool = False
) -> GraphNode:
    name = TableName.parse(table)
    return GraphNode(
        name,
        tuple(map(TableName.parse, reads.split())),
        zones=(ZoneName(name.namespace, zone),) if zone else (),
        tags=frozenset(tags.split()),
        path=f"{name.namespace}/pipelines/{name.layer}/{name.name}/pipeline.sql",
        modified=modified,
    )


# raw ─► orders ─► clean ─► revenue ─► report        people ─► clean        hr: raw ─► orders
SHOP = build_graph(
    [
        node("shop.bronze.raw", zone="orders", tags="daily"),
        node("shop.bronze.people", zone="people", tags="daily pii"),
        node("shop.silver.orders", "shop.bronze.raw", modified=True),
        node("shop.silver.clean", "shop.silver.orders shop.bronze.people", tags="daily"),
        node("shop.gold.revenue", "shop.silver.clean", tags="weekly"),
        node("shop.gold.report", "shop.gold.revenue"),
        node("hr.bronze.raw", zone="orders"),
        node("hr.silver.orders", "hr.bronze.raw"),
    ]
)
ALL = "hr.raw hr.orders people raw orders clean revenue report"


def short(tables: tuple[TableName, ...]) -> str:
    """Names without their layer, and without `shop`."""
    return " ".join(
        table.name if table.namespace == "shop" else f"hr.{table.name}" for table in tables
    )


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([], ALL),
        (["clean"], "clean"),
        (["silver.clean"], "clean"),
        (["shop.silver.clean"], "clean"),
        (["orders"], "hr.orders orders"),  # two fit: both
        (["silver.orders"], "hr.orders orders"),
        (["hr.silver.orders"], "hr.orders"),
        (["*orders*"], "hr.orders orders"),
        (["r*"], "hr.raw raw revenue report"),
        (["re?ort"], "report"),
        (["silver.*"], "hr.orders orders clean"),
        (["*.raw"], "hr.raw raw"),
        (["hr.*"], "hr.raw hr.orders"),
        (["hr.*.*"], "hr.raw hr.orders"),
        (["s*.*.r*"], "raw revenue report"),
        (["*"], ALL),
        (["+clean"], "people raw orders clean"),
        (["1+clean"], "people orders clean"),
        (["2+clean"], "people raw orders clean"),
        (["clean+"], "clean revenue report"),
        (["clean+1"], "clean revenue"),
        (["+clean+"], "people raw orders clean revenue report"),
        (["1+clean+1"], "people orders clean revenue"),
        (["0+clean+0"], "clean"),
        (["@orders"], "hr.raw hr.orders people raw orders clean revenue report"),
        (["@people"], "people raw orders clean revenue report"),
        (["@report"], "people raw orders clean revenue report"),
        (["tag:daily"], "people raw clean"),
        (["tag:*ly"], "people raw clean revenue"),
        (["tag:weekly+"], "revenue report"),
        (["+tag:pii"], "people"),
        (["path:shop/pipelines/silver"], "orders clean"),
        (["path:./shop/pipelines/silver/"], "orders clean"),
        (["path:shop/pipelines/silver/clean/pipeline.sql"], "clean"),
        (["path:*/silver/orders"], "hr.orders orders"),
        (["path:shop/pipelines/gold/re*"], "revenue report"),
        (["shop/pipelines/gold"], "revenue report"),
        (["path:shop/pipelines/silver/clean+"], "clean revenue report"),
        (["state:modified"], "orders"),
        (["state:modified+"], "orders clean revenue report"),
        (["+state:modified"], "raw orders"),
        (["1+state:modified+1"], "raw orders clean"),
        (["layer:silver"], "hr.orders orders clean"),
        (["layer:g*"], "revenue report"),
        (["namespace:hr"], "hr.raw hr.orders"),
        (["zone:orders"], "hr.raw raw"),
        (["zone:shop.orders"], "raw"),
        (["zone:shop.orders+1"], "raw orders"),
        (["source:people"], "people"),
        (["source:people+"], "people clean revenue report"),
        (["clean revenue"], "clean revenue"),
        (["clean", "revenue"], "clean revenue"),
        (["revenue clean", "clean"], "clean revenue"),
        (["+clean,tag:daily"], "people raw clean"),
        (["+clean,tag:daily,layer:silver"], "clean"),
        (["raw+,+report"], "raw orders clean revenue report"),
        (["+clean,tag:daily report"], "people raw clean report"),
        (["tag:pii,tag:weekly"], ""),
    ],
)
def test_a_selector_selects(selectors: list[str], expected: str) -> None:
    assert short(select(SHOP, selectors)) == expected


@pytest.mark.parametrize(
    ("selectors", "exclude", "expected"),
    [
        ([], ["shop.*"], "hr.raw hr.orders"),
        (["+report"], ["tag:daily"], "orders revenue report"),
        (["+report"], ["clean+"], "people raw orders"),
        (["clean"], ["clean"], ""),
        ([], ["state:modified+ namespace:hr"], "people raw"),
        (["+report"], ["tag:daily,layer:bronze", "report"], "orders clean revenue"),
    ],
)
def test_what_is_excluded_is_left_out(
    selectors: list[str], exclude: list[str], expected: str
) -> None:
    assert short(select(SHOP, selectors, exclude)) == expected


def test_nothing_modified_selects_nothing() -> None:
    assert select(build_graph([node("shop.silver.a")]), ["state:modified+"]) == ()


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("claen", "no pipeline 'claen'.*Did you mean clean"),
        ("silver.claen", r"Did you mean silver\.clean"),
        ("shop.silver.claen+", r"Did you mean shop\.silver\.clean"),
        ("gold.clean", "no pipeline 'gold.clean'"),
        ("nope*", "no pipeline"),
        ("a.b.c.d", "no pipeline"),
        ("tag:dayly", "no tag 'dayly'.*Did you mean daily"),
        ("tags:daily", "no way to select 'tags:'.*Did you mean tag:"),
        ("path:shop/pipelines/silber", "no pipeline below the path"),
        ("layer:silber", "no layer 'silber'.*Did you mean silver"),
        ("namespace:shopp", "no namespace.*Did you mean shop"),
        ("zone:order", "no zone that a pipeline reads 'order'.*Did you mean orders"),
        ("state:modifed", "no state.*Did you mean modified"),
        ("state:new", "state:modified"),
        ("+", "no name in it"),
        ("@", "no name in it"),
        ("", "empty"),
        ("  ", "empty"),
        ("clean,", "no name in it"),
        ("@clean+", "cannot be combined"),
        ("@+clean", "cannot be combined"),
    ],
)
@pytest.mark.parametrize("excluding", [False, True])
def test_what_fits_nothing_is_refused_with_near_words(
    selector: str, message: str, excluding: bool
) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        select(SHOP, [] if excluding else [selector], [selector] if excluding else [])
    assert refused.value.next or isinstance(refused.value, UnknownName)


LETTERS = "abcdefgh"
TERM = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "+", "1+", "2+"]),
    st.one_of(
        st.sampled_from(LETTERS),
        st.sampled_from(["tag:even", "tag:odd", "state:modified", "*", "[a-d]"]),
    ),
    st.sampled_from(["", "+", "+1", "+2"]),
)
WORD = st.lists(
    st.one_of(TERM, st.sampled_from(LETTERS).map("@{}".format)), min_size=1, max_size=3
).map(",".join)
ARGUMENTS = st.lists(st.lists(WORD, min_size=1, max_size=2).map(" ".join), max_size=2)


@st.composite
def dags(draw: st.DrawFn) -> Graph:
    """Eight pipelines, each reading some of those before it."""
    nodes = []
    for index, letter in enumerate(LETTERS):
        reads = draw(st.lists(st.sampled_from(LETTERS[:index]), unique=True)) if index else []
        tags = "even" if index % 2 == 0 else "odd"
        nodes.append(
            node(
                f"s.silver.{letter}",
                " ".join(f"s.silver.{other}" for other in reads),
                tags=tags,
                modified=draw(st.booleans()),
            )
        )
    return build_graph(nodes)


def walk(start: set[str], links: dict[str, set[str]], depth: int) -> set[str]:
    """One step at a time, as slowly as can be."""
    for _ in range(depth):
        start = start | {other for one in start for other in links[one]}
    return start


def oracle(graph: Graph, argument: list[str]) -> set[str]:
    up = {node.table.name: {table.name for table in node.depends_on} for node in graph.nodes}
    down = {name: {other for other in up if name in up[other]} for name in up}
    match = {
        "tag:even": set("aceg"),
        "tag:odd": set("bdfh"),
        "*": set(LETTERS),
        "[a-d]": set("abcd"),
        "state:modified": {node.table.name for node in graph.nodes if node.modified},
    }

    def term(text: str) -> set[str]:
        if text.startswith("@"):
            return walk(walk({text[1:]}, down, 9), up, 9)
        above, what, below = re.fullmatch(r"(\d*\+)?(.+?)(\+\d*)?", text).groups()  # type: ignore[union-attr]
        start = match.get(what, {what})
        reach_up = walk(start, up, 0 if above is None else int(above[:-1] or 9))
        return reach_up | walk(start, down, 0 if below is None else int(below[1:] or 9))

    return {
        name
        for text in argument
        for word in text.split()
        for name in set.intersection(*map(term, word.split(",")))
    }


@given(dags(), ARGUMENTS, ARGUMENTS)
def test_a_selection_agrees_with_the_slow_way(
    graph: Graph, selectors: list[str], exclude: list[str]
) -> None:
    wanted = oracle(graph, selectors) if selectors else set(LETTERS)
    selected = select(graph, selectors, exclude)
    assert {table.name for table in selected} == wanted - oracle(graph, exclude)
    places = {table: place for place, table in enumerate(selected)}
    assert all(
        places[above] < places[table]
        for table in selected
        for above in graph.ancestors(table)
        if above in places
    )
