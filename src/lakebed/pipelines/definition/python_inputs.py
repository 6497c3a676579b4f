"""What Python pipelines read, found without running them."""

import ast
import re
from dataclasses import dataclass

from lakebed.errors import BadPipeline
from lakebed.pipelines.definition.spec import Style
from lakebed.templates import RANGE, TemplateRead

_READS = ("ref", "landing_zone")
_OWN_READERS = re.compile(r"\bread_(csv|json|ndjson|parquet|text|blob)", re.IGNORECASE)
_DUCKDB_NAMES = {"conn", "duckdb_conn"}


@dataclass(frozen=True)
class PythonInputs:
    """What a `pipeline.py` reads, and how it is called."""

    style: Style
    refs: tuple[TemplateRead, ...]
    zones: tuple[TemplateRead, ...]
    names: frozenset[str] = frozenset()  # of values that only some runs have


def read_python_inputs(source: str, *, where: str) -> PythonInputs:
    """Parse a `pipeline.py`, without running it."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise BadPipeline(
            f"this is not Python: {error.msg}.",
            where=where,
            line=error.lineno,
            excerpt=error.text or "",
        ) from None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = [
        (name, _call(name, call, where, source))
        for call in calls
        if (name := _reading_function(call.func))
    ]
    return PythonInputs(
        _style(tree, where),
        refs=tuple(call for name, call in found if name == "ref"),
        zones=tuple(call for name, call in found if name == "landing_zone"),
        names=RANGE & frozenset(map(_word, ast.walk(tree))),
    )


def _word(node: ast.AST) -> str:
    """The word that a node may name a value by: `batch_start`, `context.batch_start`,
    `context["batch_start"]`.
    """
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
    return ""


def _reading_function(function: ast.expr) -> str | None:
    """The name of a reading function: `ref`, `context.ref` and `context["ref"]` are the same."""
    match function:
        case (
            ast.Name(id=name)
            | ast.Attribute(attr=name)
            | ast.Subscript(slice=ast.Constant(value=str(name)))
        ):
            return name if name in _READS else None
    return None


def _call(name: str, call: ast.Call, where: str, source: str) -> TemplateRead:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    first = call.args[0] if call.args else given.get("name")
    pattern = given.get("pattern", call.args[1] if len(call.args) > 1 else None)
    if not _is_text(first) or (pattern is not None and not _is_text(pattern)):
        raise BadPipeline(
            f"{name}() needs a plain string.",
            where=where,
            line=call.lineno,
            excerpt=source.splitlines()[call.lineno - 1],
            next=(
                "Write the name as a plain string, so that the graph is known before anything runs."
            ),
        )
    return TemplateRead(_text(first), call.lineno, _text(pattern) if pattern is not None else None)


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _style(tree: ast.Module, where: str) -> Style:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "run":
            parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            if len(parameters) != 2:
                raise BadPipeline(
                    "run() takes two parameters: spark (or conn) and context.",
                    where=where,
                    line=node.lineno,
                )
            return "duckdb" if parameters[0] == "conn" else "spark"
    assigned = {
        target.id
        for node in ast.walk(tree)
        for target in _targets(node)
        if isinstance(target, ast.Name)
    }
    if "result" not in assigned:
        raise BadPipeline(
            "there is neither a function run(spark, context) nor a variable result.",
            where=where,
            next="Write `def run(spark, context):` and return a DataFrame.",
        )
    return "flat"


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) else []


def works_with_duckdb(style: Style, source: str) -> bool:
    """Whether the code gets a DuckDB connection instead of a Spark session."""
    return style == "duckdb" or (style == "flat" and _names_duckdb(source))


def reads_files_itself(style: Style, source: str) -> bool:
    """Whether the code reads landing files with DuckDB's own readers, whatever Lakebed makes of
    their texts.
    """
    return works_with_duckdb(style, source) and bool(_OWN_READERS.search(source))


def _names_duckdb(source: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in _DUCKDB_NAMES
        for node in ast.walk(ast.parse(source))
    )
