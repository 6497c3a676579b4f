"""One table read lazily: what is asked of it, as text and as what to scan."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.names import duckdb_identifier
from lakebed.ports import And, Predicate
from lakebed.query.parsing.where import RowFilter
from lakebed.query.planning.plan import PinnedTable


@dataclass(frozen=True)
class TableSelection:
    """A pinned table, the columns that are wanted of it, and a condition on its rows."""

    pinned: PinnedTable
    columns: tuple[str, ...]
    where: RowFilter | None = None

    @property
    def snapshot(self) -> int | None:
        return self.pinned.snapshot.id if self.pinned.snapshot else None

    def scanned(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The columns that have to be read for these, the condition's among them; None for all."""
        if self.where is None:
            return tuple(names)
        if self.where.columns.all:
            return None
        known = [column.name for column in self.pinned.columns]
        return tuple(name for name in known if name in names or name.casefold() in self.where.columns.names)

    def predicate(self, more: Predicate | None) -> Predicate | None:
        """What files are judged by."""
        own = self.where.predicate if self.where else None
        return And((own, more)) if own and more else own or more

    def select(self, source: str, names: Sequence[str], *, more: str | None = None, limit: int | None = None) -> str:
        """The rows out of a view; the condition as it was written, whatever of it also left out files."""
        shown = ", ".join(map(duckdb_identifier, names)) or "NULL"
        said = [f"(\n{self.where.text}\n)"] if self.where else []
        said += [more] if more else []
        where = f" WHERE {' AND '.join(said)}" if said else ""
        name = duckdb_identifier(self.pinned.table.name)
        return f"SELECT {shown} FROM {source} AS {name}{where}" + (f" LIMIT {limit}" if limit is not None else "")
