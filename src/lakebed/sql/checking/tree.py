"""What a query may not contain, checked in its tree: commands, calls that read files, unbound
parameters.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.sql.parsing.lexer import LexedText

QUERY = (exp.Query, exp.Values)

# The allowed table functions. All others read or run something.
TABLE_FUNCTION = re.compile(
    r"range|stack|json_tuple|collations|sql_keywords|(explode|posexplode|inline|variant_explode)(_outer)?",
    re.IGNORECASE,
)
XML_OPTION = re.compile(
    r"attributePrefix|charset|columnNameOfCorruptRecord|dateFormat|encoding|excludeAttribute|ignoreNamespace|"
    r"ignoreSurroundingSpaces|inferSchema|locale|mode|nullValue|preferDate|rowTag|samplingRatio|timestampFormat|"
    r"timestampNTZFormat|timeZone|treatEmptyValuesAsNulls|valueTag|wildcardColName",
    re.IGNORECASE,
)

_COMMANDS = (
    exp.Alter, exp.Analyze, exp.Attach, exp.Block, exp.Cache, exp.Command, exp.Comment, exp.Commit,
    exp.DDL, exp.DML, exp.Declare, exp.Describe, exp.Drop, exp.Execute, exp.ExecuteSql, exp.Export,
    exp.Grant, exp.Into, exp.Kill, exp.LoadData, exp.Lock, exp.Pragma, exp.Refresh, exp.Rollback,
    exp.Set, exp.Show, exp.Transaction, exp.TruncateTable, exp.Use,
)  # fmt: skip
_UNBOUND = (exp.Placeholder, exp.Parameter, exp.SessionParameter)
_READABLE = (exp.Table, exp.Subquery, exp.Values, exp.Lateral)
_SOURCES: dict[type[exp.Expr], tuple[type[exp.Expr], ...]] = {
    exp.From: _READABLE,
    exp.Join: _READABLE,
    exp.Lateral: (exp.Subquery, exp.Func),
    exp.Table: (exp.Identifier, exp.Func, exp.Dot),
}


def refuse_tree(reading: LexedText, tree: exp.Expr) -> None:
    """Refuse anything but one query that reads tables and computes."""
    source = reading.source
    for node in tree.walk():
        if error := _wrong_node(reading, source, node):
            raise error
    if not isinstance(tree, QUERY):
        raise source.error_at(
            "this is not a query.", next="Write one SELECT; Lakebed writes its result to the table."
        )


def _wrong_node(reading: LexedText, source: SourceText, node: exp.Expr) -> BadPipeline | None:
    """The error for a node of the tree, if it is not allowed."""
    if isinstance(node, _COMMANDS):
        what = f"{type(node).__name__.upper()} is a command, not a query."
        return source.error_at(
            what, at=place(node), next="Write one SELECT; Lakebed writes its result to the table."
        )
    if isinstance(node, _UNBOUND):
        return source.error_at(
            "this parameter has no value.", at=place(node), next="Use {{ var('…') }}."
        )
    if isinstance(node, exp.QueryTransform):
        what = "TRANSFORM runs a program on every worker."
        return source.error_at(what, at=place(node), next="Write this step as a Python pipeline.")
    if isinstance(node, exp.CTE) and not isinstance(node.this, QUERY):
        return source.error_at(
            f"{node.alias} in WITH is not a query.",
            at=place(node),
            next="Write WITH name AS (SELECT …).",
        )
    # Spark would read FROM stream x as the stream x
    if isinstance(node, exp.CTE) and node.alias.casefold() == "stream":
        return source.error_at(
            "a WITH cannot be called stream.", at=place(node), next="Choose another name."
        )
    if type(node) in _SOURCES and not isinstance(node.this, _SOURCES[type(node)]):
        return source.error_at(
            "this cannot be read from.", at=place(node), next="Read {{ ref('…') }} or a subquery."
        )
    if isinstance(node, exp.Limit | exp.Offset) and node.find(exp.Column):
        return source.error_at(
            "LIMIT or OFFSET uses a column.", at=place(node), next="Write a number."
        )
    if isinstance(node, exp.Values) and any(item.find(exp.Column) for item in node.expressions):
        return source.error_at(
            "VALUES uses a column.", at=place(node), next="Write values, or a SELECT."
        )
    return _wrong_call(reading, source, node)


def _wrong_call(reading: LexedText, source: SourceText, node: exp.Expr) -> BadPipeline | None:
    if (
        isinstance(node, exp.Table | exp.Lateral)
        and isinstance(node.this, exp.Func | exp.Dot)
        and not _is_name(node.this)
    ):
        return _wrong_table_function(reading, source, node)
    if isinstance(node, exp.Anonymous) and node.name.casefold() in ("from_xml", "schema_of_xml"):
        options = node.expressions[2 if node.name.casefold() == "from_xml" else 1 :]
        if not all(_are_plain_options(option) for option in options):
            what = f"{node.name}() has options that may name a file."
            return source.error_at(
                what, at=place(node), next="Write them out: map('mode', 'PERMISSIVE')."
            )
    return None


def _is_name(node: exp.Expr) -> bool:
    """Whether a.b.c.d consists of names only: the parser nests names of more than three parts."""
    return isinstance(node, exp.Dot) and all(
        isinstance(part, exp.Identifier) for part in node.parts
    )


def _wrong_table_function(
    reading: LexedText, source: SourceText, node: exp.Expr
) -> BadPipeline | None:
    at = place(node.this)
    names = reading.chain(at)
    bare = len(names) == 1 and not (isinstance(node, exp.Table) and node.db)
    if bare and TABLE_FUNCTION.fullmatch(names[0].name):
        return None
    called = names[-1].name if names else "this"
    what = f"{called}() cannot be read from as a table."
    return source.error_at(
        what,
        at=at,
        next="These can: range, explode, posexplode, inline, stack, json_tuple, variant_explode.",
    )


def _are_plain_options(option: exp.Expr) -> bool:
    """Whether it is a plain map('mode', 'FAILFAST', …) with options that name no file."""
    if not isinstance(option, exp.VarMap):
        return False
    keys, values = option.args["keys"].expressions, option.args["values"].expressions
    plain = all(isinstance(item, exp.Literal) and item.is_string for item in (*keys, *values))
    return plain and all(XML_OPTION.fullmatch(key.name) for key in keys)


def place(node: exp.Expr | None) -> int:
    """The first known offset in the text of a part of the tree."""
    return min(_places(node), default=0)


def _places(node: exp.Expr | None) -> Iterator[int]:
    for part in node.walk() if node else ():
        start = part.meta.get("start")
        if isinstance(start, int):
            yield start
