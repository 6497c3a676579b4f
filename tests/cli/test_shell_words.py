"""Where a statement ends, and what may come next."""

import pytest

from lakebed.cli.sql.shell import statements
from lakebed.cli.sql.statements import split_statements, suggestions

TABLES = ["shop.silver.orders", "shop.gold.daily-revenue", "web.silver.visits"]
COLUMNS = {"orders": ("id", "amount"), "shop.silver.orders": ("id", "amount"), "visits": ("page",)}


@pytest.mark.parametrize(
    ("text", "done", "rest"),
    [
        ("SELECT 1;", ("SELECT 1",), ""),
        ("SELECT 1; SELECT 2", ("SELECT 1",), "SELECT 2"),
        ("SELECT ';'", (), "SELECT ';'"),
        ("SELECT 'it''s;';", ("SELECT 'it''s;'",), ""),
        ('SELECT "a;b";', ('SELECT "a;b"',), ""),
        ("SELECT 1 -- no; end\n;", ("SELECT 1 -- no; end",), ""),
        ("SELECT /* ; */ 1;", ("SELECT /* ; */ 1",), ""),
        ("SELECT $$;$$;", ("SELECT $$;$$",), ""),
        ("SELECT $a$ ; $$ ; $a$;", ("SELECT $a$ ; $$ ; $a$",), ""),
        ("SELECT 'open;", (), "SELECT 'open;"),
        ("SELECT 1; SELECT 'open;", ("SELECT 1",), "SELECT 'open;"),
        ("SELECT /* open;", (), "SELECT /* open;"),
        (";;;", (), ""),
        ("-- only a comment", (), ""),
        ("SELECT 1; -- and a comment", ("SELECT 1",), ""),
        ("", (), ""),
    ],
)
def test_a_semicolon_ends_a_statement_unless_it_is_in_a_text_or_comment(
    text: str, done: tuple[str, ...], rest: str
) -> None:
    assert split_statements(text) == (done, rest)


def test_statements_may_have_many_lines_and_stand_among_commands() -> None:
    lines = [
        ".mode csv\n",
        "SELECT\n",
        "  1;\n",
        "SELECT 2; SELECT\n",
        "3;\n",
        "\n",
        ".timer off\n",
        "SELECT 'a\n",
        ".tables'\n",
    ]
    assert list(statements(lines)) == [
        ".mode csv", "SELECT\n  1", "SELECT 2", "SELECT\n3", ".timer off", "SELECT 'a\n.tables'",
    ]  # fmt: skip


def words(text: str) -> list[str]:
    return [
        offer.word
        for offer in suggestions(
            text, TABLES, lambda table: COLUMNS.get(table, ()), ["upper", "unnest"]
        )
    ]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        (
            "SELECT * FROM ",
            ["shop.silver.orders", 'shop.gold."daily-revenue"', "web.silver.visits"],
        ),
        ("SELECT * FROM or", ["shop.silver.orders"]),
        ("SELECT * FROM shop.", ["shop.silver.orders", 'shop.gold."daily-revenue"']),
        ("SELECT * FROM silver.", ["shop.silver.orders", "web.silver.visits"]),
        ("SELECT * FROM orders JOIN vis", ["web.silver.visits"]),
        ("SELECT * FROM orders, vis", ["web.silver.visits"]),
        ("SELECT * FROM nothing", []),
        (".s", [".schema"]),
        (".schema ord", ["shop.silver.orders"]),
        (".mode ", ["table", "csv", "json"]),
        (".timer o", ["on", "off"]),
        ("SEL", ["SELECT"]),
        ("select up", ["upper("]),
    ],
)
def test_completion_offers_what_fits(text: str, offered: list[str]) -> None:
    assert words(text) == offered


def test_columns_of_the_tables_named_are_offered_first() -> None:
    assert words("SELECT * FROM orders WHERE a")[0] == "amount"
    assert words("SELECT * FROM shop.silver.orders o WHERE o.i")[:1] == ["id"]
    assert "page" in words("SELECT * FROM orders JOIN visits ON p")


def test_an_offer_replaces_what_was_typed_of_it() -> None:
    offer = next(suggestions("SELECT * FROM silver.or", TABLES, lambda _: (), ()))
    assert (offer.word, offer.replaces) == ("shop.silver.orders", len("silver.or"))
