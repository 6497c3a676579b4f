"""Settings in the comments of a pipeline or gate: `-- @key: value`, in Python `# @key: value`."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from lakebed.errors.source_text import SourceText

Comment = Literal["--", "#"]

# The leading block may contain other comments before and between the annotations.
_LEADING = {
    "--": re.compile(r"[\s\ufeff]*(?:--(?P<said>[^\n]*)|/\*.*?\*/|\{#.*?#\})", re.DOTALL),
    "#": re.compile(r"[\s\ufeff]*#(?P<said>[^\n]*)"),
}
_ANYWHERE = {
    mark: re.compile(rf"^[ \t\ufeff]*{mark}(?P<said>[^\n]*)", re.MULTILINE) for mark in _LEADING
}
_ANNOTATION = re.compile(r"\s*@(?P<key>[A-Za-z][A-Za-z0-9_-]*)\s*(?::(?P<value>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Annotation:
    """One setting as text, and its line."""

    key: str
    value: str
    line: int


def read_annotations(
    text: str, *, comment: Comment, where: str, anywhere: bool = False
) -> dict[str, Annotation]:
    """The annotations of the leading comment block, or of the whole file if `anywhere`, by
    lower-case key.

    A comment that begins with `@word` is an annotation: one without a colon is refused, and so is a
    repeated key.
    """
    source, found = SourceText(text, where), dict[str, Annotation]()
    for line, said in _comments(text, comment, anywhere=anywhere):
        annotation = _annotation(source, comment, line, said)
        if annotation is None:
            continue
        if annotation.key in found:
            first = found[annotation.key].line
            raise source.error(
                f"@{annotation.key} is given twice; first on line {first}.",
                line=line,
                next="Keep one of them.",
            )
        found[annotation.key] = annotation
    return found


def misplaced_annotation(
    text: str, *, comment: Comment, keys: Collection[str]
) -> Annotation | None:
    """The first annotation of one of these keys below the leading comments, where none is read."""
    *_, end = (0, *(match.end() for match in _leading(text, _LEADING[comment])))
    for match in _ANYWHERE[comment].finditer(text, end):
        annotation = _ANNOTATION.match(match["said"])
        if annotation and annotation["value"] is not None and annotation["key"].lower() in keys:
            line = text.count("\n", 0, match.start("said")) + 1
            return Annotation(annotation["key"].lower(), annotation["value"].strip(), line)
    return None


def _comments(text: str, comment: Comment, *, anywhere: bool) -> Iterator[tuple[int, str]]:
    found = _ANYWHERE[comment].finditer(text) if anywhere else _leading(text, _LEADING[comment])
    line, counted = 1, 0
    for match in found:
        if match["said"] is not None:
            line, counted = (
                line + text.count("\n", counted, match.start("said")),
                match.start("said"),
            )
            yield line, match["said"]


def _leading(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    match = pattern.match(text)
    while match:
        yield match
        match = pattern.match(text, match.end())


def _annotation(source: SourceText, comment: Comment, line: int, said: str) -> Annotation | None:
    match = _ANNOTATION.match(said)
    if match is None:
        return None
    if match["value"] is None:
        raise source.error(
            f"the annotation @{match['key']} has no value.",
            line=line,
            next=(
                f"Write: {comment} @{match['key']}: value (a plain comment must not begin with"
                " '@')."
            ),
        )
    return Annotation(match["key"].lower(), match["value"].strip(), line)
