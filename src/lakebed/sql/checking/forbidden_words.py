"""What the SQL of a pipeline or gate may not contain, checked in its tokens, before any parser."""

import re
from collections.abc import Sequence

from lakebed.errors import BadPipeline
from lakebed.errors.source_text import SourceText
from lakebed.sql.parsing.lexer import LexedText, Token, TokenKind

QUERY_BEGINS = {"SELECT", "WITH", "FROM", "VALUES", "TABLE"}
_BEFORE_QUERY = {"", "(", ")", "UNION", "EXCEPT", "INTERSECT", "MINUS", "ALL", "DISTINCT"}

# Spark never reads these as a name, even after AS; other parsers do.
_NEVER_NAMES = re.compile(
    "ANTI|CROSS|EXCEPT|FULL|INNER|INTERSECT|JOIN|LATERAL|LEFT|MINUS|NATURAL|ON|RIGHT|SEMI|UNION|USING"
)

# Spark reads these as a name where no clause can follow; other parsers see an empty clause.
_CLAUSES = re.compile("SELECT|FROM|WITH|VALUES|WHERE|HAVING|LIMIT|JOIN|LATERAL|UNION|ON")

# After a comma Spark reads these as a name; other parsers ignore the comma and see the clause.
_AFTER_COMMA = re.compile("FROM|WHERE|HAVING|LIMIT|JOIN|UNION|INTERSECT|ON|USING|FETCH|TABLESAMPLE")
_BEFORE_BY = re.compile("GROUP|ORDER|SORT|CLUSTER|DISTRIBUTE|PARTITION|CONNECT")

# Options on how Iceberg reads; others choose a snapshot or branch, bypassing what ref() pins.
_HARMLESS_OPTIONS = {
    "split-size",
    "lookback",
    "file-open-cost",
    "vectorization-enabled",
    "batch-size",
}

# Spark's data sources: as the first part of a table's name they make the rest a path.
_FORMAT = re.compile(
    r"arrow|avro|binaryfile|cloudfiles|console|csv|delta|deltasharing|excel|hudi|iceberg|image|jdbc|json|kafka|libsvm|memory|"
    r"mongodb|noop|orc|parquet|protobuf|rate|rate-micro-batch|ratepersecond|socket|state-metadata|statestore|text|tfrecord|xml",
    re.IGNORECASE,
)

_JVM = "calls any method of the JVM Spark runs in"
_CLASS = "loads a class, or reads a file, by a name in the query"
_READS = "reads files by their path, past the landing zones"
DENIED = {
    "reflect": _JVM,
    "java_method": _JVM,
    "try_reflect": _JVM,
    "from_protobuf": _CLASS,
    "to_protobuf": _CLASS,
    "python_worker_logs": "reads what other runs logged",
    "read_files": _READS,
    "cloud_files": _READS,
    "read_kafka": "reads from a server",
    "remote_query": "reads from a server",
}
_PATH = re.compile(r"[/\\:#?%]|\.\.")


def refuse_words(reading: LexedText) -> None:
    """Refuse what no pipeline or gate needs, and what could hide a name from the checks."""
    source = reading.source
    _refuse_no_query(reading)
    _refuse_substitution(source, reading.text)
    refuse_unbalanced(source, reading.tokens)
    for index in range(len(reading.tokens)):
        if error := _wrong_word(source, reading.tokens, index):
            raise error


def _refuse_no_query(reading: LexedText) -> None:
    source, tokens = reading.source, reading.tokens
    opening = next((token for token in tokens if token.upper not in (";", "(")), None)
    if opening is None:
        raise source.error_at("there is no query.", next="Write one SELECT.")
    if opening.upper not in QUERY_BEGINS:
        what = (
            f"{opening.upper or opening.text} does not begin a query: only SELECT, WITH, FROM,"
            " VALUES and TABLE do."
        )
        raise source.error_at(
            what, at=opening.start, next="Write one SELECT; Lakebed writes its result to the table."
        )
    for index, token in enumerate(tokens):
        if token.upper == ";" and any(later.upper != ";" for later in tokens[index:]):
            raise source.error_at(
                "there are several statements.",
                at=token.start,
                next="Leave one query, and no ; inside it.",
            )


def _refuse_substitution(source: SourceText, text: str) -> None:
    at = text.find("${")
    if at >= 0:
        what = (
            "Spark would put a setting or an environment variable in place of ${…}, even inside"
            " quotes."
        )
        raise source.error_at(
            what, at=at, next="Use {{ var(…) }}, or write the $ and the { apart: concat('$', '{')."
        )


def refuse_unbalanced(source: SourceText, tokens: tuple[Token, ...]) -> None:
    """Refuse brackets that do not belong together."""
    closing = {")": "(", "]": "["}
    opened: list[Token] = []
    for token in tokens:
        if token.upper in ("(", "["):
            opened.append(token)
        elif token.upper in closing and (not opened or opened.pop().upper != closing[token.upper]):
            raise source.error_at(
                f"a {token.text} closes nothing.", at=token.start, next="Check the brackets."
            )
    if opened:
        raise source.error_at(
            f"a {opened[-1].text} is not closed.", at=opened[-1].start, next="Check the brackets."
        )


