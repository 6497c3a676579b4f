"""How a run's rows enter a table.

Each strategy is a type with its own options, so that no invalid mix can be configured.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Keys = Annotated[tuple[str, ...], Field(min_length=1)]


class _Strategy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that must exist and not be NULL in every row of a batch."""
        return ()

    @property
    def order(self) -> str | None:
        """The column that says which of two rows of a key is newer."""
        return None

    @property
    def one_row_per_key(self) -> bool:
        """Whether the table has one row per key, so that a batch may repeat a key only if there is
        an order.
        """
        return False

    @property
    def absence_matters(self) -> bool:
        """Whether keys that are absent from a batch are marked or closed."""
        return False

    @property
    def accepts_partial_batches(self) -> bool:
        """Whether a batch may be incomplete: rows that are absent from it stay as they are."""
        return not self.absence_matters

    @property
    def replaces_rows(self) -> bool:
        """Whether the whole frame takes the place of rows of the table."""
        return False

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        """Columns that the strategy adds to the table, and their types."""
        return ()


class FullRefresh(_Strategy):
    """The result replaces all rows; an empty result empties the table."""

    strategy: Literal["full_refresh"] = "full_refresh"

    @property
    def accepts_partial_batches(self) -> bool:
        return False

    @property
    def replaces_rows(self) -> bool:
        return True


class OverwriteWhere(_Strategy):
    """The rows that match a condition are replaced; others stay. For manual writes only."""

    strategy: Literal["overwrite_where"] = "overwrite_where"
    where: str  # in Spark's SQL

    @property
    def replaces_rows(self) -> bool:
        return True


class ReplaceBatch(_Strategy):
    """The rows of one batch are replaced, whole partitions of them. For sources only."""

    strategy: Literal["replace_batch"] = "replace_batch"
    where: str  # in Spark's SQL

    @property
    def replaces_rows(self) -> bool:
        return True


class ReplaceRange(_Strategy):
    """The rows of a range are replaced, as if the pipeline had built them there; others stay. For
    backfills only.
    """

    strategy: Literal["replace_range"] = "replace_range"
    where: str  # in Spark's SQL
    column: str
    unique_key: tuple[str, ...] = ()
    watermark_column: str | None = None
    keeps_one_row: bool = False  # of each key

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key

    @property
    def order(self) -> str | None:
        return self.watermark_column

    @property
    def one_row_per_key(self) -> bool:
        return self.keeps_one_row

    @property
    def accepts_partial_batches(self) -> bool:
        return False

    @property
    def replaces_rows(self) -> bool:
        return True


class AppendOnly(_Strategy):
    """The result is added; a retry adds once."""

    strategy: Literal["append_only"] = "append_only"


class _Keyed(_Strategy):
    unique_key: Keys

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key


class _Merged(_Keyed):
    watermark_column: str | None = None

    @property
    def order(self) -> str | None:
        return self.watermark_column

    @property
    def one_row_per_key(self) -> bool:
        return True


class Incremental(_Merged):
    """Arriving keys are inserted or updated; the newest row of a key wins; rows older than the
    table's are ignored.
    """

    strategy: Literal["incremental"] = "incremental"


class DeleteInsert(_Keyed):
    """All rows of arriving keys are replaced by the arriving ones; several rows per key are
    allowed.
    """

    strategy: Literal["delete_insert"] = "delete_insert"


class Scd2(_Merged):
    """History: a changed row is closed and a new version opened, valid from `valid_from` until
    before `valid_to`.
    """

    strategy: Literal["scd2"] = "scd2"
    scd_valid_from: str = "valid_from"
    scd_valid_to: str = "valid_to"
    scd_close_absent: bool = False

    @model_validator(mode="after")
    def _two_columns(self) -> "Scd2":
        if self.scd_valid_from.lower() == self.scd_valid_to.lower():
            raise ValueError("scd_valid_from and scd_valid_to name the same column")
        return self

    @property
    def absence_matters(self) -> bool:
        return self.scd_close_absent

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        return ((self.scd_valid_from, "timestamp"), (self.scd_valid_to, "timestamp"))


class InsertOverwrite(_Strategy):
    """The partitions that occur in the batch are replaced; others stay."""

    strategy: Literal["snapshot"] = "snapshot"
    partition_column: str


class SoftDelete(_Merged):
    """Rows whose keys are absent from the batch are marked, not removed; a returning key is
    unmarked.
    """

    strategy: Literal["soft_delete"] = "soft_delete"

    @property
    def absence_matters(self) -> bool:
        return True

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        return (("_deleted_at", "timestamp"),)


Strategy = (
    FullRefresh
    | OverwriteWhere
    | ReplaceBatch
    | ReplaceRange
    | AppendOnly
    | Incremental
    | DeleteInsert
    | Scd2
    | InsertOverwrite
    | SoftDelete
)

STRATEGIES: dict[str, type[Strategy]] = {
    "full_refresh": FullRefresh,
    "incremental": Incremental,
    "append_only": AppendOnly,
    "delete_insert": DeleteInsert,
    "scd2": Scd2,
    "snapshot": InsertOverwrite,
    "soft_delete": SoftDelete,
}
ALIASES = {
    "table": "full_refresh",
    "replace": "full_refresh",
    "merge": "incremental",
    "upsert": "incremental",
    "append": "append_only",
    "delete+insert": "delete_insert",
    "history": "scd2",
    "insert_overwrite": "snapshot",
}
