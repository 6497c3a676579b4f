"""Tables that somebody else made in the catalog, under names that Lakebed would not give: listed,
read, and never changed.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakebed.app import Lake
from lakebed.cli.main import app
from lakebed.errors import BadQuery, UnknownName, UsageError
from lakebed.ports import Pointer
from lakebed.settings import RestCatalog
from tests.support.benches import RealBench, ids
from tests.support.lakes.query_lakes import bench_of, make_lake

DEEP = ("A", "b", "c", "deep")
ODD = [
    ("plain", "flat"),
    ("my ns", "my table"),
    DEEP,
    ("lone", "bronze", "umsätze 2024"),
    ("Shop", "silver", "orders"),
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("foreign") / "lake"
    with make_lake(folder) as lake:
        bench = bench_of(lake)
        bench.write(bench.table("orders"), [1, 2])
        for number, parts in enumerate(ODD):
            add(bench, parts, [10 * (number + 1), 10 * (number + 1) + 1])
        yield lake


def add(bench: RealBench, parts: tuple[str, ...], rows: list[int]) -> None:
    bench.iceberg.create_namespace_if_not_exists(parts[:-1])
    place = (
        None
        if isinstance(bench.settings.catalog, RestCatalog)
        else bench.root.at(f"odd/{'-'.join(parts)}")
    )
    bench.iceberg.create_table(parts, ids([1]).schema, location=place).append(ids(rows))


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(
        app, [str(argument) for argument in arguments], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("plain.flat", 10),
        ("lake.plain.flat", 10),
        ("flat", 10),
        ('"my ns"."my table"', 20),
        ('"my table"', 20),
        ("A.b.c.deep", 30),
        ('"A"."b"."c"."deep"', 30),
        ("a . B /* x */ . c.deep AS d", 30),
        ("lake.A.b.c.deep", 30),
        ('lone.bronze."umsätze 2024"', 40),
        ("shop.silver.orders", 1),
        ("lake.shop.silver.orders", 1),
    ],
)
def test_a_foreign_table_is_read_by_its_name(lake: Lake, name: str, first: int) -> None:
    asked = f"SELECT min(id) FROM {name} WHERE id <> 5"
    assert lake.query(asked).fetchall() == [(first,)]


def test_of_names_that_differ_in_case_only_ours_is_meant(lake: Lake) -> None:
    for name in (
        "shop.silver.orders",
        '"Shop".silver.orders',
        'lake."Shop".silver.orders',
        "orders",
    ):
        assert lake.query(f"SELECT id FROM {name} ORDER BY 1").fetchall() == [(1,), (2,)]


def test_foreign_tables_join_with_ours_and_with_themselves_under_conditions_of_their_own(
    lake: Lake,
) -> None:
    asked = """SELECT o.id, f.id, "my table".id, d.id, e.id FROM orders o, plain.flat f, "my ns"."my table", A.b.c.deep d
        JOIN A.b.c.deep e ON true WHERE o.id = 1 AND f.id = 11 AND "my table".id = 20 AND d.id = 30 AND e.id = 31"""
    assert lake.query(asked).fetchall() == [(1, 11, 20, 30, 31)]
    assert [one.table for one in lake.explain(asked)][:3] == [
        "shop.silver.orders",
        "plain.flat",
        '"my ns"."my table"',
    ]


def test_former_states_and_metadata_of_foreign_tables_can_be_asked(lake: Lake) -> None:
    ((snapshot,),) = lake.query("SELECT snapshot_id FROM plain.flat$snapshots").fetchall()
    assert lake.query("SELECT count(*) FROM plain.flat", at=snapshot).fetchall() == [(2,)]
    assert lake.query(f"SELECT count(*) FROM plain.flat AT (VERSION => {snapshot})").fetchall() == [
        (2,)
    ]


def test_untrusted_queries_may_read_foreign_tables_as_they_read_ours(lake: Lake) -> None:
    assert lake.query("SELECT id FROM plain.flat WHERE id = 10", untrusted=True).fetchall() == [
        (10,)
    ]
    assert lake.query("SELECT id FROM A.b.c.deep WHERE id = 30", untrusted=True).fetchall() == [
        (30,)
    ]
    with pytest.raises(BadQuery, match=r"no table 'plain\.nothing'"):
        lake.query("SELECT * FROM plain.nothing", untrusted=True)


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ("SELECT * FROM plain.falt", "plain.flat"),
        ('SELECT * FROM "my ns"."my tabel"', '"my ns"."my table"'),
        ("SELECT * FROM A.b.c.depe", "A.b.c.deep"),
        ("SELECT 1 FROM orders JOIN x.y.z.w.v ON true", "lakebed ls"),
    ],
)
def test_a_misspelt_name_is_told_the_foreign_ones_near_it(
    lake: Lake, asked: str, advice: str
) -> None:
    with pytest.raises(UnknownName) as refused:
        lake.query(asked)
    assert advice in refused.value.next


def test_foreign_tables_are_listed_and_described(lake: Lake) -> None:
    shown = {str(one.name) for one in lake.tables.foreign()}
    assert shown >= {
        "plain.flat",
        '"my ns"."my table"',
        "A.b.c.deep",
        'lone.bronze."umsätze 2024"',
        "Shop.silver.orders",
    }
    assert [str(one.name) for one in lake.tables.foreign("my*")] == ['"my ns"."my table"']
    assert [column.name for column in lake.tables.describe('"my ns"."my table"').columns] == ["id"]
    assert "A.b.c.deep" in map(str, lake.tables.readable())
    printed = invoke("ls", "--lake", lake.root.folder)
    assert "foreign table" in printed
    assert '"my ns"."my table"' in printed
    listed = {
        row["table"]: row for row in json.loads(invoke("ls", "--json", "--lake", lake.root.folder))
    }
    assert (listed["plain.flat"]["kind"], listed["plain.flat"]["rows"]) == ("foreign table", 2)
    assert listed["shop.silver.orders"]["kind"] == "table"
    assert '"name": "id"' in invoke(
        "table", "describe", "A.b.c.deep", "--json", "--lake", lake.root.folder
    )


def test_statements_that_list_tables_show_foreign_ones(lake: Lake) -> None:
    assert {row[0] for row in lake.query("SHOW TABLES")} >= {
        "flat",
        "my table",
        "deep",
        "umsätze 2024",
        "orders",
    }
    found = lake.query(
        "SELECT table_catalog, table_schema FROM information_schema.columns WHERE table_name = 'my"
        " table'"
    )
    assert found.fetchall() == [("my ns", "main")]
    assert next(iter(lake.query('DESCRIBE "my ns"."my table"')))[:2] == ("id", "BIGINT")


@pytest.mark.parametrize("name", ["plain.flat", '"my ns"."my table"', "A.b.c.deep"])
def test_what_changes_tables_leaves_foreign_ones_alone(lake: Lake, name: str) -> None:
    changes: list[Callable[[], object]] = [
        lambda: lake.tables.tag(name, "v1"),
        lambda: lake.tables.drop(name),
        lambda: lake.tables.rename(name, "shop.silver.mine"),
        lambda: lake.tables.rollback(name, 1),
        lambda: lake.write(name, ids([1])),
        lambda: lake.table(name),
    ]
    for change in changes:
        with pytest.raises(UsageError, match="created by another tool: Lakebed can query it"):
            change()


def test_a_deep_namespace_of_plain_names_is_read_level_by_level(tmp_path: Path) -> None:
    """In SQLite and PostgreSQL it is a table of ours whose layer has a dot."""
    with make_lake(tmp_path / "lake") as lake:
        add(bench_of(lake), ("a", "b", "c", "deep"), [7])
        assert lake.query("SELECT id FROM a.b.c.deep").fetchall() == [(7,)]
        assert lake.query('SELECT id FROM "a"."b.c"."deep"').fetchall() == [(7,)]
        assert str(lake.tables.find("a.b.c.deep")) == 'a."b.c".deep'


def test_every_catalog_lets_foreign_tables_be_found_by_name_and_read(real_bench: RealBench) -> None:
    rest = isinstance(real_bench.settings.catalog, RestCatalog)
    ours = real_bench.table("orders")
    odd = [
        (ours.namespace, "flat"),
        *([] if rest else [(f"{ours.namespace} x", "my table"), ("A", "b", "c", "deep")]),
    ]
    for parts in odd:
        add(real_bench, parts, [1])
    for parts in odd:
        (found,) = [
            one
            for one in real_bench.catalog.foreign(named=[parts[-1].upper()])
            if one.name and one.name.levels == parts
        ]
        assert found.name
        pointer = Pointer(found.name, found.location)
        metadata = real_bench.catalog.metadata([pointer])[found.name]
        head = metadata.head()
        assert head
        assert head.rows == 1
        assert real_bench.stores.scans.plan(pointer, snapshot=head.id).rows == 1
    assert real_bench.catalog.foreign(named=["nothing"]) == ()
