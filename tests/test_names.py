"""Names: checked on creation, quoted for every engine, never two for one table."""

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import BadName, NameCollision
from lakebed.names import (
    AssetKey,
    TableName,
    ZoneName,
    duckdb_identifier,
    folder_name,
    plain_name,
    require_no_collision,
    require_unreserved,
    run_of_hidden,
    split_identifier,
    tables_of_assets,
)

dagster_names = st.from_regex(r"[A-Za-z0-9_.-]{1,30}", fullmatch=True)


@pytest.mark.parametrize("name", ["orders", "clean-orders", "a", "a1_b-2", "x" * 128])
def test_a_plain_name_is_accepted(name: str) -> None:
    assert plain_name("zone", name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Orders",
        "1a",
        "-a",
        "a b",
        "ä",
        "a.b",
        "a/b",
        "..",
        "x" * 129,
        "_hidden",
        "branch_x",
        "tag_x",
        "system",
        "a\n",
    ],
)
def test_another_name_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(BadName, match="cannot be the name of a zone") as refused:
        plain_name("zone", name)
    assert refused.value.exit_code == 2


def test_a_zone_knows_its_folder() -> None:
    assert ZoneName("ecommerce", "orders").folder == "ecommerce/landing/orders"


def test_a_table_knows_its_name_in_every_engine() -> None:
    table = TableName.parse("ecommerce.silver.clean-orders")
    assert str(table) == "ecommerce.silver.clean-orders"
    assert table.spark == "lake.`ecommerce`.`silver`.`clean-orders`"
    assert table.duckdb == '"ecommerce"."silver"."clean-orders"'
    assert table.folder == "ecommerce/warehouse/silver/clean-orders"


@pytest.mark.parametrize(
    "text", ["", "a", "a.b", "a.b.c.d", "a..c", "a.b.", "a.b.`c", "A.b.c", "a.b.c d", "a.b.c;drop"]
)
def test_what_is_no_table_name_is_refused(text: str) -> None:
    with pytest.raises(BadName):
        TableName.parse(text)


def test_a_pipelines_table_has_plain_parts() -> None:
    assert str(TableName.of_pipeline("shop", "marts", "revenue")) == "shop.marts.revenue"
    with pytest.raises(BadName):
        TableName.of_pipeline("shop", "My Marts", "revenue")
    with pytest.raises(BadName, match="reserved"):
        TableName.of_pipeline("shop", "gold", "branch_x")


@given(dagster_names, dagster_names)
def test_a_table_name_survives_being_written_and_read(layer: str, name: str) -> None:
    table = TableName("shop", layer, name)
    assert TableName.parse(str(table)) == table
    assert split_identifier(table.spark.removeprefix("lake.")) == table.parts
    assert split_identifier(table.duckdb) == table.parts


@given(
    st.text(min_size=1, max_size=20).filter(
        lambda text: "\0" not in text and not re.search("[\ud800-\udfff]", text)
    )
)
def test_duckdb_reads_a_quoted_name_as_it_was_meant(name: str) -> None:
    quoted = duckdb_identifier(name)
    assert duckdb.sql(f"SELECT 1 AS {quoted}").columns == [name]


@given(dagster_names)
def test_a_folder_is_never_hidden_nor_leads_elsewhere(name: str) -> None:
    folder = folder_name(name)
    assert "/" not in folder
    assert not folder.startswith((".", "_"))
    assert 0 < len(folder) <= 200


def test_a_very_long_name_still_has_a_folder_of_its_own() -> None:
    assert folder_name("x" * 255) != folder_name("x" * 254)


# -- ADR-004: the four example rows, and the remap


@pytest.mark.parametrize(
    ("path", "schema", "table"),
    [
        (("condition_era",), "main", "condition_era"),
        (("omop", "condition_era"), "omop", "condition_era"),
        (("raw", "omop", "condition_era"), "raw", "omop_condition_era"),
        (("curated", "omop", "condition_era"), "curated", "omop_condition_era"),
    ],
)
def test_an_asset_key_maps_to_schema_and_table(
    path: tuple[str, ...], schema: str, table: str
) -> None:
    found = AssetKey(path).table("hospital")
    assert (found.namespace, found.layer, found.name) == ("hospital", schema, table)
    assert found.folder == f"hospital/warehouse/{schema}/{table}"


