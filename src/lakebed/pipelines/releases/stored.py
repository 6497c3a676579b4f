"""A pipeline's files by name: the draft, a saved draft, or a version."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import read_folder
from lakebed.pipelines.releases.content import FileDigests, fetch_content
from lakebed.pipelines.releases.diff import FileChanges, compare
from lakebed.pipelines.releases.load import draft_tables
from lakebed.pipelines.releases.run import find_version
from lakebed.pipelines.services import RunServices
from lakebed.ports import Draft, Release

DRAFT = "draft"
_SHORTEST = 4  # digits of a digest that may stand for it


@dataclass(frozen=True)
class StoredFiles:
    """The files of a version or of a saved draft."""

    name: str
    files: FileDigests


@dataclass(frozen=True)
class PipelineDiff:
    """What differs between two states of a pipeline's files."""

    table: TableName
    names: tuple[str, str]
    changes: FileChanges


def diff_files(table: TableName, one: str, other: str, services: RunServices) -> PipelineDiff:
    """From one to the other: each is a version, the start of a saved draft's digest, or `draft`."""
    (before, old), (after, new) = _contents(table, one, services), _contents(table, other, services)
    return PipelineDiff(table, (before, after), compare(old, new, names=(before, after)))


def _contents(
    table: TableName, text: str, services: RunServices
) -> tuple[str, Mapping[str, bytes]]:
    if text == DRAFT:
        return DRAFT, read_draft(table, services)
    stored = find_stored(table, text, services)
    return stored.name, fetch_content(services.ports.files, stored.files)


def read_draft(table: TableName, services: RunServices) -> dict[str, bytes]:
    """The files of the draft."""
    contents = read_folder(services.ports.files, table.pipeline_folder)
    if not contents:
        next = f"Bring it back: lakebed pipeline restore {table}"
        raise UsageError(
            "there is no draft: its folder is gone.", where=table.pipeline_folder, next=next
        )
    return contents


def find_stored(table: TableName, text: str, services: RunServices) -> StoredFiles:
    """A version (`3`), or a saved draft by the start of its digest."""
    versions = {release.version for release in services.ports.releases.versions(table)}
    drafts = services.ports.releases.drafts(table)
    matching = [
        draft
        for draft in drafts
        if len(text) >= _SHORTEST and draft.digest.startswith(text.casefold())
    ]
    if text.isdigit() and (int(text) in versions or not matching):
        return _of_release(find_version(table, int(text), services))
    if len(matching) > 1:
        what = f"{text!r} is ambiguous: {len(matching)} saved drafts start with it."
        raise UsageError(what, where=str(table), next="Give more of the digest.")
    if not matching:
        next = f"See them: lakebed pipeline releases {table}, lakebed pipeline drafts {table}"
        raise UsageError(
            f"there is no release or saved draft {text!r}.", where=str(table), next=next
        )
    return _of_draft(matching[0])


def last_stored(table: TableName, services: RunServices) -> StoredFiles:
    """What a draft whose folder is gone was last: its newest saved draft, else its newest
    version.
    """
    if table in draft_tables(services.ports.files):
        next = f"Choose one: lakebed pipeline drafts {table}, lakebed pipeline releases {table}"
        raise UsageError("its draft exists; say what to restore.", where=str(table), next=next)
    releases = services.ports.releases
    drafts, versions = releases.drafts(table), releases.versions(table)
    return _of_draft(drafts[0]) if drafts else _of_release(versions[0])


def _of_draft(draft: Draft) -> StoredFiles:
    return StoredFiles(f"saved draft {draft.digest[:12]}", draft.files)


def _of_release(release: Release) -> StoredFiles:
    return StoredFiles(f"release {release.version}", release.files)
