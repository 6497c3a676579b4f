"""A lake's releases and drafts: made, listed, compared, rolled back and restored. What `lake.pipelines.releases` is."""

import getpass
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from lakebed.errors import UsageError
from lakebed.names import TableName
from lakebed.pipelines import RunServices, read_pipeline
from lakebed.pipelines.definition.load import content_digest, decode_files, read_folder
from lakebed.pipelines.definition.naming import require_known_layer
from lakebed.pipelines.releases import (
    FileChanges,
    ReleaseResult,
    RestoredDraft,
    check_release,
    compare,
    delete_draft,
    draft_tables,
    fetch_content,
    find_version,
    make_release,
    restore_draft,
    roll_back,
    save_draft,
)
from lakebed.ports import Draft, Release
from lakebed.tables.lookup.names import find_by_name

DRAFT = "draft"
_SHORTEST = 4  # digits of a digest that may stand for it
DraftState = Literal["unreleased", "changed", "released", "absent", "deleted"]


@dataclass(frozen=True)
class PipelineState:
    """How a pipeline's draft stands to its newest release."""

    table: TableName
    draft: DraftState
    version: int | None
    released_at: datetime | None
    deleted_at: datetime | None = None
    purged_at: datetime | None = None  # from then on it cannot be restored


@dataclass(frozen=True)
class PipelineDiff:
    """Two states of a pipeline's files, and what differs."""

    table: TableName
    names: tuple[str, str]
    changes: FileChanges


@dataclass(frozen=True)
class _Stored:
    name: str
    files: Mapping[str, str]


