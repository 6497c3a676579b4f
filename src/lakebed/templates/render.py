"""From a template and plain values to text, and the source line of each of its lines."""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TemplateValues:
    """Everything a template can see in one run: plain data, decided beforehand.

    `refs` by the name as it is written; `zones` by name and pattern; `this`, `watermark` (a typed SQL literal) and
    `watermark_value` (text, not yet escaped) are None as long as the table has nothing to compare with. A value of `vars`
    is inserted as the text it is; `|literal` makes an SQL literal of it.
    """

    refs: Mapping[str, str]
    zones: Mapping[tuple[str, str | None], str]
    this: str | None
    is_incremental: bool
    strategy: str
    watermark_value: str | None
    watermark: str | None
    run_started_at: str
    vars: Mapping[str, Any]
    config: Mapping[str, Any]

    def as_json(self) -> str:
        """What is handed to a template, here or in another process; dates and the like become their text."""
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
    """A template's text; `lines[i]` is the source line from which its line i + 1 came."""

    text: str
    lines: tuple[int, ...]

    def source_line(self, line: int) -> int:
        """The source line behind a line of the text, both counted from 1; a line beyond the end is taken for the last."""
        return self.lines[min(max(line, 1), len(self.lines)) - 1]


def render(source: str, values: TemplateValues, *, where: str) -> Rendered:
    """The text that a template gives with these values.

    Whatever `declared` refuses is refused here too, as is what has no value in this run, at its line. A template that is
    not simple runs in a process with little memory and time: it cannot hurt this one.
    """
    from lakebed.errors.source_text import SourceText
    from lakebed.templates.functions import bindings
    from lakebed.templates.parse import parse, refuse_deep_nesting
    from lakebed.templates.render_buffer import TooLong
    from lakebed.templates.render_confined import render_confined
    from lakebed.templates.render_simple import render_simple
    from lakebed.templates.walk import declarations_of

    file = SourceText(source, where)
    with refuse_deep_nesting(file):
        tree = parse(file)
        if not declarations_of(tree, file).simple:
            return render_confined(file, values.as_json())
        try:
            page = render_simple(tree, bindings(json.loads(values.as_json())), file)
        except TooLong as error:
            raise file.error(str(error), line=error.line) from None
        return Rendered(page.text(), page.lines())
