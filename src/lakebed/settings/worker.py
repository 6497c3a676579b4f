"""Settings of the worker."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field


class WorkerSettings(BaseModel):
    """The process that keeps Spark warm between commands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool | None = Field(
        default=None,
        description="whether commands use a worker; unset: in a terminal, but not in CI",
    )
    idle_minutes: float = Field(
        default=10.0, gt=0, description="a worker ends after this long without a command"
    )
    wait: float | None = Field(
        default=None,
        ge=0,
        le=120,
        description=(
            "seconds to wait for a free core of the worker's Spark before a command starts its own;"
            " unset: as long as that Spark took to start"
        ),
    )


def wants_worker(
    settings: WorkerSettings,
    environment: Mapping[str, str],
    *,
    asked: bool | None,
    interactive: bool,
) -> bool:
    """Whether to use a worker: as asked, as set, or in a terminal."""
    if environment.get("LAKEBED_WORKER", "").lower() == "off":
        return False
    if asked is not None:
        return asked
    if settings.enabled is not None:
        return settings.enabled
    return interactive and not environment.get("CI")
