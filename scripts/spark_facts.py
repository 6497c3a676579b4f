"""What Lakebed knows of the pinned Spark without starting it: its grammar and its functions, as
files beside `lakebed/sql`.

Run after a change of the pinned Spark or Iceberg: python -m scripts.spark_facts
"""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lakebed.engines.spark import ALL_JARS, close_session, open_session
from lakebed.settings import Root, Settings
from scripts.spark_grammar import compact, read_network, vocabulary, words_of

FOLDER = Path(__file__).parent.parent / "src" / "lakebed" / "sql"
_PACKAGE = "org.apache.spark.sql.catalyst.parser"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


def syntax(session: Any) -> dict[str, Any]:
    """Spark's grammar of queries, as `syntax.json` holds it."""
    jvm = session._jvm
    package = jvm.org.apache.spark.sql.catalyst.parser
    names = list(package.SqlBaseParser.ruleNames)
    known = package.SqlBaseLexer.VOCABULARY
    numbers = range(known.getMaxTokenType() + 1)
    words = vocabulary(
        [known.getLiteralName(one) for one in numbers],
        [known.getSymbolicName(one) for one in numbers],
    )
    parser = _parser(jvm, package)
    serialized = (
        jvm.java.lang.Class.forName(f"{_PACKAGE}.SqlBaseParser")
        .getField("_serializedATN")
        .get(None)
    )
    rules = read_network(
        words_of(serialized), lambda rule, number: bool(parser.sempred(None, rule, number))
    )
    # a-b as a name is in the grammar only so that Spark can say what is wrong with it
    return (
        compact(rules, names, banned=[("errorCapturingIdentifierExtra", words["signs"]["-"])])
        | words
    )


def _parser(jvm: Any, package: Any) -> Any:
    """A parser set as Spark's session sets it, as far as that is not the default of the parser
    itself.
    """
    text = package.UpperCaseCharStream(jvm.org.antlr.v4.runtime.CharStreams.fromString(""))
    parser = package.SqlBaseParser(
        jvm.org.antlr.v4.runtime.CommonTokenStream(package.SqlBaseLexer(text))
    )
    field = jvm.java.lang.Class.forName(f"{_PACKAGE}.SqlBaseParser").getField(
        "parameter_substitution_enabled"
    )
    field.setBoolean(parser, True)
    return parser


def functions(session: Any) -> dict[str, list[str]]:
    """The names of Spark's functions and of Iceberg's, as `functions.json` holds them.

    `aggregates` are those of Spark's that look at many rows, `changing` those that give another
    value each time.
    """
    analysis = session._jvm.org.apache.spark.sql.catalyst.analysis
    shown = [row[0] for row in session.sql("SHOW SYSTEM FUNCTIONS").collect()]
    every = {
        *_listed(session, analysis.FunctionRegistry),
        *_listed(session, analysis.TableFunctionRegistry),
    }
    every |= {name for name in shown if name[0].isalpha()}
    inside = {row[0] for row in session.sql("SHOW USER FUNCTIONS IN lake.system").collect()}
    kinds = _kinds(session, analysis.FunctionRegistry)
    return {
        "spark": sorted(every),
        "iceberg": sorted(name.rpartition(".")[2] for name in inside),
        "aggregates": sorted(name for name, kind in kinds.items() if kind == "aggregate"),
        "changing": sorted(name for name, kind in kinds.items() if kind == "changing"),
    }


def _kinds(session: Any, registry: Any) -> dict[str, str]:
    """Functions of many rows and those that give another value each time, by Spark's groups and
    classes.
    """
    class_of = session._jvm.java.lang.Class.forName
    aggregate, *changing = (
        class_of(f"{_EXPRESSIONS}.{name}")
        for name in (
            "aggregate.AggregateFunction",
            "Nondeterministic",
            "ExpressionWithRandomSeed",
        )
    )
    kinds = {}
    for name, info in _infos(session, registry):
        own = class_of(info.getClassName())
        if info.getGroup() in ("agg_funcs", "window_funcs") or aggregate.isAssignableFrom(own):
            kinds[name] = "aggregate"
        elif any(one.isAssignableFrom(own) for one in changing):
            kinds[name] = "changing"
    return kinds


def _infos(session: Any, registry: Any) -> Iterator[tuple[str, Any]]:
    builtin = registry.builtin()
    converters = session._jvm.scala.jdk.javaapi.CollectionConverters
    for one in converters.asJava(builtin.listFunction()):
        if str(one.funcName())[0].isalpha():
            yield str(one.funcName()), builtin.lookupFunction(one).get()


def _listed(session: Any, registry: Any) -> Iterable[str]:
    listed = session._jvm.scala.jdk.javaapi.CollectionConverters.asJava(
        registry.builtin().listFunction()
    )
    return (name for one in listed if (name := str(one.funcName()))[0].isalpha())


def main() -> None:
    """Write both files."""
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "lake" / ".data").mkdir(parents=True)
        root = Root.parse(Path(made) / "lake")
        session = open_session(
            Settings(), root, environment=os.environ, logs=Path(made), also=ALL_JARS
        )
        try:
            for name, facts in (("syntax", syntax(session)), ("functions", functions(session))):
                (FOLDER / f"{name}.json").write_text(
                    f"{json.dumps(facts, separators=(',', ':'))}\n"
                )
        finally:
            close_session(session)


if __name__ == "__main__":
    main()
