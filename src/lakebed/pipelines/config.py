"""What a pipeline may be told: annotations over config.yaml over defaults, field by field."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from lakebed.errors import BadPipeline, BadText, near, suggestion
from lakebed.names import spark_identifier
from lakebed.quality import ColumnSpec
from lakebed.settings import Document, reason
from lakebed.tables import ALIASES, STRATEGIES, Strategy
from lakebed.templates import Annotation

OnSchemaChange = Literal["fail", "append", "sync"]
OnEmpty = Literal["write", "skip", "fail"]
_SCHEMA_ALIASES = {"append_new_columns": "append", "sync_all_columns": "sync"}
_TRANSFORMS = {"identity", "year", "month", "day", "hour", "years", "months", "days", "hours", "bucket", "truncate"}
_CALL = re.compile(r"(\w+)\(\s*(?:(\d+)\s*,\s*)?([^,()]+?)\s*(?:,\s*(\d+)\s*)?\)")


def _strategy_name(given: Any) -> str:
    name = str(given).strip().casefold()
    name = ALIASES.get(name, name)
    if name not in STRATEGIES:
        raise ValueError(f"there is no strategy {given!r}. {suggestion(near(name, (*STRATEGIES, *ALIASES)))}")
    return name


def _as_list(given: Any) -> Any:
    """`a, b` and a single value are lists too."""
    if isinstance(given, str):
        return [part.strip() for part in re.split(r",(?![^(]*\))", given) if part.strip()]
    return given if isinstance(given, list | tuple) or given is None else [given]


class PartitionField(BaseModel):
    """One field of a table's partitioning: a column, or a transform of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: str
    transform: str = "identity"
    width: int | None = None

    @model_validator(mode="after")
    def _known(self) -> "PartitionField":
        if self.transform not in _TRANSFORMS:
            raise ValueError(f"there is no transform {self.transform!r}. {suggestion(near(self.transform, _TRANSFORMS))}")
        if (self.transform in {"bucket", "truncate"}) != (self.width is not None):
            raise ValueError(f"{self.transform}: a width goes with bucket and truncate only, as in bucket(8, id)")
        return self

    @property
    def spark(self) -> str:
        """As Spark's PARTITIONED BY writes it."""
        column = spark_identifier(self.column)
        if self.transform == "identity":
            return column
        if self.width is not None:
            return f"{self.transform}({self.width}, {column})"
        return f"{self.transform.rstrip('s')}s({column})"


def _partition_field(given: Any) -> Any:
    """`day(at)`, `bucket(8, id)`, `country`, or a mapping."""
    if not isinstance(given, str):
        return given
    call = _CALL.fullmatch(given.strip())
    if not call:
        return {"column": given.strip()}
    width = call[2] or call[4]
    return {"transform": call[1].casefold(), "column": call[3].strip("`"), "width": int(width) if width else None}


