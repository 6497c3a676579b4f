"""How a run's rows may enter a table. Frozen types: a mix that makes no sense cannot be written down."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Keys = Annotated[tuple[str, ...], Field(min_length=1)]


class _Strategy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that must be there and not NULL in every row of a batch."""
        return ()

    @property
    def order(self) -> str | None:
        """The column that says which of two rows of a key is the newer."""
        return None

    @property
    def one_row_per_key(self) -> bool:
        """Whether a batch may hold several rows of a key only if their order is known."""
        return False

    @property
    def absence_matters(self) -> bool:
        """Whether keys that are absent from a batch mean something."""
        return False

    @property
    def accepts_partial_batches(self) -> bool:
        """Whether a batch may be a part of all rows: what is absent from it stays as it is."""
        return not self.absence_matters

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        """Columns that the strategy adds to the table, with their types."""
        return ()


class FullRefresh(_Strategy):
    """The result replaces all rows; an empty result empties the table."""

    strategy: Literal["full_refresh"] = "full_refresh"

    @property
    def accepts_partial_batches(self) -> bool:
        return False


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
    """Arriving keys are inserted or updated, the newest row of a key wins, a row older than the table's is left out."""

    strategy: Literal["incremental"] = "incremental"


class DeleteInsert(_Keyed):
    """All rows of the arriving keys are replaced by the arriving ones; several rows a key are allowed."""

    strategy: Literal["delete_insert"] = "delete_insert"


class Scd2(_Merged):
    """History: changed rows are closed and opened anew, `valid_from` up to but without `valid_to`; unchanged ones stay."""

    strategy: Literal["scd2"] = "scd2"
    scd_valid_from: str = "valid_from"
    scd_valid_to: str = "valid_to"
    scd_close_absent: bool = False

    @model_validator(mode="after")
    def _two_columns(self) -> "Scd2":
        if self.scd_valid_from.lower() == self.scd_valid_to.lower():
            raise ValueError("scd_valid_from and scd_valid_to name one column")
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
    """Rows whose keys are absent from the batch are marked, not removed; a returning key is unmarked."""

    strategy: Literal["soft_delete"] = "soft_delete"

    @property
    def absence_matters(self) -> bool:
        return True

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        return (("_deleted_at", "timestamp"),)


Strategy = FullRefresh | AppendOnly | Incremental | DeleteInsert | Scd2 | InsertOverwrite | SoftDelete

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
