"""Settings of care: how long things are kept, and when files are rewritten.

Unset values come from the level above: a pipeline's own `care`, its table, its namespace, the lake,
the default.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

SAFE_DAYS = 1.0  # anything that is still being read or written is younger


def _safe(days: float) -> float:
    if days < SAFE_DAYS:
        raise ValueError(f"{days:g} days is a retention below the safe bound of {SAFE_DAYS:g} day")
    return days


SafeDays = Annotated[float, AfterValidator(_safe)]


class TableCare(BaseModel):
    """Care settings of a lake, a namespace, a table or a pipeline."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    snapshot_max_age_days: SafeDays = Field(
        default=7, description="how long a superseded snapshot is kept; at least 1"
    )
    min_snapshots_to_keep: int = Field(
        default=1, ge=1, description="this many of the newest snapshots of `main` are always kept"
    )
    dead_branch_max_age_hours: float = Field(
        default=6, ge=1, description="how long the branch of a failed run is kept"
    )
    dropped_max_age_days: SafeDays = Field(
        default=30, description="how long a dropped table can be restored; at least 1"
    )
    runs_max_per_pipeline: int = Field(
        default=100, ge=1, description="how many run records are kept"
    )
    runs_max_age_days: float = Field(
        default=90, ge=1, description="how long they are kept; the last success is always kept"
    )
    verdicts_max_per_gate: int = Field(
        default=100, ge=1, description="verdicts and bad rows are kept for this many runs"
    )
    compact: bool = Field(
        default=True, description="whether small files and manifests are rewritten"
    )
    compact_min_files: int = Field(
        default=50, ge=2, description="this many small files are worth a rewrite"
    )
    compact_small_ratio: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="and this share of all files must be small: under 3/4 of target_file_size",
    )
    compact_min_manifests: int = Field(
        default=100, ge=2, description="this many small manifests are worth a rewrite"
    )


class CareSettings(TableCare):
    """Care settings of a lake."""

    interval_minutes: float = Field(
        default=15, ge=1, description="how often the service checks what is due"
    )
    remove_orphans: bool = Field(
        default=False,
        description="remove orphans without --orphans; otherwise they are only reported",
    )
    orphan_file_max_age_days: SafeDays = Field(
        default=3, description="how old a file must be to count as an orphan; at least 1"
    )
    staging_max_age_days: SafeDays = Field(
        default=1, description="how long payloads and scratch files of ended runs are kept"
    )
    quarantine_max_age_days: SafeDays | None = Field(
        default=None,
        description="how long quarantined files are kept; for ever unless set, otherwise at least"
        " 1",
    )
    logs_max_age_days: float = Field(default=30, ge=1, description="how long logs are kept")
    events_max_age_days: float = Field(
        default=365,
        ge=1,
        description="how long events of tables, publications and the log of care are kept",
    )


def effective_care(*levels: TableCare) -> TableCare:
    """Each setting from the last level that sets it."""
    said: dict[str, object] = {}
    for level in levels:
        said |= level.model_dump(exclude_unset=True, include=set(TableCare.model_fields))
    return TableCare.model_validate(said)
