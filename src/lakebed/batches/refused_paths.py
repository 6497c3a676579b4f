"""Paths that are not read: Lakebed's own, and those whose values are of the wrong type. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

_OWN = ("warehouse", "landing")  # folders of a namespace
_MOST = 100  # batches that are told


def is_own(path: str, *, lake: str = "") -> bool:
    """Whether Lakebed moves or removes files at a path: in `.data`, tables and landing zones of the
    lake that is there.
    """
    start = f"{lake}/" if lake else ""
    if not path.startswith(start):
        return False
    first, _, rest = path[len(start) :].partition("/")
    return first == ".data" or rest.partition("/")[0] in _OWN


@dataclass(frozen=True)
class BadBatchKey:
    """What would be a batch if its key had a value of the right type."""

    label: str  # as the paths spell it
    why: str  # names the first file
    files: int = 0
    bytes: int = 0


@dataclass
class BadBatchKeys:
    """Those that a listing meets. What comes after the first hundred is not told by itself."""

    _found: dict[str, BadBatchKey] = field(default_factory=dict)

    def add(self, label: str, why: str, size: int) -> None:
        label = label if label in self._found or len(self._found) < _MOST else "and others"
        known = self._found.get(label) or BadBatchKey(label, why)
        self._found[label] = replace(known, files=known.files + 1, bytes=known.bytes + size)

    def __iter__(self) -> Iterator[BadBatchKey]:
        return iter(self._found.values())
