"""Parsing templates with Jinja, within limits. Nothing is evaluated here."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from jinja2 import TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

from lakebed.errors.source_text import SourceText
from lakebed.templates.functions import UndefinedWord, is_none, literal_filter, output_text

LARGEST = 1_048_576
MOST_TOKENS = 20_000  # parsed in a quarter of a second; a long template has a tenth of this
MOST_TAGS = 10_000  # comments and raw blocks are not tokens, but take time
_TAG = re.compile(r"\{[{%#]")
# the lexer needs a hundred times as much memory
_ENDLESS_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]{4000}|[0-9_]{4000}")


class _Budget(Extension):
    """Refuses a source that would take the parser too long, or fill memory with nodes."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        for count, token in enumerate(stream):
            if count > MOST_TOKENS:
                raise TemplateSyntaxError(
                    f"the template has more than {MOST_TOKENS:,} words and signs.", token.lineno
                )
            yield token


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja without files, attribute access or silent gaps; it records the source line of each
    piece of output.
    """

    piece_line: int | None = None
    piece_plain = True

    def __init__(self) -> None:
        super().__init__(
            undefined=UndefinedWord,
            keep_trailing_newline=True,
            finalize=output_text,
            extensions=[_Budget],
        )
        self.filters["literal"] = literal_filter
        self.tests["none"] = is_none
        # the same template must always give the same text
        del self.globals["lipsum"], self.filters["random"]

    def at(self, line: int, plain: bool) -> None:
        """The next piece of output comes from this line; `marked` templates call it."""
        self.piece_line, self.piece_plain = line, plain


@cache
def grammar() -> Sandbox:
    """The environment for parsing; each rendering uses a fresh one."""
    return Sandbox()


def parse(file: SourceText) -> nodes.Template:
    """The template's tree, or an error with the line."""
    _refuse_oversize(file)
    try:
        return grammar().parse(file.text)
    except TemplateSyntaxError as error:
        raise file.error(_sentence(error.message), line=error.lineno) from None


def _refuse_oversize(file: SourceText) -> None:
    if len(file.text) > LARGEST:
        raise file.error(
            f"the file is longer than {LARGEST:,} characters.",
            next="Load data through a landing zone instead.",
        )
    if sum(1 for _ in _TAG.finditer(file.text)) > MOST_TAGS:
        raise file.error(
            f"the template has more than {MOST_TAGS:,} tags.",
            next="Split it into several pipelines.",
        )
    if endless := _ENDLESS_NUMBER.search(file.text):
        raise file.error(
            "a number has thousands of digits.", line=file.text.count("\n", 0, endless.start()) + 1
        )


@contextmanager
def refuse_deep_nesting(file: SourceText) -> Iterator[None]:
    """Turn a RecursionError into an error about the file."""
    try:
        yield
    except RecursionError:
        raise file.error("the template is nested too deeply.", next="Write it flatter.") from None


def _sentence(message: str | None) -> str:
    text = message or "this is not Jinja."
    return text if text.endswith((".", "?", "!")) else f"{text}."
