"""Which files of a layout and of its source have together exactly the rows of the source. Pure.

Only whole files are taken or left: those of a fresh batch from the layout, all others from the
source. So no row is filtered, and none can be in both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lakebed.derived import Freshness
from lakebed.ports import Scan, ScanFile
from lakebed.query.layouts.verdict import LayoutReason

LabelOf = Callable[[ScanFile], str | None]  # the batch that all rows of a file are in, if certain


@dataclass(frozen=True)
class Arms:
    """The files to read of both tables, and their batches; a layout that is used as a whole is read
    whatever its batches are, and nothing of the source.
    """

    layout: tuple[ScanFile, ...]
    source: tuple[ScanFile, ...] = ()
    whole: bool = False
    batches: frozenset[str] = frozenset()
    source_batches: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LayoutFiles:
    """A layout's files that a query's condition leaves, and how batches are told, there and in the
    source.
    """

    scan: Scan
    freshness: Freshness
    label: LabelOf
    source_label: LabelOf


def split_files(
    layout: LayoutFiles, source: Scan, *, only_plain_parts: bool
) -> Arms | LayoutReason:
    """The files to read, or why the layout cannot be used.

    `only_plain_parts`: the engine can leave out files only of what is plain.
    """
    if layout.freshness.whole:
        return Arms(layout.scan.files, whole=True)
    if only_plain_parts and not layout.scan.plain:
        return "STALE"
    labels = [layout.label(file) for file in layout.scan.files]
    source_labels = [layout.source_label(file) for file in source.files]
    if None in labels or None in source_labels:
        return "MIXED_FILES"
    fresh = layout.freshness.fresh
    mine, mine_of = _taken(layout.scan.files, labels, lambda label: label in fresh)
    rest, rest_of = _taken(source.files, source_labels, lambda label: label not in fresh)
    if len(rest) == len(source.files) or (rest and only_plain_parts and not source.plain):
        return "STALE"
    return Arms(mine, rest, batches=mine_of, source_batches=rest_of)


def _taken(
    files: Sequence[ScanFile], labels: Sequence[str | None], wanted: Callable[[str], bool]
) -> tuple[tuple[ScanFile, ...], frozenset[str]]:
    found = [
        (file, label)
        for file, label in zip(files, labels, strict=True)
        if label is not None and wanted(label)
    ]
    return tuple(file for file, _ in found), frozenset(label for _, label in found)


def restricted(scan: Scan, files: Sequence[ScanFile]) -> Scan:
    """A plain scan of some of its files."""
    if len(files) == len(scan.files):
        return scan
    kept = {file.location for file in files}
    groups = (
        replace(group, files=tuple(file for file in group.files if file.location in kept))
        for group in scan.groups
    )
    return replace(scan, files=tuple(files), groups=tuple(group for group in groups if group.files))
