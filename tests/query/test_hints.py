"""Hints about layouts in the text of a query."""

import pytest

from lakebed.query.parsing.hints import LayoutHints, layout_hints, without_layout_hints

OFF, NOTHING = LayoutHints(off=True), LayoutHints()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", NOTHING),
        ("SELECT /*+ no_layouts */ * FROM t", OFF),
        ("/*+NO_LAYOUTS*/ SELECT 1", OFF),
        ("SELECT * FROM t /*+\n  No_Layouts\n*/ WHERE x = 1", OFF),
        ("SELECT 1 /* no_layouts */", NOTHING),
        ("SELECT 1 -- /*+ no_layouts */", NOTHING),
        ("SELECT 1 -- a\n/*+ no_layouts */", OFF),
        ("SELECT 1 /* a /*+ no_layouts */ */", NOTHING),
        ("SELECT 1 /* a /* b */ */ /*+ no_layouts */", OFF),
        ("SELECT '/*+ no_layouts */'", NOTHING),
        ("SELECT 'it''s /*+ no_layouts */'", NOTHING),
        ("SELECT 'a' /*+ no_layouts */ 'b'", OFF),
        ('SELECT "/*+ no_layouts */" FROM t', NOTHING),
        ("SELECT 1 /*+ no_layouts", NOTHING),
        ("SELECT 1 /*+ */", NOTHING),
        ("SELECT 1 /*+ no_layouts_at_all */", NOTHING),
        ("SELECT 1 /*+ not no_layouts */", OFF),
        ("SELECT /*+ BROADCAST(t), no_layouts, REPARTITION(3, x) */ 1", OFF),
        ("SELECT /*+ use_layout(by_geo) */ 1", LayoutHints(use="by_geo")),
        ("SELECT /*+ USE_LAYOUT ( By_Geo ) */ 1", LayoutHints(use="By_Geo")),
        ("SELECT /*+ use_layout(by-geo.2) */ 1", LayoutHints(use="by-geo.2")),
        ("SELECT /*+ use_layout(`by geo`) */ 1", LayoutHints(use="by geo")),
        ("SELECT /*+ use_layout('by geo') */ 1", LayoutHints(use="by geo")),
        ("SELECT /*+ use_layout(a) use_layout(b) */ 1", LayoutHints(use="a")),
        ("SELECT /*+ use_layout(a),no_layouts */ 1", LayoutHints(off=True, use="a")),
        ("SELECT /*+ use_layout(a) */ 1 /*+ no_layouts */", LayoutHints(off=True, use="a")),
        ("SELECT /*+ use_layout() */ 1", NOTHING),
        ("SELECT /*+ use_layout */ 1", NOTHING),
        ("SELECT /*+ mapjoin(no_layouts) */ 1", NOTHING),
    ],
)
def test_hints_count_in_comments_only(sql: str, expected: LayoutHints) -> None:
    assert layout_hints(sql) == expected
    assert layout_hints(sql, spark=True) == expected


def test_texts_end_where_each_dialect_ends_them() -> None:
    escaped = r"SELECT 'a\' /*+ no_layouts */ '"
    assert layout_hints(escaped) == OFF
    assert layout_hints(escaped, spark=True) == NOTHING
    assert layout_hints(r"SELECT E'a\' /*+ no_layouts */ '") == NOTHING
    assert layout_hints(r"SELECT r'a\' /*+ no_layouts */", spark=True) == OFF
    assert layout_hints("SELECT $$ ' /*+ no_layouts */ $$, $a$ /*+ no_layouts */ $a$") == NOTHING
    assert layout_hints("SELECT `/*+ no_layouts */` FROM t", spark=True) == NOTHING


def test_hints_of_ours_are_taken_out_and_everything_stays_in_its_place() -> None:
    sql = "/*+ no_layouts\n */ SELECT /*+ use_layout(a) */ '/*+ no_layouts */' /*+ BROADCAST(t) */"
    bare = without_layout_hints(sql, spark=True)
    assert len(bare) == len(sql)
    assert bare.split() == ["SELECT", "'/*+", "no_layouts", "*/'", "/*+", "BROADCAST(t)", "*/"]
    assert bare.index("SELECT") == sql.index("SELECT")
    assert bare.count("\n") == 1
    mixed = "SELECT /*+ no_layouts, BROADCAST(t) */ 1 /* no_layouts */"
    assert without_layout_hints(mixed, spark=True) == mixed


def test_many_quotes_and_comments_are_read_in_no_time() -> None:
    for text in ("'" * 99_999, "/*" * 50_000, '"a' * 50_000, "/*+ " * 30_000):
        assert layout_hints(f"{text} /*+ no_layouts */", spark=True).use is None
