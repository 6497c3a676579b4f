"""The process that renders templates which may loop or grow: `{"source", "values"}` in, text or a
fault out, all JSON.

It limits itself before it reads anything: no files, little memory, little CPU time.
"""

import json
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn

from jinja2 import Template, nodes

from lakebed.child_process import forbid_writing, say_ready
from lakebed.templates.functions import bindings
from lakebed.templates.parse import Sandbox
from lakebed.templates.render_buffer import RenderBuffer

MEMORY = 128 * 1_048_576
SECONDS = 0.6
_FILE = "<template>"
_LONGEST_MESSAGE = 500
# Rendering them makes Jinja load everything that it imports lazily.
_SAMPLES = ("{% for x in ['a'] %}{{ x|wordwrap|pprint }}{% endfor %}", "{{ 1 // 0 }}")


class TooSlow(Exception):
    """The template used up its CPU time."""


def main() -> None:
    """Render the one job on standard input."""
    for sample in _SAMPLES:
        respond({"source": sample, "values": None})
    _limit()
    say_ready()
    sys.stdout.write(json.dumps(respond(json.load(sys.stdin.buffer))) + "\n")


def respond(job: dict[str, Any]) -> dict[str, Any]:
    """The text with its line map, or what is wrong at which line."""
    sandbox = Sandbox()
    try:
        page = _draw(sandbox, job["source"], bindings(job["values"]) if job["values"] else {})
        return {"text": page.text(), "lines": page.lines()}
    except Exception as error:
        line = _line(error.__traceback__) or sandbox.piece_line
        return {"what": _said(error), "next": getattr(error, "next", ""), "line": line}


def _limit() -> None:
    forbid_writing()
    # neither files nor sockets can be opened from here on
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    # macOS has no such limit; time and output are limited there too
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # CPU time, so that honest templates survive on a busy machine. The first limit can report the
    # line, the second always ends.
    signal.signal(signal.SIGVTALRM, _too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    signal.setitimer(signal.ITIMER_PROF, SECONDS + 0.2)


def _too_slow(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TooSlow


def _draw(sandbox: Sandbox, source: str, words: dict[str, Any]) -> RenderBuffer:
    page = RenderBuffer()
    tree = sandbox.parse(source)
    tree.body = list(_marked(tree.body))
    tree.set_environment(sandbox)
    template = Template.from_code(
        sandbox, sandbox.compile(tree, filename=_FILE), sandbox.make_globals(None)
    )
    for piece in template.generate(words):
        page.add(piece, line=sandbox.piece_line or 1, plain=sandbox.piece_plain)
    return page


def _marked(body: list[nodes.Node]) -> Iterator[nodes.Node]:
    """The statements, with a call before each piece of output that records its line.

    Output that is captured and written later (macros, set and filter blocks, recursive loops) has
    the line of the writing.
    """
    for node in body:
        match node:
            case nodes.Output():
                for piece in node.nodes:
                    yield _note(piece)
                    yield nodes.Output([piece], lineno=piece.lineno)
                continue
            case nodes.If():
                for branch in (node, *node.elif_):
                    branch.body = list(_marked(branch.body))
                node.else_ = list(_marked(node.else_))
            case nodes.For(recursive=False):
                node.body, node.else_ = list(_marked(node.body)), list(_marked(node.else_))
            case nodes.With() | nodes.Block() | nodes.Scope() | nodes.ScopedEvalContextModifier():
                node.body = list(_marked(node.body))
        yield node


def _note(piece: nodes.Expr) -> nodes.ExprStmt:
    place = [nodes.Const(piece.lineno), nodes.Const(isinstance(piece, nodes.TemplateData))]
    call = nodes.Call(nodes.EnvironmentAttribute("at"), place, [], None, None, lineno=piece.lineno)
    return nodes.ExprStmt(call, lineno=piece.lineno)


def _said(error: Exception) -> str:
    match error:
        case MemoryError():
            return "the template takes too much memory."
        case RecursionError():
            return "the template is nested or calls itself too deeply."
        case TooSlow():
            return "the template takes too much time."
    text = str(error)[:_LONGEST_MESSAGE] or type(error).__name__
    return text if text.endswith((".", "?")) else f"{text}."


def _line(trace: TracebackType | None) -> int | None:
    """The innermost template line in a traceback, where Jinja puts it."""
    line = None
    while trace:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
