"""Pipelines, their releases, saved drafts and queries as JSON-ready values."""

from typing import TYPE_CHECKING, Any

from lakebed.presentation.values import fields_of, json_ready

if TYPE_CHECKING:
    from lakebed.pipelines.preview.preview import Preview
    from lakebed.pipelines.preview.selected import CompiledSql
    from lakebed.pipelines.releases import ReleaseResult, RestoredDraft
    from lakebed.pipelines.releases.states import PipelineState
    from lakebed.pipelines.releases.stored import PipelineDiff
    from lakebed.ports import Draft, Release


def pipeline_json(state: "PipelineState") -> dict[str, Any]:
    """Where a pipeline stands: its draft, and its newest release."""
    return fields_of(state, table=str(state.table))


def draft_json(draft: "Draft") -> dict[str, Any]:
    """A saved draft."""
    return fields_of(draft, table=str(draft.table))


def saved_draft_json(draft: "Draft", *, is_new: bool) -> dict[str, Any]:
    """A draft that was just saved, and whether its content is new."""
    return draft_json(draft) | {"new": is_new}


def restored_draft_json(restored: "RestoredDraft", *, source: str) -> dict[str, Any]:
    """A draft that was written back, and from what."""
    return {
        "table": str(restored.table),
        "from": source,
        "written": json_ready(restored.written),
        "removed": json_ready(restored.removed),
    }


def release_json(release: "Release") -> dict[str, Any]:
    """A release."""
    return fields_of(release, table=str(release.table))


def made_release_json(made: "ReleaseResult") -> dict[str, Any]:
    """The newest release, whether it is new, and how it differs from the one before."""
    changes = fields_of(made.changes)
    return release_json(made.release) | {
        "new": made.new,
        "dropped": sorted(made.dropped),
        "changes": changes,
    }


def pipeline_diff_json(found: "PipelineDiff") -> dict[str, Any]:
    """How two versions or drafts differ."""
    before, after = found.names
    return {"table": str(found.table), "from": before, "to": after} | fields_of(found.changes)


def sql_json(sql: "CompiledSql") -> dict[str, Any]:
    """The compiled query of a pipeline, or of one of its gates."""
    return fields_of(sql, table=str(sql.table))


def preview_json(found: "Preview") -> dict[str, Any]:
    """The first rows of a pipeline's result."""
    return {
        "table": str(found.table),
        "columns": json_ready(found.fields),
        "rows": json_ready(found.rows),
        "sampled": list(map(str, found.sampled)),
    }
