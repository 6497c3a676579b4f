"""How a run's rows enter a table.

Each strategy is a type with its own options, so that no invalid mix can be configured.
"""

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lakebed.tables.merging.merge_strategy import MergeStrategy

Keys = Annotated[tuple[str, ...], Field(min_length=1)]


class FullRefresh(MergeStrategy):
    """The result replaces all rows; an empty result empties the table."""

    strategy: Literal["full_refresh"] = "full_refresh"

    sentence = "replace all rows"
    staged = False
    rebuilds_all = True
    template_word = "is_full_refresh"


class _Replacement(MergeStrategy):
    where: str  # in Spark's SQL

    rebuilds_all = False

    @property
    def condition(self) -> str:
        return self.where


class OverwriteWhere(_Replacement):
    """The rows that match a condition are replaced; others stay. For manual writes only."""

    strategy: Literal["overwrite_where"] = "overwrite_where"

    sentence = "replace the rows that match the condition"
    staged = False
    checks_condition = True

    @property
    def user_condition(self) -> str:
        return self.where


class ReplaceBatch(_Replacement):
    """The rows of one batch are replaced, whole partitions of them. For sources only."""

    strategy: Literal["replace_batch"] = "replace_batch"

    sentence = "replace the rows of the batch"
    staged = False
    replaces_files = True


class ReplaceRange(_Replacement):
    """The rows of a range are replaced, as if the pipeline had built them there; others stay. For
    backfills only.
    """

    strategy: Literal["replace_range"] = "replace_range"
    column: str
    unique_key: tuple[str, ...] = ()
    watermark_column: str | None = None
    keeps_one_row: bool = False  # of each key

    sentence = "replace the rows of the range"
    staged = True
    replaces_files = True
    checks_condition = True

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key

    @property
    def order(self) -> str | None:
        return self.watermark_column

    @property
    def range_column(self) -> str:
        return self.column

    @property
    def one_row_per_key(self) -> bool:
        return self.keeps_one_row

    @property
    def accepts_partial_batches(self) -> bool:
        return False


class AppendOnly(MergeStrategy):
    """The result is added; a retry adds once."""

    strategy: Literal["append_only"] = "append_only"

    sentence = "add the rows"
    staged = False
    rebuilds_all = False
    only_adds = True
    template_word = "is_append_only"


class _Keyed(MergeStrategy):
    unique_key: Keys

    staged = True
    rebuilds_all = False

    @property
    def keys(self) -> tuple[str, ...]:
        return self.unique_key


class _Merged(_Keyed):
    watermark_column: str | None = None

    merge_metrics = MappingProxyType({"inserted": "inserted", "updated": "matched-updated"})

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

    # no word in templates: there `is_incremental()` asks whether the query may leave rows out
    sentence = "insert new keys and update existing ones"


class DeleteInsert(_Keyed):
    """All rows of arriving keys are replaced by the arriving ones; several rows per key are
    allowed.
    """

    strategy: Literal["delete_insert"] = "delete_insert"

    sentence = "replace all rows of the arriving keys"
    template_word = "is_delete_insert"


class Scd2(_Merged):
    """History: a changed row is closed and a new version opened, valid from `valid_from` until
    before `valid_to`.
    """

    strategy: Literal["scd2"] = "scd2"
    scd_valid_from: str = "valid_from"
    scd_valid_to: str = "valid_to"
    scd_close_absent: bool = False

    sentence = "close rows that changed and open their new versions"
    history = "it records when rows changed"
    template_word = "is_scd2"

    @model_validator(mode="after")
    def _two_columns(self) -> "Scd2":
        if self.scd_valid_from.lower() == self.scd_valid_to.lower():
            raise ValueError("scd_valid_from and scd_valid_to name the same column")
        return self

    @property
    def valid_from(self) -> str:
        return self.scd_valid_from

    @property
    def valid_to(self) -> str:
        return self.scd_valid_to

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        return ((self.scd_valid_from, "timestamp"), (self.scd_valid_to, "timestamp"))

    @property
    def own_settings(self) -> dict[str, str]:
        return {"scd_valid_from": self.scd_valid_from, "scd_valid_to": self.scd_valid_to}

    @property
    def absence_matters(self) -> bool:
        return self.scd_close_absent


class InsertOverwrite(MergeStrategy):
    """The partitions that occur in the batch are replaced; others stay."""

    strategy: Literal["snapshot"] = "snapshot"
    partition_column: str

    sentence = "replace the partitions that arrive"
    staged = True
    rebuilds_all = False
    template_word = "is_snapshot"

    @property
    def partition(self) -> str:
        return self.partition_column


class SoftDelete(_Merged):
    """Rows whose keys are absent from the batch are marked, not removed; a returning key is
    unmarked.
    """

    strategy: Literal["soft_delete"] = "soft_delete"

    sentence = "write the arriving keys and mark the absent ones"
    history = "it marks the keys that a result lacks"
    merge_metrics = MappingProxyType(
        {**_Merged.merge_metrics, "deleted": "not-matched-by-source-updated"}
    )
    template_word = "is_soft_delete"

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        return (("_deleted_at", "timestamp"),)

    @property
    def absence_matters(self) -> bool:
        return True


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
TEMPLATE_WORDS = frozenset(kind.template_word for kind in STRATEGIES.values()) - {""}
"""The functions by which templates ask for a strategy."""


def template_answers(name: str) -> dict[str, bool]:
    """What these functions answer in a pipeline with the strategy of this name."""
    return {word: word == STRATEGIES[name].template_word for word in sorted(TEMPLATE_WORDS)}
