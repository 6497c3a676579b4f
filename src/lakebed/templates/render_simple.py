"""Rendering templates that are safe by construction: text, our functions and values, conditions,
`|literal`.

No node that is allowed here can loop, recurse, join strings or reach an attribute of an object, so
the work is bounded by the length of the source. All other templates are rendered in a separate
process (`render_confined.py`).
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import TemplateRuntimeError, Undefined, nodes

from lakebed.errors.source_text import SourceText
from lakebed.templates.functions import is_none, literal_filter, output_text
from lakebed.templates.render_buffer import RenderBuffer
from lakebed.templates.template_names import Words

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": lambda member, whole: member in whole,
    "notin": lambda member, whole: member not in whole,
}
_TESTS: Mapping[str, Callable[[object], bool]] = {
    "defined": lambda value: not isinstance(value, Undefined),
    "undefined": lambda value: isinstance(value, Undefined),
    "none": is_none,
}


def is_simple(node: nodes.Node, words: Words) -> bool:
    """Whether `render_simple` can render a tree."""
    return _has_simple_shape(node, words) and all(
        is_simple(child, words) for child in node.iter_child_nodes()
    )


def _has_simple_shape(node: nodes.Node, words: Words) -> bool:
    match node:
        case (
            nodes.Template()
            | nodes.Output()
            | nodes.TemplateData()
            | nodes.If()
            | nodes.Const()
            | nodes.Keyword()
        ):
            return True
        case nodes.Not() | nodes.And() | nodes.Or() | nodes.Compare() | nodes.Operand():
            return True
        case nodes.CondExpr():
            return node.expr2 is not None
        case nodes.List() | nodes.Tuple():
            return all(isinstance(item, nodes.Const) for item in node.items)
        case nodes.Name():
            return node.name in words.ours
        case nodes.Filter() | nodes.Test():
            bare = node.node is not None and not (
                node.args or node.kwargs or node.dyn_args or node.dyn_kwargs
            )
            return bare and (
                node.name == "literal" if isinstance(node, nodes.Filter) else node.name in _TESTS
            )
        case nodes.Call() | nodes.Getattr() | nodes.Getitem():
            return _is_simple_access(node)
        case _:
            return False


def _is_simple_access(node: nodes.Call | nodes.Getattr | nodes.Getitem) -> bool:
    match node:
        case nodes.Call(dyn_args=None, dyn_kwargs=None):
            constant = all(
                isinstance(arg, nodes.Const)
                for arg in (*node.args, *(pair.value for pair in node.kwargs))
            )
            return constant and (isinstance(node.node, nodes.Name) or _is_config_get(node.node))
        case nodes.Getattr(node=nodes.Name(name="config"), attr=key):
            return key == "get" or not hasattr(dict, key)
        case nodes.Getitem(node=nodes.Name(name="config"), arg=nodes.Const(value=str())):
            return True
        case _:
            return False


def _is_config_get(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.attr == "get"
    )


def render_simple(tree: nodes.Template, words: Mapping[str, Any], file: SourceText) -> RenderBuffer:
    """The output of a simple template."""
    page = RenderBuffer()
    _Rendering(page, words, file).body(tree.body)
    return page


class _Rendering:
    """One rendering: the buffer, the functions and values, and the source for errors."""

    def __init__(self, page: RenderBuffer, words: Mapping[str, Any], file: SourceText) -> None:
        self.page, self.words, self.file = page, words, file

    def body(self, statements: list[nodes.Node]) -> None:
        for statement in statements:
            match statement:
                case nodes.Output():
                    for piece in statement.nodes:
                        self.piece(piece)
                case nodes.If():
                    self.condition(statement)

    def condition(self, node: nodes.If) -> None:
        for branch in (node, *node.elif_):
            if self.evaluate(branch.test, bool):
                return self.body(branch.body)
        return self.body(node.else_)

    def piece(self, node: nodes.Expr) -> None:
        plain = isinstance(node, nodes.TemplateData)
        text = (
            node.data if isinstance(node, nodes.TemplateData) else self.evaluate(node, output_text)
        )
        self.page.add(text, line=node.lineno, plain=plain)

    def evaluate(self, node: nodes.Node, how: Callable[[Any], Any]) -> Any:
        """Use an expression's value; errors give its line."""
        try:
            return how(self.value(node))
        except (TemplateRuntimeError, TypeError, ValueError) as error:
            raise self.file.error(
                str(error), line=node.lineno, next=getattr(error, "next", "")
            ) from None

    def value(self, node: nodes.Node) -> Any:
        match node:
            case nodes.Const():
                return node.value
            case nodes.List() | nodes.Tuple():
                return [self.value(item) for item in node.items]
            case nodes.Name():
                return self.words[node.name]
            case nodes.Filter(node=nodes.Expr() as inner):
                return literal_filter(self.value(inner))
            case nodes.Test():
                return _TESTS[node.name](self.value(node.node))
            case nodes.Call():
                options = {pair.key: self.value(pair.value) for pair in node.kwargs}
                return self.value(node.node)(*(self.value(arg) for arg in node.args), **options)
            case nodes.Getattr(attr="get"):
                return self.words["config"].get
            case nodes.Getitem(arg=nodes.Const(value=key)) | nodes.Getattr(attr=key):
                return self.words["config"][key]
            case _:
                return self.logic(node)

    def logic(self, node: nodes.Node) -> Any:
        match node:
            case nodes.Not():
                return not self.value(node.node)
            case nodes.And():
                return self.value(node.left) and self.value(node.right)
            case nodes.Or():
                return self.value(node.left) or self.value(node.right)
            case nodes.CondExpr(expr2=nodes.Expr() as otherwise):
                return self.value(node.expr1) if self.value(node.test) else self.value(otherwise)
            case nodes.Compare():
                return self.comparison(node)
            case _:
                raise AssertionError(f"{type(node).__name__} is not simple")

    def comparison(self, node: nodes.Compare) -> bool:
        left = self.value(node.expr)
        for operand in node.ops:
            right = self.value(operand.expr)
            if not _COMPARISONS[operand.op](left, right):
                return False
            left = right
        return True
