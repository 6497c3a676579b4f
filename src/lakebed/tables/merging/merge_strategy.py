"""What every strategy answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class MergeStrategy(BaseModel):
    """What every strategy answers. Whoever depends on a strategy asks it: nobody compares its name.

    An answer without a default has no safe one, so each strategy gives its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentence: ClassVar[str]
    """What a run does to the table, as `plan` says it."""

    staged: ClassVar[bool]
    """Whether the result is computed into a hidden table first: wherever a MERGE would read it more
    than once.
    """

    rebuilds_all: ClassVar[bool]
    """Whether every run replaces all rows, so that it reads all files again and its columns may
    change.
    """

    only_adds: ClassVar[bool] = False
    """Whether a run adds all its rows whatever the table has: then several batches may be added at
    once, and rows put on top of what others have added.
    """

    history: ClassVar[str] = ""
    """What the own columns record of the past; empty if there are none.

    Because of it no range of the table is backfilled, and it is not rebuilt from other tables.
    """

    template_word: ClassVar[str] = ""
    """The function by which a template asks for this strategy, if there is one."""

    merge_metrics: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"inserted": "inserted", "deleted": "deleted"}
    )
    """Which of Spark's metrics of a MERGE counts which rows of the table."""

    replaces_files: ClassVar[bool] = False
    """Whether the rows that are replaced fill whole files."""

    checks_condition: ClassVar[bool] = False
    """Whether rows might arrive that the condition does not match, which are looked for before
    anything is written.
    """

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that must exist and not be NULL in every row of a batch."""
        return ()

    @property
    def order(self) -> str | None:
        """The column that says which of two rows of a key is newer."""
        return None

    @property
    def partition(self) -> str | None:
        """The column by whose arriving values rows are replaced; a new table is partitioned by
        it.
        """
        return None

    @property
    def condition(self) -> str | None:
        """Which rows are replaced, in Spark's SQL; None: all of them, or those of a MERGE."""
        return None

    @property
    def user_condition(self) -> str | None:
        """The condition if a user wrote it: its columns are checked, and the run's record names
        it.
        """
        return None

    @property
    def range_column(self) -> str | None:
        """The column of the range that is replaced."""
        return None

    @property
    def valid_from(self) -> str | None:
        """The own column that says since when a row is valid."""
        return None

    @property
    def valid_to(self) -> str | None:
        """The own column that says until when a row was valid; NULL while it is."""
        return None

    @property
    def own_columns(self) -> tuple[tuple[str, str], ...]:
        """Columns that the strategy adds to the table, and their types."""
        return ()

    @property
    def own_settings(self) -> dict[str, str]:
        """The settings that name own columns: whoever writes the table by hand needs the same."""
        return {}

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
        return not (self.rebuilds_all or self.absence_matters)

    @property
    def replaces_rows(self) -> bool:
        """Whether the whole frame takes the place of rows of the table."""
        return self.rebuilds_all or self.condition is not None

    @property
    def adds_replaced_files(self) -> bool:
        """Whether the rows of a file that was replaced would be added to those of its former
        version, because nothing tells which rows they replace.
        """
        return not (self.keys or self.partition or self.replaces_rows)

    @property
    def allows_one_pass(self) -> bool:
        """Whether landing files may be checked by the job that writes their rows: nothing else
        reads these before.
        """
        return self.staged or not self.checks_condition
