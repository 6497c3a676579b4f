"""What we think of a text, and what Spark thinks of it.

Spark's own lexer and parser are asked, inside the JVM.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripts import spark_facts

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.settings import Settings
from lakebed.sql import check_query
from lakebed.sql.checking.forbidden_words import DENIED
from lakebed.sql.checking.functions import spark_functions
from lakebed.sql.parsing.lexer import TokenKind, lex
from lakebed.sql.parsing.syntax import find_stop
from lakebed.sql.parsing.tokens import spark_tokens
from tests.sql.queries import COMMENTS, SNAPSHOT, VALID, WRONG_NAMES, WRONG_SYNTAX
from tests.support.lakes.spark_lakes import new_lake
from tests.support.scale import SCALE
from tests.support.spark_sessions import OpenSpark

pytestmark = pytest.mark.spark

COLUMNS = (
    "id BIGINT, name STRING, country STRING, status STRING, amount DOUBLE, at TIMESTAMP, tags"
    " ARRAY<STRING>, attrs MAP<STRING, STRING>, address STRUCT<city: STRING, geo: STRUCT<lat:"
    " DOUBLE>>, items ARRAY<STRUCT<sku: STRING>>, raw STRING, customer BIGINT, secret STRING,"
    " `weird column` INT, `größe` INT, `a``b` INT, date DATE, order INT, `group` INT"
)
VIEWS = {
    "orders": COLUMNS,
    "words": (
        "date DATE, timestamp TIMESTAMP, value INT, type INT, key INT, status INT, comment INT,"
        " format INT, text STRUCT<b: INT>, first INT, json STRUCT<a: INT>"
    ),
    "wide": "a INT, b INT",
    **dict.fromkeys(["customers", "a", "b", "c", "d"], "id BIGINT, name STRING"),
}
SPICE = re.findall(
    r"\S+",
    """
    FROM JOIN , ( ) SELECT TABLE STREAM LATERAL UNION WITH AS LIMIT WINDOW VALUES e1.e2 e1.`e2` 's' "d" 1 1. x `q` -- /* */ ' " `
    r' ; . : :: -> => |> \\ [ ] OFFSET QUALIFY PIVOT FOR IN ON USING INTERVAL CASE END TABLESAMPLE EXCEPT MINUS EXISTS NOT ALL
    DISTINCT SET MAP REDUCE TRANSFORM INSERT FETCH UNNEST SEMI ANTI NATURAL CROSS FULL EXTRACT( TRIM( OVER FILTER IS NULL INTO
    FORMAT IDENTIFIER('e1.e2') reflect('a') VIEW OUTER VERSION ORDER GROUP BY PARTITION WHERE HAVING UNPIVOT NULLS INCLUDE CLUSTER
    SORT DISTRIBUTE ROW ROWS RANGE
    """,
)
PLACES = [
    "SELECT 1 FROM a {}, e1.e2",
    "SELECT 1 FROM a x {} e1.e2",
    "SELECT 1 FROM a {} (e1.e2) y",
    "SELECT 1 FROM a AS {} (x), e1.e2",
    "SELECT 1 FROM {} e1.e2",
    "SELECT 1 FROM ({} e)",
    "SELECT 1 FROM a, {} e",
    "SELECT 1 FROM a, {} BY (e)",
    "SELECT 1 FROM a, LATERAL {} e",
    "SELECT 1 FROM a {} b JOIN e1.e2",
    "SELECT b {}, e1.e2 FROM t",
    "SELECT {} (SELECT 1 FROM e1.e2) FROM a",
    "SELECT 1 FROM a ORDER BY {}, e1.e2",
    "SELECT * FROM VALUES (1), {} e",
    "WITH {0} AS (SELECT 1) SELECT * FROM {0} e",
    "FROM a SELECT 1 {} e1.e2",
]


@pytest.fixture
def session(open_spark: OpenSpark, tmp_path: Path) -> Any:
    return open_spark(Settings(), new_lake(tmp_path / "lake"))


def test_every_query_we_call_valid_is_valid_for_spark(session: Any) -> None:
    _make_views(session)
    for namespace in ("lake.ecommerce", "lake.ecommerce.silver"):
        session.sql(f"CREATE NAMESPACE {namespace}")
    session.sql("CREATE TABLE lake.ecommerce.silver.orders (id BIGINT) USING iceberg")
    session.sql("INSERT INTO lake.ecommerce.silver.orders VALUES (1)")
    snapshot = session.sql(
        "SELECT snapshot_id FROM lake.ecommerce.silver.orders.snapshots"
    ).first()[0]
    session.conf.set("spark.sql.cteRecursionLevelLimit", "20")
    embedded = [f"SELECT * FROM ({check_query(text, where='a').text})" for text in VALID]
    texts = [*VALID, *COMMENTS, *embedded]
    assert [
        wrong
        for text in texts
        if (wrong := _objection(session, text.replace(str(SNAPSHOT), str(snapshot))))
    ] == []


def _make_views(session: Any) -> None:
    for name, columns in VIEWS.items():
        session.createDataFrame([], columns).createOrReplaceTempView(name)


def test_every_query_we_call_wrong_is_wrong_for_spark(session: Any) -> None:
    _make_views(session)
    wrong = [(text, "PARSE_SYNTAX_ERROR|INVALID_IDENTIFIER") for text, _ in WRONG_SYNTAX]
    wrong += [(text, "UNRESOLVED") for text, _, _ in WRONG_NAMES]
    assert [
        text for text, reason in wrong if not re.search(reason, _objection(session, text))
    ] == []


@pytest.mark.parametrize("name", ["syntax", "functions"])
def test_what_we_know_of_spark_without_starting_it_is_as_the_pinned_spark_has_it(
    session: Any, name: str
) -> None:
    held = json.loads((spark_facts.FOLDER / f"{name}.json").read_text())
    assert held == json.loads(json.dumps(getattr(spark_facts, name)(session))), (
        "python -m scripts.spark_facts"
    )


def test_every_function_that_spark_shows_is_known(session: Any) -> None:
    shown = {
        row[0] for row in session.sql("SHOW SYSTEM FUNCTIONS").collect() if row[0][0].isalpha()
    }
    assert len(shown) > 400
    assert shown <= spark_functions()


def test_every_example_of_sparks_own_documentation_passes(session: Any) -> None:
    jvm = session._jvm
    registry = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    found = [
        registry.lookupFunction(name).get()
        for name in jvm.scala.jdk.javaapi.CollectionConverters.asJava(registry.listFunction())
    ]
    texts = {
        text.strip()
        for one in found
        for text in re.findall(r"^\s*> (.*?);\s*$", one.getExamples(), re.MULTILINE | re.DOTALL)
    }
    refused_on_purpose = re.compile(rf"SET |.*\b({'|'.join(DENIED)})\(", re.DOTALL)
    texts = {text for text in texts if not refused_on_purpose.match(text)}
    assert len(texts) > 900
    for text in sorted(texts):
        check_query(text, where="a", functions=(), columns={})


def test_no_text_has_wrong_syntax_for_us_that_spark_takes_and_hardly_one_the_other_way_round(
    session: Any,
) -> None:
    chance, parser = random.Random(7), session._jsparkSession.sessionState().sqlParser()
    taken, refused, missed = 0, 0, list[str]()
    for _ in range(600 * SCALE):
        text = _mutant(chance)
        try:
            reading = lex(SourceText(text, "a"))
        except BadPipeline:
            continue
        ours = find_stop([number for number, _, _ in spark_tokens(reading)]) is None
        theirs = _taken_by(parser, reading.text[: reading.end])
        assert ours or not theirs, text
        taken, refused = taken + theirs, refused + (not theirs)
        missed += [text] if ours and not theirs else []
    assert taken > 50
    # ANTLR settles on a way of reading early and may refuse what its own grammar allows: `GROUP BY
    # a WHERE WITH ROLLUP`.
    assert len(missed) < refused / 100, missed


def _taken_by(parser: Any, text: str) -> bool:
    """Whether Spark's grammar takes a text for a query; what Spark says beyond its grammar does not
    count.
    """
    if not re.match(r"\W*(SELECT|WITH|FROM|VALUES|TABLE|MAP|REDUCE)\b", text, re.IGNORECASE):
        return False
    try:
        parser.parseQuery(text)
    except Exception as error:
        return "PARSE_SYNTAX_ERROR" not in str(error) and "PARSE_EMPTY_STATEMENT" not in str(error)
    return True


def _objection(session: Any, text: str) -> str:
    try:
        session.sql(text)
    except Exception as error:
        return f"{text}: {error}"
    return ""


def test_our_tokens_are_sparks_own(session: Any) -> None:
    chance = random.Random(4)
    pieces = [
        "a",
        "R",
        "Ab_1",
        "`a``b`",
        "'it''s'",
        "'\\''",
        "r'\\'",
        '"x"',
        '""',
        "--",
        "\n",
        "\r",
        "/*",
        "*/",
        "/*+",
        " ",
        "1.5",
    ]
    pieces += [
        "1e",
        "L",
        ".",
        "'",
        '"',
        "`",
        "\\",
        "*",
        "/",
        "-",
        "ſ",
        "é",
        "\u00a0",
        "😀",
        "://",
        "'😀'",
        "x'1F'",
    ]
    texts = {"".join(chance.choices(pieces, k=chance.randint(2, 9))) for _ in range(400 * SCALE)}
    compared = 0
    for text in sorted(texts):
        try:
            ours = lex(SourceText(text, "a"))
        except BadPipeline:
            continue
        compared += 1
        quoted = {
            (token.start, token.end)
            for token in ours.tokens
            if token.kind in (TokenKind.STRING, TokenKind.QUOTED)
        }
        words = {(token.start, token.end) for token in ours.tokens if token.kind is TokenKind.WORD}
        theirs = list(_tokens(session, text))
        assert quoted == {
            span
            for kind, span in theirs
            if kind in ("STRING_LITERAL", "DOUBLEQUOTED_STRING", "BACKQUOTED_IDENTIFIER")
        }
        assert words == {
            span
            for _, span in theirs
            if re.fullmatch(r"[A-Za-z_]\w*", text[slice(*span)], re.ASCII)
        }
        comments = [
            span for kind, span in theirs if kind in ("SIMPLE_COMMENT", "BRACKETED_COMMENT")
        ]
        blank = "".join(
            " " if any(start <= at < end for start, end in comments) else char
            for at, char in enumerate(text)
        )
        assert re.sub(r"\s", " ", ours.text) == re.sub(r"\s", " ", blank)
    assert compared > len(texts) / 20


def _tokens(session: Any, text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    jvm = session._jvm
    parser = jvm.org.apache.spark.sql.catalyst.parser
    lexer = parser.SqlBaseLexer(
        parser.UpperCaseCharStream(jvm.org.antlr.v4.runtime.CharStreams.fromString(text))
    )
    lexer.removeErrorListeners()
    for token in lexer.getAllTokens():
        span = (token.getStartIndex(), token.getStopIndex() + 1)
        yield parser.SqlBaseLexer.VOCABULARY.getSymbolicName(token.getType()), span


def test_of_a_text_we_accept_spark_reads_only_the_tables_we_see(session: Any) -> None:
    chance = random.Random(4)
    accepted = [text for _ in range(2000 * SCALE) if _agrees(session, text := _mutant(chance))]
    assert len(accepted) > 50


def test_no_keyword_in_any_place_makes_spark_read_what_we_do_not_see(session: Any) -> None:
    vocabulary = session._jvm.org.apache.spark.sql.catalyst.parser.SqlBaseLexer.VOCABULARY
    named = (
        vocabulary.getLiteralName(kind) or "" for kind in range(1, vocabulary.getMaxTokenType())
    )
    words = [name.strip("'") for name in named if re.fullmatch("'[A-Z_]+'", name)]
    texts = [place.format(word) for place in PLACES for word in words]
    accepted = [
        text
        for text in random.Random(4).sample(texts, min(len(texts), 2000 * SCALE))
        if _agrees(session, text)
    ]
    assert len(accepted) > 50


def _agrees(session: Any, text: str) -> bool:
    """Whether both we and Spark take the text for a query; then Spark may read no table that we did
    not see.
    """
    session.conf.set("spark.sql.debug.maxToStringFields", "10000")
    try:
        query = check_query(text, where="a")
        plan = session._jsparkSession.sessionState().sqlParser().parsePlan(query.text).toString()
    except Exception:  # refused by us or by Spark: no harm done
        return False
    ctes = {
        name.casefold()
        for names in re.findall(r"CTE \[([^\]]*)\]", plan)
        for name in names.split(", ")
    }
    seen = {re.sub(r"[`\s]", "", table) for table in query.tables}
    read_by_spark = {
        found.replace(", ", ".") for found in re.findall(r"'UnresolvedRelation \[([^\]]*)\]", plan)
    }
    assert {name for name in read_by_spark if name.casefold() not in ctes} <= seen, (text, plan)
    assert not re.search(
        r"ScriptInputOutput|Command|'reflect|InsertInto|UnresolvedIdentifier", plan
    ), (text, plan)
    return True


def _mutant(chance: random.Random) -> str:
    """A valid query with some tokens put in, taken out, replaced or exchanged."""
    tokens = [token.text for token in lex(SourceText(chance.choice(VALID), "a")).tokens]
    for _ in range(chance.choice((1, 2, 2, 3))):
        at = chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0 | 1:
                tokens.insert(at, chance.choice(SPICE))
            case 2:
                tokens[at] = chance.choice(SPICE)
            case 3 if len(tokens) > 1:
                del tokens[at]
            case _:
                tokens[at], tokens[-1] = tokens[-1], tokens[at]
    return " ".join(tokens)
