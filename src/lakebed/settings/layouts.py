"""Settings of layouts."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class LayoutSettings(BaseModel):
    """When queries read layouts instead of tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    use: bool = Field(
        default=True, description="whether queries and lazy tables may read layouts at all"
    )
    order: Literal["strict", "relaxed"] = Field(
        default="strict",
        description=(
            "strict: a query whose answer may depend on the order of stored rows, such as one with"
            " LIMIT, reads no layout; relaxed: it may, and get other rows than from the table"
        ),
    )
