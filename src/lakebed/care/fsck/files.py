"""Comparing files with metadata, and choosing which are read in full this time. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from lakebed.care.fsck.spec import Finding, Severity, StoredContent
from lakebed.ports import Checksum, DamagedFile, FileContent, ReachableFile

_RESTORE = (
    "Bring the file back from a backup of the files; until then, snapshots without it can be read."
)
_OLDEST = datetime.min.replace(tzinfo=UTC)


def damage(table: str, found: DamagedFile, *, dropped: bool = False) -> Finding:
    """A file that a table needs and that cannot be read."""
    missing = found.reason == "there is no such file"
    what = (
        f"the {found.kind} of {table}"
        f" {'is missing' if missing else f'cannot be read: {found.reason}'}"
    )
    if dropped:
        advice = "The table cannot be restored whole."
        return Finding(
            "damaged dropped table",
            "warning",
            found.location,
            f"{what} (it was dropped)",
            advice=advice,
        )
    if found.kind == "metadata":
        return Finding("damaged metadata", "problem", found.location, what, advice=_RESTORE)
    return Finding(
        "missing file" if missing else "damaged file",
        "problem",
        found.location,
        what,
        advice=_RESTORE,
    )


_NOT_ROWS = {"metadata", "statistics", "batches"}


def missing(table: str, reached: ReachableFile, *, dropped: bool = False) -> Finding:
    """A missing file; earlier metadata files are only history, statistics only make reading faster,
    and batches that are not known run again.
    """
    what = (
        f"the {'earlier ' if reached.kind == 'metadata' else ''}{reached.kind} file of {table} is"
        " missing"
    )
    if dropped:
        advice = "The table cannot be restored whole."
        return Finding(
            "damaged dropped table",
            "warning",
            reached.location,
            f"{what} (it was dropped)",
            advice=advice,
        )
    severity: Severity = "warning" if reached.kind in _NOT_ROWS else "problem"
    return Finding(
        "missing file",
        severity,
        reached.location,
        what,
        advice=_RESTORE if severity == "problem" else "",
    )


def wrong_size(table: str, reached: ReachableFile, size: int) -> Finding:
    """A file that is longer or shorter than its manifest says."""
    what = (
        f"the {reached.kind} file of {table} has {size:,} bytes, its manifest says {reached.size:,}"
    )
    return Finding("wrong size", "problem", reached.location, what, advice=_RESTORE)


def to_read(
    files: Iterable[str], known: Mapping[str, Checksum], *, limit: int | None
) -> tuple[str, ...]:
    """The files to read in full: first those never read, then those read longest ago, so that each
    gets its turn.
    """
    order = sorted(files, key=lambda path: (known[path].at if path in known else _OLDEST, path))
    return tuple(order if limit is None else order[:limit])


def judge_content(
    table: str, location: str, content: FileContent, known: Checksum | None
) -> Finding | None:
    """What reading a file has shown: not a valid file of its kind, or other bytes than before."""
    if content.fault:
        return Finding(
            "damaged file",
            "problem",
            location,
            f"a file of {table} cannot be decoded: {content.fault}",
            advice=_RESTORE,
        )
    if known and known.sha256 != content.sha256:
        what = (
            f"a file of {table} was changed since {known.at:%Y-%m-%d %H:%M} UTC: its SHA-256 is not"
            " what it was"
        )
        return Finding("changed file", "problem", location, what, advice=_RESTORE)
    return None


def judge_stored(stored: StoredContent, sha256: str | None) -> Iterator[Finding]:
    """Content of a release that is missing, or not what its digest says."""
    if sha256 != stored.sha256:
        what = (
            f"{stored.needed_by} needs it, and it"
            f" {'is missing' if sha256 is None else 'was changed'}"
        )
        advice = "Bring it back from a backup of the files, or release the pipeline again."
        yield Finding("damaged release", "problem", stored.path, what, advice=advice)
