"""Releasing, rolling back, saving, restoring and deleting: content first, then the row that refers
to it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lakebed.errors import DamagedRelease, UsageError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import (
    content_digest,
    decode_files,
    read_folder,
    read_pipeline,
)
from lakebed.pipelines.definition.naming import require_known_layer
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.releases.check import check_release, require_no_cycle
from lakebed.pipelines.releases.content import (
    Contents,
    FileDigests,
    ensure_stored,
    fetch_content,
    store_content,
)
from lakebed.pipelines.releases.diff import FileChanges, compare
from lakebed.pipelines.releases.load import draft_tables, read_release
from lakebed.pipelines.releases.plan import versions_to_drop
from lakebed.pipelines.services import RunServices
from lakebed.ports import Draft, Release

_RECENT = timedelta(hours=1)


@dataclass(frozen=True)
class ReleaseResult:
    """The newest version: a new one, or the existing one if nothing changed."""

    release: Release
    new: bool
    changes: FileChanges  # since the previous version
    dropped: tuple[int, ...] = ()  # versions over the limit


@dataclass(frozen=True)
class RestoredDraft:
    """Which files of a draft were written and removed."""

    table: TableName
    written: tuple[str, ...]
    removed: tuple[str, ...]


def release_draft(
    table: TableName,
    contents: Contents,
    services: RunServices,
    *,
    who: str,
    message: str,
    vars: Mapping[str, Any],
) -> ReleaseResult:
    """Check a draft and make it the next version, unless the newest version has the same files."""
    files = decode_files(table.pipeline_folder, contents)
    require_known_layer(table.pipeline_folder, services.ports.settings)
    known = {*draft_tables(services.ports.files), *services.ports.releases.newest()}
    spec = read_pipeline(table.pipeline_folder, files, known=known)
    check_release(spec, services, vars=vars)
    return make_release(spec, contents, services, who=who, message=message)


def make_release(
    spec: PipelineSpec, contents: Contents, services: RunServices, *, who: str, message: str
) -> ReleaseResult:
    """Make the next version with these files.

    If the newest version has the same files, its content is only repaired.
    """
    save_draft(spec.table, contents, services)
    return _next_version(spec, contents, services, who=who, message=message)


def roll_back(
    table: TableName, version: int, services: RunServices, *, who: str, message: str
) -> ReleaseResult:
    """Make the next version with the files of an earlier one. The draft stays as it is."""
    old = find_version(table, version, services)
    if table in services.ports.releases.deleted() and not _has_draft(table, services):
        next = f"Bring it back: lakebed pipeline restore {table} {version}"
        raise UsageError("it was deleted.", where=str(table), next=next)
    contents = fetch_content(services.ports.files, old.files)
    spec = read_release(services.ports.files, old, known=services.ports.releases.newest().keys())
    require_no_cycle(spec, services)
    if draft := read_folder(services.ports.files, table.pipeline_folder):
        save_draft(table, draft, services)
    return _next_version(
        spec, contents, services, who=who, message=message or f"rollback to {version}"
    )


def _has_draft(table: TableName, services: RunServices) -> bool:
    return bool(read_folder(services.ports.files, table.pipeline_folder))


def find_version(table: TableName, version: int, services: RunServices) -> Release:
    """This version of a pipeline."""
    versions = {release.version: release for release in services.ports.releases.versions(table)}
    if version not in versions:
        next = (
            f"See them: lakebed pipeline releases {table}"
            if versions
            else f"Make one: lakebed pipeline release {table}"
        )
        raise UsageError(f"there is no release {version}.", where=str(table), next=next)
    return versions[version]


def _next_version(
    spec: PipelineSpec, contents: Contents, services: RunServices, *, who: str, message: str
) -> ReleaseResult:
    files, table = services.ports.files, spec.table
    versions = services.ports.releases.versions(table)
    kept = store_content(files, contents)
    last = versions[0] if versions else None
    if last and last.digest == spec.digest:
        return ReleaseResult(last, False, FileChanges())
    number = last.version + 1 if last else 1
    release = Release(table, number, spec.digest, services.ports.now(), who, message, kept)
    limit = spec.config.max_versions or services.ports.settings.releases.max_versions
    drop = versions_to_drop([number, *(old.version for old in versions)], limit)
    changes = changes_between(last, contents, services, name=f"release {number}")
    services.ports.releases.add(release, drop=drop)
    ensure_stored(files, contents)
    return ReleaseResult(release, True, changes, drop)


def changes_between(
    last: Release | None, contents: Contents, services: RunServices, *, name: str
) -> FileChanges:
    """The changes since a version.

    A version that cannot be read counts as empty, so that it can be replaced.
    """
    before: Contents = {}
    with suppress(DamagedRelease):
        before = fetch_content(services.ports.files, last.files) if last else {}
    return compare(before, contents, names=(f"release {last.version}" if last else "nothing", name))


def save_draft(table: TableName, contents: Contents, services: RunServices) -> tuple[Draft, bool]:
    """Save a draft, and say whether its content is new. Saving it again makes it the newest."""
    is_new = content_digest(contents) not in {
        draft.digest for draft in services.ports.releases.drafts(table)
    }
    return _saved(table, contents, services), is_new


def save_drafts(drafts: Mapping[TableName, Contents], services: RunServices) -> None:
    """Save several drafts, except those saved within the last hour."""
    ports = services.ports
    recent = ports.now() - _RECENT
    known = (
        {(draft.table, draft.digest) for draft in ports.releases.drafts() if draft.at > recent}
        if drafts
        else set()
    )
    for table, contents in drafts.items():
        if (table, content_digest(contents)) not in known:
            _saved(table, contents, services)


def _saved(table: TableName, contents: Contents, services: RunServices) -> Draft:
    draft = Draft(
        table,
        content_digest(contents),
        services.ports.now(),
        store_content(services.ports.files, contents),
    )
    services.ports.releases.save_draft(draft)
    ensure_stored(services.ports.files, contents)
    return draft


def restore_draft(table: TableName, files: FileDigests, services: RunServices) -> RestoredDraft:
    """Write these files back as the draft.

    The present draft is saved first; its other files are removed.
    """
    store, folder = services.ports.files, table.pipeline_folder
    contents = fetch_content(store, files)
    present = read_folder(store, folder)
    if present:
        save_draft(table, present, services)
    written = tuple(path for path, data in contents.items() if present.get(path) != data)
    for path in written:
        store.write(f"{folder}/{path}", contents[path])
    removed = tuple(sorted(present.keys() - contents.keys()))
    for path in removed:
        store.delete(f"{folder}/{path}")
    services.ports.releases.mark_present([table])
    return RestoredDraft(table, written, removed)


def delete_draft(table: TableName, services: RunServices) -> Draft | None:
    """Delete a pipeline: its draft is saved and its folder removed; releases and the table stay."""
    store, folder = services.ports.files, table.pipeline_folder
    if table not in draft_tables(store) and table in services.ports.releases.deleted():
        raise UsageError("it is already deleted.", where=str(table))
    contents = read_folder(store, folder)
    draft = save_draft(table, contents, services)[0] if contents else None
    services.ports.releases.mark_deleted(table, at=services.ports.now())
    for path in contents:
        store.delete(f"{folder}/{path}")
    if all("/__pycache__/" in found.path for found in store.list(folder)):
        store.clear(folder)  # other hidden files stay
    return draft
