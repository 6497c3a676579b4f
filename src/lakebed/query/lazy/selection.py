"""What a lazy table selects: columns and rows of a pinned table, as SQL and as a scan."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.names import duckdb_identifier
from lakebed.ports import And, Predicate
from lakebed.query.parsing.where import RowFilter
from lakebed.query.planning.plan import PinnedTable


@dataclass(frozen=True)
class TableSelection:
    """Columns of a pinned table, and a condition on its rows."""

    pinned: PinnedTable
    columns: tuple[str, ...]
    where: RowFilter | None = None

    @property
    def snapshot(self) -> int | None:
        return self.pinned.snapshot_id

    def scanned(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The columns to read for these, with those of the condition; None for all."""
        if self.where is None:
            return tuple(names)
        if self.where.columns.all:
            return None
        known = [column.name for column in self.pinned.columns]
        return tuple(
            name for name in known if name in names or name.casefold() in self.where.columns.names
        )

    def predicate(self, more: Predicate | None) -> Predicate | None:
        """The predicate that files are pruned by."""
        own = self.where.predicate if self.where else None
        return And((own, more)) if own and more else own or more

    def select(
        self,
        source: str,
        names: Sequence[str],
        *,
        more: str | None = None,
        limit: int | None = None,
    ) -> str:
        """The SELECT of the rows.

        It has the whole condition, even if parts of it have pruned files already.
        """
        shown = ", ".join(map(duckdb_identifier, names)) or "NULL"
        conditions = [f"(\n{self.where.text}\n)"] if self.where else []
        conditions += [more] if more else []
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        name = duckdb_identifier(self.pinned.table.name)
        return f"SELECT {shown} FROM {source} AS {name}{where}" + (
            f" LIMIT {limit}" if limit is not None else ""
        )