def test_a_mapping_renames_the_schema_but_never_main() -> None:
    mapping = {"raw": "bronze", "main": "elsewhere", "x": "elsewhere"}
    assert AssetKey(("raw", "omop", "condition_era")).table("hospital", mapping).parts == (
        "hospital",
        "bronze",
        "omop_condition_era",
    )
    assert AssetKey(("x",)).table("hospital", mapping).layer == "main"


@given(st.lists(dagster_names, min_size=1, max_size=4))
def test_any_name_dagster_accepts_is_accepted(path: list[str]) -> None:
    AssetKey(tuple(path)).table("hospital")


@pytest.mark.parametrize("path", [(), ("",), ("a b",), ("a/b",), ("raw", "é")])
def test_what_dagster_refuses_is_refused(path: tuple[str, ...]) -> None:
    with pytest.raises(BadName):
        AssetKey(path)


@pytest.mark.parametrize(
    ("first", "second", "mapping"),
    [
        (("raw", "omop", "x"), ("raw", "omop_x"), {}),
        (("x",), ("main", "x"), {}),
        (("omop", "Person"), ("omop", "person"), {}),
        (("raw", "x"), ("bronze", "x"), {"raw": "bronze"}),
    ],
)
def test_assets_that_would_share_a_table_are_refused_naming_both(
    first: tuple[str, ...], second: tuple[str, ...], mapping: dict[str, str]
) -> None:
    with pytest.raises(NameCollision) as refused:
        tables_of_assets([AssetKey(first), AssetKey(second)], "hospital", mapping)
    assert "/".join(first) in str(refused.value)
    assert "/".join(second) in str(refused.value)


def test_an_asset_never_takes_the_name_of_a_hidden_table() -> None:
    with pytest.raises(BadName, match="hidden"):
        AssetKey(("raw", "_mv_" + "0" * 32)).table("hospital")


@pytest.mark.parametrize("lead", ["", "_"])
def test_a_hidden_table_is_kept_or_ends_with_its_run(lead: str) -> None:
    digits = "0123456789abcdef" * 2
    found = {
        kind: TableName("shop", "silver", f"{lead}{kind}_{digits}")
        for kind in ("mv", "run", "stage", "replay", "dropped")
    }
    assert all(table.hidden for table in found.values())
    assert [kind for kind, table in found.items() if table.derived] == ["mv"]
    assert [kind for kind, table in found.items() if not table.temporary] == ["mv"]
    assert {kind: run_of_hidden(table.name) for kind, table in found.items()} == {
        "mv": None,
        "run": digits,
        "stage": digits,
        "replay": digits,
        "dropped": None,
    }
    plain = TableName("shop", "silver", "mv_orders")
    assert (plain.hidden, plain.derived, plain.temporary) == (False, False, False)


def test_a_new_table_that_differs_only_in_case_is_refused() -> None:
    with pytest.raises(NameCollision, match="Person"):
        require_no_collision(TableName("h", "omop", "person"), [TableName("h", "omop", "Person")])
    require_no_collision(TableName("h", "omop", "person"), [TableName("h", "omop", "person")])


def test_words_that_sql_takes_for_its_own_are_no_namespaces() -> None:
    keywords = duckdb.sql(
        "SELECT keyword_name FROM duckdb_keywords()"
        " WHERE keyword_category IN ('reserved', 'type_function')"
    ).fetchall()
    refused = [word for (word,) in keywords if not _begins_a_name(word)]
    assert "default" in refused
    for word in refused:
        with pytest.raises(BadName, match="SQL takes the word"):
            require_unreserved("namespace", word)
    require_unreserved("namespace", "lake")


def _begins_a_name(word: str) -> bool:
    with duckdb.connect() as connection:
        try:
            connection.sql(f"SELECT * FROM {word}.bronze.t")
        except duckdb.ParserException:
            return False
        except duckdb.Error:
            return True
    return True