_Partition = Annotated[PartitionField, BeforeValidator(_partition_field)]
_Names = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class PipelineConfig(BaseModel):
    """All settings of a pipeline."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = Field(default="", max_length=5000, description="what the table is")
    materialized: Literal["table", "view"] = Field(default="table", description="table, or view for a catalog view")
    merge_strategy: Annotated[str, BeforeValidator(_strategy_name)] = Field(
        default="full_refresh", description="how rows enter the table"
    )
    unique_key: _Names = Field(default=(), description="column or columns that name a row")
    watermark_column: str | None = Field(default=None, description="column that says which of two rows is the newer")
    lookback: str | int | float | None = Field(
        default=None, description="how far back of the watermark to read again: `3 days`, `2 hours`, or a number"
    )
    partition_column: str | None = Field(default=None, description="column whose arriving values a snapshot replaces")
    partition_by: Annotated[tuple[_Partition, ...], BeforeValidator(_as_list)] = Field(
        default=(), description="partitioning of a new table: columns, `day(at)`, `bucket(8, id)`"
    )
    sort_by: _Names = Field(default=(), description="order of rows in the files of a new table")
    scd_valid_from: str = Field(default="valid_from", description="column scd2 adds: since when a version holds")
    scd_valid_to: str = Field(default="valid_to", description="column scd2 adds: until when; NULL while it holds")
    scd_close_absent: bool = Field(default=False, description="scd2 closes keys that are absent from the batch")
    archive_landing_zones: bool = Field(default=False, description="move files that were read to `_processed/`")
    max_retries: int = Field(default=0, ge=0, le=100, description="how often a failed run is tried again")
    retry_delay_seconds: float = Field(default=30, ge=0, description="wait before the first retry; each further one doubles it")
    on_schema_change: Annotated[
        OnSchemaChange | None, BeforeValidator(lambda given: _SCHEMA_ALIASES.get(given, given) if given else None)
    ] = Field(default=None, description="fail, append (new columns) or sync; unset: sync for full_refresh, else fail")
    on_empty: OnEmpty | None = Field(
        default=None, description="what an empty result does: write, skip or fail; unset: fail for soft_delete, else write"
    )
    tags: _Names = Field(default=(), description="words to select pipelines by")
    columns: dict[str, ColumnSpec] = Field(default_factory=dict, description="types, descriptions and tests by column")

    @property
    def schema_policy(self) -> OnSchemaChange:
        return self.on_schema_change or ("sync" if self.merge_strategy == "full_refresh" else "fail")

    @property
    def empty_policy(self) -> OnEmpty:
        return self.on_empty or ("fail" if self.merge_strategy == "soft_delete" else "write")


@dataclass(frozen=True)
class Configured:
    """A pipeline's settings, and the strategy they amount to."""

    config: PipelineConfig
    strategy: Strategy


def configure(document: Document, annotations: Mapping[str, Annotation], *, source: str) -> Configured:
    """Settings and strategy; anything unknown, misspelt or missing is refused at its line. `source` is the annotated file."""
    given = {str(key).casefold(): value for key, value in document.tree.items()}
    given |= {key: annotation.value for key, annotation in annotations.items()}
    origin = _Origin(document, annotations, source)
    try:
        config = PipelineConfig.model_validate(given)
    except ValidationError as error:
        raise origin.refuse_value(error.errors()[0]) from None
    try:
        return Configured(config, strategy_of(config))
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][-1])
        what = f"the strategy {config.merge_strategy} needs {field}."
        raise origin.refuse("merge_strategy", what, next=f"Set {field}, or choose another strategy.") from None


def strategy_of(config: PipelineConfig) -> Strategy:
    """The strategy, with the settings that concern it."""
    kind = STRATEGIES[config.merge_strategy]
    wanted = {name: getattr(config, name) for name in kind.model_fields if name != "strategy"}
    return kind.model_validate({name: value for name, value in wanted.items() if value is not None})


@dataclass(frozen=True)
class _Origin:
    """Where a setting was given: in an annotation of the source, or in config.yaml."""

    document: Document
    annotations: Mapping[str, Annotation]
    source: str

    def refuse(self, key: str, what: str, *, next: str = "") -> BadPipeline:
        if annotation := self.annotations.get(key):
            excerpt = f"@{key}: {annotation.value}"
            return BadPipeline(what, where=self.source, line=annotation.line, excerpt=excerpt, next=next)
        line, excerpt = self.document.find((key,))
        return BadPipeline(what, where=self.document.where, line=line, excerpt=excerpt, next=next)

    def refuse_value(self, error: ErrorDetails) -> BadText:
        key = str(error["loc"][0]) if error["loc"] else ""
        if key not in self.annotations:
            return self.document.refuse(error, known=_KNOWN)
        if error["type"] == "extra_forbidden":
            return self.refuse(
                key, f"a pipeline has no setting {key!r}.", next=suggestion(near(key, PipelineConfig.model_fields))
            )
        return self.refuse(key, f"{key}: {reason(error)}.")


_KNOWN = (*PipelineConfig.model_fields, *ColumnSpec.model_fields, "not_null", "unique", "accepted_values", "relationships")
