"""Settings of releases and drafts."""

from pydantic import BaseModel, ConfigDict, Field


class ReleaseSettings(BaseModel):
    """How long versions of pipelines and their drafts are kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_versions: int = Field(
        default=50,
        ge=1,
        description="how many versions of a pipeline are kept; its own max_versions has precedence",
    )
    drafts_max_age_days: float = Field(
        default=7, ge=1, description="how long saved drafts are kept"
    )
    soft_delete_purge_days: float = Field(
        default=30,
        ge=1,
        description="how long a deleted pipeline can be restored; then care removes its releases",
    )
