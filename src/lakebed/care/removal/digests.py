"""Sets of paths as digests of eight bytes each: a lake may have more files than their paths fit
into memory.

Equal paths have equal digests, so a path whose digest is in no table's set is reached by no table.
Two different paths may have the same digest, about once in 10^19 pairs. Then a file that nobody
needs counts as needed, and stays; or a table counts as sharing files, and stays. Whoever removes
something asks only whether a digest is *absent*, so no collision can make a needed file look
unneeded.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

_BYTES = 8
_BUCKETS = 12  # bits of a digest that choose its bucket: inserting moves only the rest of one
_SHIFT = 8 * _BYTES - _BUCKETS
_AT_ONCE = 4096
_SEEN = 1000  # folders that are not looked at again


def digest_of(path: str) -> int:
    """The digest of a path; names that are not UTF-8 have one, too."""
    spelt = path.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(spelt, digest_size=_BYTES).digest())


@dataclass(frozen=True)
class Paths:
    """The paths that one table reaches, and all folders above them; both sorted, each once."""

    files: "array[int]"
    folders: "array[int]"

    @classmethod
    def of(cls, paths: Iterable[str]) -> "Paths":
        """The digests of paths, which may come more than once."""
        files, folders, seen = _Gathered(), _Gathered(), set[str]()
        for path in paths:
            files.add(digest_of(path))
            folder = path.rpartition("/")[0]
            if folder not in seen:
                seen = seen if len(seen) < _SEEN else set()
                seen.add(folder)
                folders.add_all(map(digest_of, _above(path)))
        return cls(files.sorted(), folders.sorted())

    def shares(self, other: "Paths") -> bool:
        """Whether there is a file that both reach."""
        few, many = sorted((self.files, other.files), key=len)
        return any(_has(many, digest) for digest in few)

    def below(self, folder: str) -> bool:
        """Whether there is a file in this folder, at any depth."""
        return _has(self.folders, digest_of(folder))


class ReachedPaths:
    """The paths that any of several tables reaches; a path counts as often as tables reach it."""

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(1 << _BUCKETS)]

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        digest = digest_of(path)
        return _has(self._buckets[digest >> _SHIFT], digest)

    def add(self, paths: Paths) -> None:
        """One more table."""
        for digest in paths.files:
            insort(self._buckets[digest >> _SHIFT], digest)

    def remove(self, paths: Paths) -> None:
        """One table less; it was added before."""
        for digest in paths.files:
            bucket = self._buckets[digest >> _SHIFT]
            del bucket[bisect_left(bucket, digest)]


class _Gathered:
    """Digests that come in any order and more than once."""

    def __init__(self) -> None:
        self._found, self._limit = array("Q"), _AT_ONCE

    def add(self, digest: int) -> None:
        self._found.append(digest)
        if len(self._found) >= self._limit:
            self._found = self.sorted()
            self._limit = 2 * len(self._found) + _AT_ONCE

    def add_all(self, digests: Iterable[int]) -> None:
        for digest in digests:
            self.add(digest)

    def sorted(self) -> "array[int]":
        return array("Q", (digest for digest, _ in groupby(sorted(self._found))))


def _has(digests: "array[int]", digest: int) -> bool:
    at = bisect_left(digests, digest)
    return at < len(digests) and digests[at] == digest


def _above(path: str) -> Iterator[str]:
    return (path[:end] for end, sign in enumerate(path) if sign == "/")
