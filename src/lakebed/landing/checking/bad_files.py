"""Finding the bad file when reading several of them failed."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from lakebed.landing.checking.read_groups import Address, ReadGroup
from lakebed.landing.formats.sniffed import BadFile
from lakebed.ports import FileInfo, UnreadableFiles

_FEW = 3  # so many bad files are removed one by one; beyond that, bisecting finds them sooner

# reads a file, multiline or not, and returns its damage, or nothing
Look = Callable[[FileInfo, bool], str]


@dataclass
class BadFileSearch:
    """The bad files found so far, and the search for more."""

    address: Address
    look: Look
    bad: dict[str, BadFile] = field(default_factory=dict)
    _failures: int = 0

    def mark_bad(
        self,
        files: Iterable[FileInfo],
        reason: str,
        *,
        rows: int | None = None,
        wanted_by: str = "",
    ) -> None:
        for file in files:
            self.bad[file.path] = BadFile(file, reason, rows, wanted_by)

    def find_damage(self, file: FileInfo, member: ReadGroup) -> str:
        """What is wrong with the bytes of a file, by reading it here."""
        return self.look(file, member.multiline)

    def narrow(
        self, groups: Sequence[ReadGroup], answer: UnreadableFiles
    ) -> tuple[tuple[ReadGroup, ...], ...]:
        """Reading these groups failed: mark the bad file if it is certain, and return the parts in
        which to read the rest.

        It is certain if it was the only file, or if the engine named it and its damage is visible
        here too.
        """
        self._failures += 1
        everyone = files_of(groups)
        named = next(
            (
                file
                for file in everyone
                if len(everyone) == 1 or self.address(file.path) == answer.path
            ),
            None,
        )
        seen = (
            self.find_damage(named, next(member for member in groups if named in member.files))
            if named
            else ""
        )
        if named is None or not (seen or len(everyone) == 1):
            return _parts(groups, [named] if named else everyone[: len(everyone) // 2])
        self.mark_bad([named], seen or answer.reason)
        rest = [file for file in everyone if file != named]
        return _parts(
            restrict(groups, rest), rest if self._failures <= _FEW else rest[: len(rest) // 2]
        )


def _parts(
    groups: Sequence[ReadGroup], first: Collection[FileInfo]
) -> tuple[tuple[ReadGroup, ...], ...]:
    """The groups split in two: with these files, and with the others."""
    chosen = set(first)
    others = [file for file in files_of(groups) if file not in chosen]
    return tuple(part for part in (restrict(groups, chosen), restrict(groups, others)) if part)


def files_of(groups: Iterable[ReadGroup]) -> list[FileInfo]:
    return [file for member in groups for file in member.files]


def restrict(groups: Iterable[ReadGroup], files: Collection[FileInfo]) -> tuple[ReadGroup, ...]:
    """The groups with only these files."""
    wanted = set(files)
    smaller = (member.of(file for file in member.files if file in wanted) for member in groups)
    return tuple(member for member in smaller if member.files)
