"""The settings of a pipeline."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from lakebed.derived.spec import Partitions
from lakebed.errors import near, suggestion
from lakebed.pipelines.definition.source_config import BATCH_COLUMNS, LAYOUTS, Layouts
from lakebed.quality import ColumnSpec
from lakebed.settings import TableCare
from lakebed.tables import (
    ALIASES,
    STRATEGIES,
    Arrangement,
    PartitionField,
    Renames,
    Strategy,
    parse_partition_field,
    parse_sort_field,
)

OnSchemaChange = Literal["fail", "append", "sync"]
OnEmpty = Literal["write", "skip", "fail"]
Format = Literal["csv", "json", "parquet"]
_LOOKBACK = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*(?:(second|minute|hour|day|week)s?\s*)?", re.IGNORECASE
)
_BATCH_RETRIES, _BATCH_DELAY = 3, 1.0
_SCHEMA_ALIASES = {"append_new_columns": "append", "sync_all_columns": "sync"}


def _strategy_name(given: Any) -> str:
    name = str(given).strip().casefold()
    name = ALIASES.get(name, name)
    if name not in STRATEGIES:
        raise ValueError(
            f"there is no strategy {given!r}. {suggestion(near(name, (*STRATEGIES, *ALIASES)))}"
        )
    return name


def _as_list(given: Any) -> Any:
    """Accepts `a, b` and a single value as lists."""
    if isinstance(given, str):
        return [part.strip() for part in re.split(r",(?![^(]*\))", given) if part.strip()]
    return given if isinstance(given, list | tuple) or given is None else [given]


def _format(given: Any) -> Any:
    name = str(given).strip().casefold() if given is not None else None
    return {"ndjson": "json", "jsonl": "json", "tsv": "csv"}.get(name or "", name)


def _renames(given: Any) -> Any:
    """Accepts `old -> new`, several of them separated by commas, a list of them, or a mapping."""
    if isinstance(given, dict):
        return tuple((str(old), str(new)) for old, new in given.items())
    pairs = [
        tuple(name.strip().strip("`") for name in str(pair).split("->"))
        for pair in _as_list(given) or ()
    ]
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise ValueError(f"a rename is written old -> new, not {given!r}")
    return tuple(pairs)


def _by_name(given: Any) -> Any:
    """Accepts a list of columns with their names, as in dbt, as well as a mapping; `id: BIGINT` is
    a column and its type.
    """
    if isinstance(given, dict):
        return {
            name: {"type": column} if isinstance(column, str) else column
            for name, column in given.items()
        }
    if not isinstance(given, list):
        return given
    found: dict[str, Any] = {}
    for column in given:
        if not isinstance(column, dict) or not isinstance(column.get("name"), str):
            raise ValueError("each column in a list needs a name: - name: id")
        name = column["name"]
        if name in found:
            raise ValueError(f"the column {name} is listed twice")
        found[name] = {key: value for key, value in column.items() if key != "name"}
    return found


def _sorted_so(given: tuple[str, ...]) -> tuple[str, ...]:
    for term in given:
        parse_sort_field(term)
    return given


def _lookback(given: str | float | None) -> str | float | None:
    if given is not None and not _LOOKBACK.fullmatch(str(given)):
        raise ValueError(f"it is written `3 days`, `2 hours`, or as a number, not {given!r}")
    return given


_Partition = Annotated[PartitionField, BeforeValidator(parse_partition_field)]
_Names = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


class PipelineConfig(BaseModel):
    """All settings of a pipeline."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = Field(default="", max_length=5000, description="what the table is")
    materialized: Literal["table", "view"] = Field(
        default="table", description="table, or view for a catalog view"
    )
    merge_strategy: Annotated[str, BeforeValidator(_strategy_name)] = Field(
        default="full_refresh", description="how rows enter the table"
    )
    unique_key: _Names = Field(default=(), description="column or columns that identify a row")
    watermark_column: str | None = Field(
        default=None, description="column that says which of two rows is newer"
    )
    lookback: Annotated[str | int | float | None, AfterValidator(_lookback)] = Field(
        default=None,
        description="how far behind the watermark to read again: `3 days`, `2 hours`, or a number",
    )
    partition_column: str | None = Field(
        default=None, description="column by whose values the strategy snapshot replaces rows"
    )
    batch_column: str | None = Field(
        default=None,
        description=(
            "date, time or integer column over which a backfill (`run --start --end`) runs; unset:"
            " the one that partition_by divides by time, partition_column or watermark_column"
        ),
    )
    partition_by: Annotated[tuple[_Partition, ...], BeforeValidator(_as_list)] = Field(
        default=(),
        description=(
            "partitioning of new files: columns, `day(at)`, `bucket(8, id)`; unset: the table's"
            " present one"
        ),
    )
    sort_by: Annotated[_Names, AfterValidator(_sorted_so)] = Field(
        default=(),
        description="order of rows in new files: `id`, `at desc`; unset: the table's present one",
    )
    scd_valid_from: str = Field(
        default="valid_from", description="column that scd2 adds: since when a version is valid"
    )
    scd_valid_to: str = Field(
        default="valid_to", description="column that scd2 adds: until when; NULL while it is valid"
    )
    scd_close_absent: bool = Field(
        default=False, description="scd2 closes keys that are absent from the batch"
    )
    archive_landing_zones: bool = Field(
        default=False, description="move files that were read to `_processed/`"
    )
    one_file_a_run: bool | None = Field(
        default=None,
        description=(
            "true: each waiting file gets its own run, oldest first; false: all are one batch;"
            " unset: one batch, but soft_delete and scd_close_absent refuse several files"
        ),
    )
    source: str | None = Field(
        default=None,
        description=(
            "files that the table is made from, without any code: `in/{table}_{year}.json`,"
            " `in/year=*/*.parquet`, below the lake's root"
        ),
    )
    format: Annotated[Format | None, BeforeValidator(_format)] = Field(
        default=None, description="of the source's files: json, csv or parquet; unset: by extension"
    )
    header: bool | None = Field(
        default=None,
        description=(
            "the first line of the source's CSV files names their columns; unset: it does, and a"
            " file whose first line looks like a row is bad"
        ),
    )
    partitions: Partitions = Field(
        default=Partitions(),
        description="partitioning with types: `keys: [{name: year, type: INTEGER}]`",
    )
    batch_partition_columns: _Names = Field(
        default=(),
        validation_alias=BATCH_COLUMNS,
        description="columns in the source's paths; each of their values is a run's unit of work",
    )
    incremental_keys: _Names = Field(
        default=(),
        description=(
            "columns by which batches that are done are known: those of batch_partition_columns,"
            " where both are set"
        ),
    )
    alternate_partitions: Layouts = Field(
        default=(),
        validation_alias=LAYOUTS,
        description=(
            "further layouts of the same rows, which queries use by themselves: `[{name: by_geo,"
            " partition_by: [geo]}]`"
        ),
    )
    max_retries: int = Field(
        default=0,
        ge=0,
        le=100,
        description=(
            "how often a failed run is tried again; 3 for batches of a source or a backfill"
        ),
    )
    retry_delay_seconds: float = Field(
        default=30,
        ge=0,
        description=(
            "wait before the first retry; doubled for each further one. For batches of a source"
            " or a backfill: 1, and as much more for each"
        ),
    )
    retry_delay_ms: float | None = Field(default=None, ge=0, description="the same in milliseconds")
    on_schema_change: Annotated[
        OnSchemaChange | None,
        BeforeValidator(lambda given: _SCHEMA_ALIASES.get(str(given), given) if given else None),
    ] = Field(
        default=None,
        description="fail, append (new columns) or sync; unset: sync for full_refresh, else fail",
    )
    on_empty: OnEmpty | None = Field(
        default=None,
        description=(
            "what an empty result does: write, skip or fail; unset: fail for soft_delete and"
            " scd_close_absent"
        ),
    )
    max_versions: int | None = Field(
        default=None,
        ge=1,
        description="how many releases are kept; unset: releases.max_versions",
    )
    rename: Annotated[Renames, BeforeValidator(_renames)] = Field(
        default=(),
        description=(
            "columns that get another name and keep their values: `old -> new`, separated by commas"
        ),
    )
    contract: bool = Field(
        default=False,
        description="the result has exactly the columns and types listed in `columns`",
    )
    care: TableCare | None = Field(
        default=None,
        description="settings of care for this table that differ from the lake's; see `care` above",
    )
    tags: _Names = Field(default=(), description="words to select pipelines by")
    columns: Annotated[dict[str, ColumnSpec], BeforeValidator(_by_name)] = Field(
        default_factory=dict, description="types, descriptions, former names and tests by column"
    )

    @property
    def schema_policy(self) -> OnSchemaChange:
        if self.on_schema_change:
            return self.on_schema_change
        if self.source:
            return "append"
        return "sync" if STRATEGIES[self.merge_strategy].rebuilds_all else "fail"

    def retry_delay(self, attempt: int) -> float:
        """Seconds to wait after the attempt with this number, from 1 on."""
        return float(self._delay(self.retry_delay_seconds) * 2 ** (attempt - 1))

    @property
    def batch_retries(self) -> int:
        """How often a batch of a source or of a backfill is tried again."""
        return self.max_retries if "max_retries" in self.model_fields_set else _BATCH_RETRIES

    def batch_retry_delay(self, attempt: int) -> float:
        """Seconds to wait after an attempt at a batch."""
        given = "retry_delay_seconds" in self.model_fields_set
        return self._delay(self.retry_delay_seconds if given else _BATCH_DELAY) * attempt

    def _delay(self, seconds: float) -> float:
        return seconds if self.retry_delay_ms is None else self.retry_delay_ms / 1000

    @property
    def renames(self) -> Renames:
        """Those of `rename` and those of `columns`."""
        former = (
            (column.renamed_from, name)
            for name, column in self.columns.items()
            if column.renamed_from
        )
        return tuple(dict.fromkeys((*self.rename, *former)))

    @property
    def arrangement(self) -> Arrangement:
        """The partitioning and order.

        An empty list means none; an unset one means as the table has it.
        """
        given = self.model_fields_set
        terms = tuple(map(parse_sort_field, self.sort_by)) if "sort_by" in given else None
        return Arrangement(self.partition_by if "partition_by" in given else None, terms)

    @property
    def empty_policy(self) -> OnEmpty:
        return self.on_empty or ("fail" if build_strategy(self).absence_matters else "write")


def build_strategy(config: PipelineConfig) -> Strategy:
    """The strategy, with the settings that it uses."""
    kind = STRATEGIES[config.merge_strategy]
    wanted = {name: getattr(config, name) for name in kind.model_fields if name != "strategy"}
    return kind.model_validate({name: value for name, value in wanted.items() if value is not None})
