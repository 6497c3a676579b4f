"""Patterns of source files: which paths they match, and the values that a path holds. Pure.

`{name}` stands for a value within one part of the path, `name=*` for a part as Hive writes it; `*`
and `?` match within a part, `**` across parts.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

NULL_PART = "__HIVE_DEFAULT_PARTITION__"  # how Hive writes NULL in a path
_NAME = r"[A-Za-z_]\w*"
_PLACEHOLDER = re.compile(rf"\{{({_NAME})\}}")
_HIVE = re.compile(rf"({_NAME})=(?:\*|\{{\1\}})")
_TOKEN = re.compile(rf"\{{{_NAME}\}}|\*\*|\*|\?|[^{{}}*?]+|.")
_SPECIAL = re.compile(r"[{}*?]")
_GLOBS = {"*": "[^/]*", "?": "[^/]"}
_STORES = re.compile(r"(s3://[^/]+|file://)?(/?)(.*)", re.DOTALL)
# What Spark would not read: parts that begin with a dot or, unless a partition's, with `_`.
_HIDDEN = re.compile(r"/(?:\.|_[^=/]*(?:/|$))")
_ANY_VALUE = "[^/]+?"


@dataclass(frozen=True)
class Captured:
    """A value in a path: its group in the expression, and whether Hive's escapes are in it."""

    name: str
    group: int
    hive: bool


@dataclass(frozen=True)
class SourcePattern:
    """A pattern of paths. `store` is empty for paths below the lake's root."""

    text: str
    store: str
    folder: str  # is listed: everything that matches is below it
    captured: tuple[Captured, ...]
    expression: str  # matches a whole path; Python and Java read it alike
    beginning: str = ".*"  # matches a path, and each folder on the way to it

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.captured)

    def values(
        self, path: str, wanted: Collection[str] | None = None
    ) -> Mapping[str, str | None] | None:
        """The values that a path holds, by name, or those that are wanted; None if the path does
        not match.
        """
        found = self._compiled.fullmatch(path)
        if found is None or _HIDDEN.search(path, len(self.folder)):
            return None
        return {
            one.name: _value(found[one.group], hive=one.hive)
            for one in self.captured
            if wanted is None or one.name in wanted
        }

    def may_hold(self, path: str) -> bool:
        """Whether a path, or one below it, may match."""
        return bool(
            re.fullmatch(self.beginning, path, re.DOTALL)
            and not _HIDDEN.search(path, len(self.folder))
        )

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.expression, re.DOTALL)


def parse_pattern(text: str, *, values: Mapping[str, str] | None = None) -> SourcePattern:
    """The pattern that a text gives; `ValueError` says what is wrong with it.

    `values` are expressions for the values of some names, where any text would be too wide.
    """
    store, path = _split_store(text.strip())
    _require_sound(path, text)
    parts = path.split("/")
    fixed = next((n for n, part in enumerate(parts) if _SPECIAL.search(part)), len(parts) - 1)
    if not fixed:
        raise ValueError(
            f"{text!r} begins with a wildcard: the whole lake would be listed. Begin with a folder"
        )
    folder = "/".join(parts[:fixed])
    reader = _Reader(values or {})
    pieces = [reader.part(part) for part in parts]
    return SourcePattern(
        text,
        store,
        folder,
        tuple(reader.captured),
        expression=_joined(pieces, parts),
        beginning=_beginning(pieces, parts),
    )


def _split_store(text: str) -> tuple[str, str]:
    """Where the paths are relative to: the lake (empty), a bucket, or the file system (`/`)."""
    found = _STORES.fullmatch(text)
    scheme, slash, path = found.groups() if found else (None, "", text)
    if scheme and scheme.startswith("s3://"):
        return scheme, path
    return ("/", path) if scheme or slash else ("", path)


def _require_sound(path: str, text: str) -> None:
    parts = path.split("/")
    if not path or path.endswith("/"):
        raise ValueError(f"{text!r} names no files: it ends where a file's name is needed")
    if "" in parts or "." in parts or ".." in parts:
        raise ValueError(f"{text!r} has a part that is empty, . or ..")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError(f"in {text!r}, ** must stand alone between two /")
    if re.search(r"\}\{", path):
        raise ValueError(f"{text!r}: nothing says where the first of two adjacent values ends")
    rest = _PLACEHOLDER.sub("", path)
    if "{" in rest or "}" in rest:
        raise ValueError(f"{text!r}: a value is written {{name}}, of letters, digits and _")


class _Reader:
    """Translates parts of a pattern, from left to right."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.captured: list[Captured] = []
        self._values, self._groups = values, dict[str, int]()

    def part(self, part: str) -> str:
        if hive := _HIVE.fullmatch(part):
            return f"{re.escape(hive[1])}={self._value(hive[1], hive=True)}"
        return "".join(self._piece(token) for token in _TOKEN.findall(part))

    def _piece(self, token: str) -> str:
        if name := _PLACEHOLDER.fullmatch(token):
            return self._value(name[1], hive=False)
        return _GLOBS.get(token) or re.escape(token)

    def _value(self, name: str, *, hive: bool) -> str:
        if name in self._groups:
            return f"\\{self._groups[name]}"  # the same value again
        self._groups[name] = len(self._groups) + 1
        self.captured.append(Captured(name, self._groups[name], hive))
        wanted = self._values.get(name, _ANY_VALUE)
        return f"({wanted}|{NULL_PART})" if hive and wanted != _ANY_VALUE else f"({wanted})"


def _joined(pieces: list[str], parts: list[str]) -> str:
    """The expression of a path; `**` stands for any number of folders, also for none."""
    whole = ""
    for number, (piece, part) in enumerate(zip(pieces, parts, strict=True)):
        last = number == len(parts) - 1
        if part == "**":
            whole += ".*" if last else "(?:[^/]+/)*"
        else:
            whole += piece if last else f"{piece}/"
    return whole


def _value(text: str, *, hive: bool) -> str | None:
    if hive and text == NULL_PART:
        return None
    return unquote(text, errors="strict") if hive else text


def _beginning(pieces: list[str], parts: list[str]) -> str:
    """The expression of a path and of the folders on the way to it."""
    whole = ""
    for piece, part in reversed(list(zip(pieces, parts, strict=True))):
        further = f"(?:/{whole})?" if whole else ""
        whole = ".*" if part == "**" else f"{piece}{further}"
    return whole
