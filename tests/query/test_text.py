"""Names and clauses in a text: found where the engine says they begin, replaced, and found
again.
"""

import pytest

from lakebed.names import TableName
from lakebed.query.parsing.query_text import (
    Piece,
    at_clause,
    characters,
    name_end,
    named_parts,
    position_before,
    replaced,
    with_hyphens_quoted,
)

SHOP = [
    TableName("my-shop", "silver", "orders"),
    TableName("shop", "silver", "clean-orders"),
    TableName("shop", "gold", "total"),
]


@pytest.mark.parametrize(
    ("text", "parts", "name"),
    [
        ("FROM a.b.c x", ("a", "b", "c"), "a.b.c"),
        ('FROM "a".b . "c""d" x', ("a", "b", 'c"d'), '"a".b . "c""d"'),
        ("FROM a /* x.y */ . b -- z\n.c WHERE", ("a", "b", "c"), "a /* x.y */ . b -- z\n.c"),
        ("FROM orders$files", ("orders$files",), "orders$files"),
        ("FROM été.b", ("été", "b"), "été.b"),
        ("FROM a.b", ("a", "c"), None),
        ("FROM 'a.csv'", ("a.csv",), None),
    ],
)
def test_a_name_is_found_whatever_stands_between_its_parts(
    text: str, parts: tuple[str, ...], name: str | None
) -> None:
    end = name_end(text, 5, parts)
    assert (text[5:end] if end else None) == name


@pytest.mark.parametrize(
    ("rest", "clause"),
    [
        (" AT (VERSION => 5) WHERE", "AT (VERSION => 5)"),
        (
            " AS x AT (TIMESTAMP => TIMESTAMP '2026-01-01 (a)') y",
            "AT (TIMESTAMP => TIMESTAMP '2026-01-01 (a)')",
        ),
        (" at at /* ) */ (version => 'a)b')", "at /* ) */ (version => 'a)b')"),
        (" x WHERE y", None),
    ],
)
def test_an_at_is_found_after_a_name_or_its_alias(rest: str, clause: str | None) -> None:
    found = at_clause(f"t{rest}", 1)
    assert (f"t{rest}"[found[0] : found[1]] if found else None) == clause


def test_positions_in_the_replaced_text_lead_back() -> None:
    text = "SELECT é FROM a JOIN b ON x"
    pieces = [Piece(14, 15, '"shop"."silver"."a"'), Piece(21, 22, "")]
    shown = replaced(text, pieces)
    assert shown == 'SELECT é FROM "shop"."silver"."a" JOIN  ON x'
    for word in ("SELECT", "é", "FROM", "JOIN", "ON", "x"):
        assert position_before(text, pieces, shown.rindex(word)) == text.rindex(word)
    assert position_before(text, pieces, shown.index("silver")) == 14


def test_bytes_are_not_characters() -> None:
    assert characters("é😀x", 6) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM my-shop.silver.orders", 'SELECT * FROM "my-shop"."silver"."orders"'),
        (
            "FROM clean-orders o JOIN silver.clean-orders c",
            'FROM "clean-orders" o JOIN "silver"."clean-orders" c',
        ),
        ("FROM x, CLEAN-ORDERS", 'FROM x, "clean-orders"'),
        ("PIVOT clean-orders ON a", 'PIVOT "clean-orders" ON a'),
        ("UNPIVOT clean-orders ON a", 'UNPIVOT "clean-orders" ON a'),
        ("SUMMARIZE clean-orders", 'SUMMARIZE "clean-orders"'),
        ("SELECT clean-orders FROM t", "SELECT clean-orders FROM t"),
        ("SELECT 'FROM clean-orders', \"FROM clean-orders\" -- FROM clean-orders\n FROM x", None),
        ("FROM clean-orders-old", None),
    ],
)
def test_hyphenated_names_are_quoted_where_tables_stand(text: str, expected: str | None) -> None:
    assert with_hyphens_quoted(text, SHOP) == (expected or text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("orders", ("orders",)),
        ("silver.clean-orders", ("silver", "clean-orders")),
        ('"my-shop".silver."a.b ""c"""', ("my-shop", "silver", 'a.b "c"')),
        ("", ()),
        ("a..b", ()),
        ('a"b', ()),
    ],
)
def test_a_name_in_a_text_has_parts(text: str, parts: tuple[str, ...]) -> None:
    assert named_parts(text) == parts
