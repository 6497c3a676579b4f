"""A request for runs. An option of `lakebed run` is declared here, once."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Self, TypedDict, Unpack

from pydantic import BeforeValidator, Field, model_validator

from lakebed.errors import UsageError
from lakebed.requests.request import OptionalText, Request
from lakebed.requests.spelling import Spelling

RangeBound = str | int | date | datetime


class SqlKeywords(TypedDict, total=False):
    """The options on which the SQL of a pipeline depends."""

    full_refresh: bool
    start: RangeBound | None
    end: RangeBound | None
    vars: Mapping[str, Any] | None
    released: bool


class SelectKeywords(TypedDict, total=False):
    """The options that say which pipelines are meant."""

    select: Sequence[str]
    exclude: Sequence[str]
    released: bool


class GateKeywords(SelectKeywords, total=False):
    """The options on which the queries of gates depend."""

    vars: Mapping[str, Any] | None


class CompileKeywords(GateKeywords, total=False):
    """The options on which the SQL of several pipelines depends."""

    full_refresh: bool
    start: RangeBound | None
    end: RangeBound | None


class PlanKeywords(CompileKeywords, total=False):
    """The options on which the plans of runs depend."""

    batches: Sequence[str]
    chunk: str | int | None
    force: bool
    repair_gaps: bool
    together: bool


class RunKeywords(PlanKeywords, total=False):
    """The options of runs: the fields of `RunRequest`, as `lake.run` takes them."""

    fail_fast: bool
    threads: int
    wait: float


class RetryKeywords(TypedDict, total=False):
    """The options that may be others when a build is retried; None: as they were."""

    threads: int | None
    wait: float | None


class RunRequest(Request):
    """Which pipelines run, and how."""

    select: Annotated[tuple[str, ...], Spelling("-s", metavar="SELECTOR", argument="SELECTORS")] = (
        Field(
            (),
            description="silver.orders, +a, a+, 2+a, @a, tag:x, path:x, state:modified, patterns"
            " with *. Default: all.",
        )
    )
    exclude: Annotated[tuple[str, ...], Spelling(metavar="SELECTOR")] = Field(
        (), description="Leave these out."
    )
    full_refresh: Annotated[bool, Spelling("-f")] = Field(
        False,
        description="Rebuild tables from scratch, from all input, including archived files.",
    )
    batches: Annotated[tuple[str, ...], Spelling(long="--batch", metavar="KEY=VALUE")] = Field(
        (), description="Only this batch of a source: year=2020."
    )
    start: Annotated[OptionalText, Spelling(metavar="VALUE")] = Field(
        None, description="Backfill from this date, time or integer on; with --end."
    )
    end: Annotated[OptionalText, Spelling(metavar="VALUE")] = Field(
        None, description="Backfill up to here; exclusive."
    )
    chunk: Annotated[OptionalText, Spelling(metavar="SIZE")] = Field(
        None,
        description="How much of a backfill is published at once: hour, day, week, month, year, or"
        " a count of integers. Default: month, or all integers.",
    )
    force: bool = Field(
        False, description="Write batches even if they are unchanged, or a backfill has done them."
    )
    repair_gaps: bool = Field(
        False,
        description="Write batches of a source again that other programs have removed from the"
        " table.",
    )
    fail_fast: Annotated[bool, Spelling("-x")] = Field(
        False, description="Start nothing more after the first failure."
    )
    threads: int = Field(
        1, ge=1, le=256, description="How many pipelines may run at the same time."
    )
    vars: Annotated[
        Mapping[str, Any],
        BeforeValidator(lambda value: {} if value is None else value),
        Spelling(metavar="KEY=VALUE", help="A variable, or several as YAML or JSON."),
    ] = Field(default_factory=dict, description="Variables for templates.")
    released: bool = Field(False, description="Use the newest releases instead of the drafts.")
    together: bool = Field(False, description="Publish all tables in one step, or none of them.")
    wait: float = Field(
        0.0, ge=0, description="Seconds to wait for a table that another run is changing."
    )

    def __init__(self, *selectors: str, **options: Unpack[RunKeywords]) -> None:
        if selectors:
            options["select"] = (*selectors, *options.get("select", ()))
        super().__init__(**options)

    @classmethod
    def of(cls, *selectors: "str | RunRequest", **options: Unpack[RunKeywords]) -> "RunRequest":
        """The request itself if it is given, otherwise one with these selectors and options."""
        names = [each for each in selectors if not isinstance(each, RunRequest)]
        if len(names) == len(selectors):
            return cls(*names, **options)
        if len(selectors) > 1 or options:
            raise UsageError(
                "a RunRequest is given alone, without selectors and options.",
                next="Give them to the RunRequest.",
            )
        return next(each for each in selectors if isinstance(each, RunRequest))

    @property
    def is_backfill(self) -> bool:
        """Whether a range was given."""
        return (self.start, self.end, self.chunk) != (None, None, None)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.is_backfill:
            return self
        if self.start is None or self.end is None:
            raise UsageError(
                "a backfill has both a start and an end.",
                next="Give --start 2024-01-01 --end 2025-01-01; the end is exclusive.",
            )
        for flag in self._not_of_backfills():
            raise UsageError(f"{flag} does not go with --start and --end.", next="Leave it out.")
        return self

    def _not_of_backfills(self) -> Iterator[str]:
        if self.full_refresh:
            yield "--full-refresh"
        if self.batches:
            yield "--batch"
        if self.repair_gaps:
            yield "--repair-gaps"
        if self.together:
            yield "--together"
