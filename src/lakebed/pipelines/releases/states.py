"""Which pipelines there are, and how their drafts compare with their newest releases."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from lakebed.names import TableName
from lakebed.pipelines.definition.load import content_digest, read_folder
from lakebed.pipelines.releases.load import draft_tables
from lakebed.pipelines.services import RunServices
from lakebed.ports import Release
from lakebed.tables.lookup.names import find_by_name

DraftState = Literal["unreleased", "changed", "released", "absent", "deleted"]


@dataclass(frozen=True)
class PipelineState:
    """How a pipeline's draft compares with its newest release."""

    table: TableName
    draft: DraftState
    version: int | None
    released_at: datetime | None
    deleted_at: datetime | None = None
    purged_at: datetime | None = None  # from then on it cannot be restored


def find_pipeline(name: str, services: RunServices) -> TableName:
    """The pipeline with this name, or with a name that ends so."""
    return find_by_name(name, known_pipelines(services), kind="pipeline")


def known_pipelines(services: RunServices) -> tuple[TableName, ...]:
    """All pipelines: drafts, valid or not, releases, and those that can be restored."""
    releases = services.ports.releases
    saved = {draft.table for draft in releases.drafts()}
    return tuple(
        sorted(
            {
                *draft_tables(services.ports.files),
                *releases.newest(),
                *releases.deleted(),
                *saved,
            }
        )
    )


def pipeline_states(services: RunServices) -> tuple[PipelineState, ...]:
    """All pipelines: drafts, releases, and deleted ones that can still be restored."""
    files, releases = services.ports.files, services.ports.releases
    drafts, newest, deleted = draft_tables(files), releases.newest(), releases.deleted()
    digests = {table: content_digest(read_folder(files, table.pipeline_folder)) for table in drafts}
    days = services.ports.settings.releases.soft_delete_purge_days
    return tuple(
        _state(table, newest.get(table), digests.get(table), deleted.get(table), purge_days=days)
        for table in sorted(drafts | newest.keys() | deleted.keys())
    )


def _state(
    table: TableName,
    newest: Release | None,
    digest: str | None,
    deleted_at: datetime | None,
    *,
    purge_days: float,
) -> PipelineState:
    version, released_at = (newest.version, newest.at) if newest else (None, None)
    if digest is None and deleted_at:
        purged_at = deleted_at + timedelta(days=purge_days)
        return PipelineState(table, "deleted", version, released_at, deleted_at, purged_at)
    return PipelineState(table, _draft_state(newest, digest), version, released_at)


def _draft_state(newest: Release | None, digest: str | None) -> DraftState:
    if newest is None:
        return "unreleased"
    if digest is None:
        return "absent"
    return "released" if digest == newest.digest else "changed"
