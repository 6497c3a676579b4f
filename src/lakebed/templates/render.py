"""Rendering templates to text, with the source line of each line."""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TemplateValues:
    """Everything a template can see in one run: plain data, decided beforehand.

    `refs` are by name as written; `zones` by name and pattern; `answers` by the question about the
    strategy. `this`, `watermark` (a typed SQL
    literal) and `watermark_value` (text, not yet escaped) are None until the table has rows to
    compare with. `batch_start` and `batch_end` (typed literals) are None unless a backfill gives a
    range. A value of `vars` is inserted as text; `|literal` makes it an SQL literal.
    """

    refs: Mapping[str, str]
    zones: Mapping[tuple[str, str | None], str]
    this: str | None
    is_incremental: bool
    answers: Mapping[str, bool]
    watermark_value: str | None
    watermark: str | None
    run_started_at: str
    vars: Mapping[str, Any]
    config: Mapping[str, Any]
    batch_start: str | None = None
    batch_end: str | None = None

    def as_json(self) -> str:
        """The values as JSON, for rendering here or in another process; dates and the like become
        text.
        """
        zones = [(zone, pattern, text) for (zone, pattern), text in self.zones.items()]
        return json.dumps({**vars(self), "zones": zones}, default=_plain)


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return dict(value)
        case Set():
            return sorted(value)
        case _:
            return str(value)


@dataclass(frozen=True)
class Rendered:
    """Rendered text; `lines[i]` is the source line of its line i + 1."""

    text: str
    lines: tuple[int, ...]

    def source_line(self, line: int) -> int:
        """The source line of a line of the text, both counted from 1; beyond the end, that of the
        last line.
        """
        return self.lines[min(max(line, 1), len(self.lines)) - 1]


def render(source: str, values: TemplateValues, *, where: str) -> Rendered:
    """Render a template with these values.

    Refuses what `read_declarations` refuses, and the use of a value that this run does not have. A
    template that is not simple is rendered in a process with little memory and time, where it can
    do no harm.
    """
    from lakebed.errors.source_text import SourceText
    from lakebed.templates.functions import bindings
    from lakebed.templates.parse import parse, refuse_deep_nesting
    from lakebed.templates.render_buffer import TooLong
    from lakebed.templates.render_confined import render_confined
    from lakebed.templates.render_simple import render_simple
    from lakebed.templates.template_names import Words
    from lakebed.templates.walk import declarations_of

    file = SourceText(source, where)
    with refuse_deep_nesting(file):
        tree = parse(file)
        if not declarations_of(tree, file, Words(values.answers)).simple:
            return render_confined(file, values.as_json())
        try:
            page = render_simple(tree, bindings(json.loads(values.as_json())), file)
        except TooLong as error:
            raise file.error(str(error), line=error.line) from None
        return Rendered(page.text(), page.lines())
