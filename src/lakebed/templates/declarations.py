"""What a template reads and uses, known before anything runs."""

from dataclasses import dataclass

# Jinja takes 0.1 s to import, so it is imported by the first template, not by every command.


@dataclass(frozen=True)
class TemplateRead:
    """One table or zone that a template reads, as it is written there, and the line of its first use."""

    name: str
    line: int
    pattern: str | None = None


@dataclass(frozen=True)
class Declarations:
    """What a template says about itself, in whichever branch it stands.

    A `simple` template holds text, our words and conditions over them, and nothing that could loop, grow or reach an object.
    """

    refs: tuple[TemplateRead, ...]
    zones: tuple[TemplateRead, ...]
    names: frozenset[str]
    simple: bool


def read_declarations(source: str, *, where: str) -> Declarations:
    """The tables, zones and words of a template, without rendering it.

    Refused, with the line: broken Jinja, words that do not exist, tables and zones whose names are computed, other files.
    """
    from lakebed.errors.source_text import SourceText
    from lakebed.templates.parse import parse, refuse_deep_nesting
    from lakebed.templates.walk import declarations_of

    file = SourceText(source, where)
    with refuse_deep_nesting(file):
        return declarations_of(parse(file), file)
