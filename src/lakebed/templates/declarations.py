"""What a template reads, known before anything runs."""

from collections.abc import Iterable
from dataclasses import dataclass

# Jinja takes 0.1 s to import, so it is imported with the first template, not by every command.


@dataclass(frozen=True)
class TemplateRead:
    """A table or zone that a template reads, as written there, and the line of its first use."""

    name: str
    line: int
    pattern: str | None = None


@dataclass(frozen=True)
class Declarations:
    """What a template reads and uses, in any of its branches.

    A `simple` template has only text, our functions and values, and conditions: nothing that loops,
    grows or reaches objects.
    """

    refs: tuple[TemplateRead, ...]
    zones: tuple[TemplateRead, ...]
    names: frozenset[str]
    simple: bool


def read_declarations(source: str, *, where: str, questions: Iterable[str]) -> Declarations:
    """The tables, zones and names that a template uses, without rendering it. `questions` are the
    functions that ask for the strategy.

    Refused, with the line: broken Jinja, unknown names, computed names of tables and zones, other
    files.
    """
    from lakebed.errors.source_text import SourceText
    from lakebed.templates.parse import parse, refuse_deep_nesting
    from lakebed.templates.template_names import Words
    from lakebed.templates.walk import declarations_of

    file = SourceText(source, where)
    with refuse_deep_nesting(file):
        return declarations_of(parse(file), file, Words(questions))
