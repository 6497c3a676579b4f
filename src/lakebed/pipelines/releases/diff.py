"""The differences between two sets of a pipeline's files. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff

from lakebed.pipelines.releases.content import Contents

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class FileChanges:
    """Which files differ, and a unified diff."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    @property
    def summary(self) -> str:
        """`1 added, 2 changed`, or `no change`."""
        counts = {"added": self.added, "removed": self.removed, "changed": self.changed}
        return (
            ", ".join(f"{len(paths)} {word}" for word, paths in counts.items() if paths)
            or "no change"
        )


def compare(before: Contents, after: Contents, *, names: tuple[str, str]) -> FileChanges:
    """The changes from `before` to `after`; `names` label the two in the diff."""
    changed = tuple(
        path for path in sorted(before.keys() & after.keys()) if before[path] != after[path]
    )
    added, removed = (
        tuple(sorted(after.keys() - before.keys())),
        tuple(sorted(before.keys() - after.keys())),
    )
    texts = [
        _text(path, before.get(path), after.get(path), names)
        for path in sorted((*added, *removed, *changed))
    ]
    return FileChanges(added, removed, changed, "".join(texts))


def _text(path: str, before: bytes | None, after: bytes | None, names: tuple[str, str]) -> str:
    old, new = (f"{name}/{path}" for name in names)
    old, new = old if before is not None else "/dev/null", new if after is not None else "/dev/null"
    try:
        lines = _lines(before or b""), _lines(after or b"")
    except UnicodeDecodeError:
        return f"Binary files {old} and {new} differ\n"
    shown = "".join(_ended(line) for line in unified_diff(*lines, old, new))
    return shown or f"--- {old}\n+++ {new}\n"  # an empty file came or went


def _lines(data: bytes) -> list[str]:
    return _LINE.findall(data.decode())


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def summary_lines(changes: FileChanges) -> Iterator[str]:
    """A line for each file: `+ tests/quality/x.sql`, `- …`, `~ …`."""
    marks = {"+": changes.added, "-": changes.removed, "~": changes.changed}
    return (f"{mark} {path}" for mark, paths in marks.items() for path in paths)