def _wrong_word(source: SourceText, tokens: tuple[Token, ...], index: int) -> BadPipeline | None:
    """The error for a token, judged by its neighbours; none for most."""
    token, before, after = tokens[index], _near(tokens, index - 1), _near(tokens, index + 1)
    if token.kind is TokenKind.STRING and (after.upper in ("(", ".") or before.upper == "."):
        return source.error_at(
            "a quoted text is used as a name.",
            at=token.start,
            next="Put backticks around names.",
        )
    if token.is_name and after.upper == "(" and (why := DENIED.get(token.name.casefold())):
        return source.error_at(
            f"{token.name}() {why}.", at=token.start, next="Write this step as a Python pipeline."
        )
    if (
        token.is_name
        and after.upper == "."
        and is_format(token.name)
        and is_path(_near(tokens, index + 2).name)
    ):
        return paths_are_no_tables(source, token)
    if token.kind is not TokenKind.WORD or before.upper == ".":
        return None
    if before.upper == "AS" and _NEVER_NAMES.fullmatch(token.upper):
        return source.error_at(
            f"{token.upper} cannot be a bare name.", at=token.start, next="Put backticks around it."
        )
    if before.upper == "," and (
        _AFTER_COMMA.fullmatch(token.upper)
        or (after.upper == "BY" and _BEFORE_BY.fullmatch(token.upper))
    ):
        return source.error_at(
            "there is an extra comma.",
            at=before.start,
            next="Remove it, or put backticks around the name.",
        )
    if (
        reads_table(tokens, index)
        or is_values_as_name(tokens, index)
        or has_harmless_options(tokens, index)
    ):
        return None
    return _wrong_keyword(source, token, after)


def reads_table(tokens: Sequence[Token], index: int) -> bool:
    """Whether `TABLE name` stands here for a query, `SELECT * FROM name`."""
    after = _near(tokens, index + 1)
    return (
        tokens[index].upper == "TABLE"
        and _word(tokens, index - 1) in _BEFORE_QUERY
        and after.is_name
    )


def is_values_as_name(tokens: Sequence[Token], index: int) -> bool:
    """Whether `values` stands here for a column: at the beginning of a SELECT, or after AS."""
    before = _word(tokens, index - 1)
    named = before == "AS" or (before == "SELECT" and _word(tokens, index - 2) in _BEFORE_QUERY)
    return (
        tokens[index].upper == "VALUES"
        and named
        and _word(tokens, index + 1) in ("FROM", ",", ")", "")
    )


def has_harmless_options(tokens: Sequence[Token], index: int) -> bool:
    """Whether `WITH (…)` stands here with options that change nothing of what is read."""
    if tokens[index].upper != "WITH" or _near(tokens, index + 1).upper != "(":
        return False
    inside = tokens[index + 2 : end_of_options(tokens, index)]
    keys = [token for at, token in enumerate(inside) if at == 0 or inside[at - 1].upper == ","]
    return bool(keys) and all(token.text[1:-1] in _HARMLESS_OPTIONS for token in keys)


def end_of_options(tokens: Sequence[Token], index: int) -> int:
    """The index of the bracket that closes `WITH (…)`."""
    return next(
        at for at in range(index, len(tokens)) if tokens[at].upper == ")" or at == len(tokens) - 1
    )


def _word(tokens: Sequence[Token], index: int) -> str:
    """The word or sign there; what is quoted as it is written, and nothing beyond the ends only."""
    token = _near(tokens, index)
    return token.upper or token.text


def _near(tokens: Sequence[Token], index: int) -> Token:
    """The token there, or one without text beyond the ends."""
    return tokens[index] if 0 <= index < len(tokens) else Token(TokenKind.SYMBOL, 0, 0, "")


def paths_are_no_tables(source: SourceText, token: Token) -> BadPipeline:
    return source.error_at(
        f"{token.name}.… reads files by their path.",
        at=token.start,
        next="Put the files into a zone and read {{ landing_zone('…') }}.",
    )


def is_format(part: str) -> bool:
    """Whether a part of a name is a data source rather than a namespace."""
    return _FORMAT.fullmatch(part) is not None


def is_path(part: str) -> bool:
    """Whether a part of a name leads out of the catalog."""
    return _PATH.search(part) is not None


def _wrong_keyword(source: SourceText, token: Token, after: Token) -> BadPipeline | None:
    word, at = token.upper, token.start
    if word == "USING" and after.upper != "(":
        what = "USING hands the rows to a program on every worker."
        return source.error_at(
            what, at=at, next="Write this step as a Python pipeline; a join says USING (column)."
        )
    if word == "IDENTIFIER" and after.upper == "(":
        return source.error_at(
            "IDENTIFIER() computes a name at run time, so the table is unknown before.",
            at=at,
            next="Write the name itself.",
        )
    if word == "TABLE":
        what = "TABLE is not allowed here in a query."
        return source.error_at(
            what, at=at, next="Write SELECT * FROM …, or backticks around a column of this name."
        )
    if word.startswith("__TMP"):
        return source.error_at(
            "names that begin with __tmp are the parser's own.", at=at, next="Choose another name."
        )
    if word == "WITH" and after.upper == "(":
        return source.error_at(
            "a table is given options.", at=at, next="Remove WITH (…); ref() pins what is read."
        )
    if word == "VALUES" and after.is_name:
        return source.error_at(
            "VALUES is followed by a name.",
            at=at,
            next="Write VALUES (…), or backticks around a column.",
        )
    if _CLAUSES.fullmatch(word) and (after.upper in (",", ")", ".", ";") or not after.text):
        return source.error_at(
            f"{word} is not a valid name here.", at=at, next="Put backticks around it."
        )
    return None
