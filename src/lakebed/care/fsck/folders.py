"""Judging the folders of tables: those without a table, and files that no table reaches. Pure."""

from collections.abc import Collection, Iterator, Mapping

from lakebed.care.fsck.spec import ClearStage, Finding
from lakebed.names import run_of_hidden, short_id


def lost_catalog(files: int) -> Finding:
    """The catalog is empty although there were tables."""
    what = f"the catalog has no tables, but the lake has {files:,} of their metadata files"
    advice = (
        "Restore a backup: lakebed restore BACKUP --newest; without one: lakebed fsck"
        " --rebuild-catalog"
    )
    return Finding("lost catalog", "problem", "catalog", what, advice=advice)


def moved_lake(where: str, what: str, *, former_root: str = "") -> Finding:
    """A table that points to another place."""
    known = f" --from {former_root}" if former_root else ""
    advice = f"If the lake was copied or moved: lakebed relocate{known}"
    return Finding("moved lake", "problem", where, what, advice=advice)


def folders_without_tables(folders: Mapping[str, int], used: Collection[str]) -> Iterator[Finding]:
    """`folders` have so many files each; `used` are those of tables, dropped ones included, and
    those in which a table has files.
    """
    for folder, files in sorted(folders.items()):
        if folder in used:
            continue
        what = f"it is the folder of no table, and no table reaches its {files:,} files"
        if run_id := _staged_by(folder):
            what = f"{what}: the run {short_id(run_id)} staged its result here"
            yield Finding(
                "folder without table", "warning", folder, what, ClearStage(folder, run_id)
            )
            continue
        yield Finding(
            "folder without table",
            "warning",
            folder,
            what,
            advice="If it was a table, register it again: lakebed fsck --rebuild-catalog",
        )


def _staged_by(folder: str) -> str | None:
    """The run that staged its result there: such a table is never published or registered."""
    name = folder.rpartition("/")[2]
    return run_of_hidden(name) if name.startswith("stage_") else None


def unreached(folders: Mapping[str, tuple[int, int]]) -> Iterator[Finding]:
    """Folders of tables with files that no table reaches: how many, and their bytes. One finding
    for all of them.
    """
    if folders:
        files, size = (sum(one) for one in zip(*folders.values(), strict=True))
        what = f"no table reaches {files:,} files of {size:,} bytes: work in progress, or leftovers"
        yield Finding(
            "unreached files",
            "info",
            ", ".join(sorted(folders)),
            what,
            advice="List them: lakebed care --dry-run; remove them: lakebed care --orphans",
        )