class PipelineReleases:
    """The releases and drafts of one lake."""

    def __init__(self, tools: Callable[[], RunServices]) -> None:
        self._open = tools

    @property
    def _tools(self) -> RunServices:
        return self._open()

    def find(self, name: str) -> TableName:
        """The pipeline of this name, or of this end of a name."""
        return find_by_name(name, self.known(), kind="pipeline")

    def known(self) -> tuple[TableName, ...]:
        """All pipelines: drafts, right or wrong, released ones, and those that can be restored."""
        releases = self._tools.releases
        saved = {draft.table for draft in releases.drafts()}
        return tuple(sorted({*draft_tables(self._tools.placement.files), *releases.newest(), *releases.deleted(), *saved}))

    def make(self, name: str, *, message: str = "", vars: Mapping[str, Any] | None = None) -> ReleaseResult:
        """Check a draft and make it the next version; where it is the newest version already, nothing is made."""
        tools, table = self._tools, self.find(name)
        contents = self._draft(table)
        read = decode_files(table.pipeline_folder, contents)
        require_known_layer(table.pipeline_folder, tools.placement.settings)
        known = {*draft_tables(tools.placement.files), *tools.releases.newest()}
        spec = read_pipeline(table.pipeline_folder, read, known=known)
        check_release(spec, read, tools, vars=vars or {})
        return make_release(spec, contents, tools, who=this_user(), message=message)

    def versions(self, name: str) -> tuple[Release, ...]:
        """All versions that are kept, newest first."""
        return self._tools.releases.versions(self.find(name))

    def diff(self, name: str, one: str, other: str = DRAFT) -> PipelineDiff:
        """From one state to another: a version, the beginning of a saved draft's digest, or `draft`."""
        table = self.find(name)
        (before, old), (after, new) = self._state(table, one), self._state(table, other)
        return PipelineDiff(table, (before, after), compare(old, new, names=(before, after)))

    def roll_back(self, name: str, version: int, *, message: str = "") -> ReleaseResult:
        """A further version with the files of an earlier one; the draft is left as it is."""
        return roll_back(self.find(name), version, self._tools, who=this_user(), message=message)

    def save(self, name: str) -> tuple[Draft, bool]:
        """Save the draft; and whether its content is new."""
        table = self.find(name)
        return save_draft(table, self._draft(table), self._tools)

    def drafts(self, name: str) -> tuple[Draft, ...]:
        """Saved drafts, newest first."""
        return self._tools.releases.drafts(self.find(name))

    def restore(self, name: str, state: str | None = None) -> tuple[str, RestoredDraft]:
        """Make a version or a saved draft the draft again, and say which; without one, what a draft that is gone was last."""
        table = self.find(name)
        stored = self._last(table) if state is None else self._stored(table, state)
        return stored.name, restore_draft(table, stored.files, self._tools)

    def delete(self, name: str) -> PipelineState:
        """Take a pipeline out of the lake. Its draft is saved, its releases are kept for a while, its table stays."""
        table = self.find(name)
        if table not in draft_tables(self._tools.placement.files) and table in self._tools.releases.deleted():
            raise UsageError("it is deleted already.", where=str(table))
        delete_draft(table, self._tools)
        return next(state for state in self.ls() if state.table == table)

    def ls(self) -> tuple[PipelineState, ...]:
        """All pipelines: drafts, released ones, and deleted ones that can still be restored."""
        files, releases = self._tools.placement.files, self._tools.releases
        drafts, newest, deleted = draft_tables(files), releases.newest(), releases.deleted()
        digests = {table: content_digest(read_folder(files, table.pipeline_folder)) for table in drafts}
        return tuple(
            self._listed(table, newest.get(table), digests.get(table), deleted.get(table))
            for table in sorted(drafts | newest.keys() | deleted.keys())
        )

    def _listed(self, table: TableName, newest: Release | None, digest: str | None, deleted_at: datetime | None) -> PipelineState:
        version, at = (newest.version, newest.at) if newest else (None, None)
        if digest is None and deleted_at:
            days = self._tools.placement.settings.releases.soft_delete_purge_days
            return PipelineState(table, "deleted", version, at, deleted_at, deleted_at + timedelta(days=days))
        return PipelineState(table, _draft_state(newest, digest), version, at)

    def _draft(self, table: TableName) -> dict[str, bytes]:
        contents = read_folder(self._tools.placement.files, table.pipeline_folder)
        if not contents:
            next = f"Bring it back: lakebed pipeline restore {table}"
            raise UsageError("there is no draft: its folder is gone.", where=table.pipeline_folder, next=next)
        return contents

    def _state(self, table: TableName, text: str) -> tuple[str, Mapping[str, bytes]]:
        if text == DRAFT:
            return DRAFT, self._draft(table)
        stored = self._stored(table, text)
        return stored.name, fetch_content(self._tools.placement.files, stored.files)

    def _stored(self, table: TableName, text: str) -> _Stored:
        """A version (`3`), or a saved draft by the beginning of its digest."""
        versions = {release.version for release in self._tools.releases.versions(table)}
        drafts = self._tools.releases.drafts(table)
        fitting = [draft for draft in drafts if len(text) >= _SHORTEST and draft.digest.startswith(text.casefold())]
        if text.isdigit() and (int(text) in versions or not fitting):
            release = find_version(table, int(text), self._tools)
            return _Stored(f"release {release.version}", release.files)
        if len(fitting) > 1:
            raise UsageError(f"{text!r} fits {len(fitting)} saved drafts.", where=str(table), next="Give more of the digest.")
        if not fitting:
            next = f"See them: lakebed pipeline releases {table}, lakebed pipeline drafts {table}"
            raise UsageError(f"there is no release or saved draft {text!r}.", where=str(table), next=next)
        return _saved(fitting[0])

    def _last(self, table: TableName) -> _Stored:
        if table in draft_tables(self._tools.placement.files):
            next = f"Choose one: lakebed pipeline drafts {table}, lakebed pipeline releases {table}"
            raise UsageError("its draft is there; say what to restore.", where=str(table), next=next)
        drafts, versions = self._tools.releases.drafts(table), self._tools.releases.versions(table)
        if drafts:
            return _saved(drafts[0])
        return _Stored(f"release {versions[0].version}", versions[0].files)


def _saved(draft: Draft) -> _Stored:
    return _Stored(f"saved draft {draft.digest[:12]}", draft.files)


def _draft_state(newest: Release | None, digest: str | None) -> DraftState:
    if newest is None:
        return "unreleased"
    if digest is None:
        return "absent"
    return "released" if digest == newest.digest else "changed"


def this_user() -> str:
    """Who releases: `user@host`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        user = f"uid {os.getuid()}"
    return f"{user}@{socket.gethostname()}"
