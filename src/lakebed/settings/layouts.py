"""Settings of layouts."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class LayoutSettings(BaseModel):
    """When layouts are built, and when queries read them instead of tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    build: Literal["inline", "later"] = Field(
        default="inline",
        description=(
            "inline: whatever changes a table builds its layouts then; later: the next care or"
            " `layout build` does"
        ),
    )
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
