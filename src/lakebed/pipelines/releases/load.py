"""Reading pipelines from their newest releases, whatever the drafts are like."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from lakebed.errors import LakebedError, UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import (
    decode_files,
    is_source,
    list_folders,
    read_drafts,
    read_pipeline,
)
from lakebed.pipelines.definition.naming import tables_of_folders
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.pin_inputs import Specs
from lakebed.pipelines.releases.content import fetch_content
from lakebed.ports import Files, Release, Releases


@dataclass(frozen=True)
class ReleasedPipelines:
    """The pipelines that have a release, and why the others cannot run from one."""

    specs: dict[TableName, PipelineSpec]
    damaged: dict[TableName, LakebedError]  # the release cannot be read
    deleted: dict[TableName, LakebedError]
    unreleased: dict[TableName, LakebedError]  # there is only a draft


def load_released(files: Files, releases: Releases) -> ReleasedPipelines:
    """Every pipeline from its newest release. If one cannot be read, the others still can."""
    drafts, newest = draft_tables(files), releases.newest()
    deleted = {
        table: _deleted(table, at)
        for table, at in releases.deleted().items()
        if table not in drafts
    }
    unreleased = {table: _unreleased(table) for table in sorted(drafts - newest.keys())}
    found = ReleasedPipelines({}, {}, dict(deleted), dict(unreleased))
    for table, release in newest.items():
        if table not in deleted:
            try:
                found.specs[table] = read_release(
                    files, release, known=newest.keys() - deleted.keys()
                )
            except LakebedError as error:
                found.damaged[table] = error
    return found


def read_release(files: Files, release: Release, *, known: Collection[TableName]) -> PipelineSpec:
    """The pipeline as it was released, read only from the stored content.

    `known` are the tables of all releases.
    """
    folder = release.table.pipeline_folder
    return read_pipeline(
        folder,
        decode_files(folder, fetch_content(files, release.files)),
        version=release.version,
        known=known,
    )


def draft_tables(files: Files) -> set[TableName]:
    """The pipelines that have a source file. Reads no file, so invalid drafts count too."""
    return set(
        tables_of_folders(
            folder for folder, paths in list_folders(files).items() if any(map(is_source, paths))
        )
    )


def differing_counterparts(
    specs: Specs, files: Files, releases: Releases
) -> tuple[PipelineSpec, ...]:
    """If these are drafts, the releases that differ from them, and drafts that are not among them;
    if these are releases, the drafts that differ. Raises if a draft cannot be read.
    """
    if any(spec.version is None for spec in specs.values()):
        deleted = releases.deleted().keys() - specs.keys()
        newest = [release for table, release in releases.newest().items() if table not in deleted]
        differing = [
            release for release in newest if _digest(specs.get(release.table)) != release.digest
        ]
        known = {one.table for one in newest}
        return (
            *_further_drafts(specs, files),
            *(read_release(files, release, known=known) for release in differing),
        )
    return tuple(
        draft
        for draft in read_drafts(files).values()
        if _digest(specs.get(draft.table)) != draft.digest
    )


def _further_drafts(specs: Specs, files: Files) -> tuple[PipelineSpec, ...]:
    """The drafts that are not among these: of a layer that is unknown, say, or new."""
    known = {spec.folder for spec in specs.values()}
    folders = {
        folder for folder, paths in list_folders(files).items() if any(map(is_source, paths))
    }
    if folders <= known:
        return ()
    return tuple(draft for draft in read_drafts(files).values() if draft.folder not in known)


def _digest(spec: PipelineSpec | None) -> str | None:
    return spec.digest if spec else None


def _unreleased(table: TableName) -> UsageError:
    return UsageError(
        "it has no release, only a draft.",
        where=str(table),
        next=f"Release it: lakebed pipeline release {table}, or run the draft: without --released.",
    )


def _deleted(table: TableName, at: datetime) -> UsageError:
    return UsageError(
        f"it was deleted on {at:%Y-%m-%d}.",
        where=str(table),
        next=f"Bring it back: lakebed pipeline restore {table}",
    )
