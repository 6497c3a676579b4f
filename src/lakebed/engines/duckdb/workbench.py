"""A DuckDB connection over pinned tables, for small pipelines."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from lakebed.engines.duckdb.engine import CAREFUL
from lakebed.engines.duckdb.spill import spill_setting
from lakebed.errors import TableDropped, UsageError
from lakebed.names import TableName, duckdb_identifier
from lakebed.ports import Catalog, ColumnAlias


class DuckWorkbench:
    """A private connection; tables are read into it whole, at their snapshots."""

    def __init__(
        self, catalog: Catalog, *, timezone: str, properties: Mapping[str, str], spill: str = ""
    ) -> None:
        self._catalog, self._properties = catalog, properties
        # No extension may be downloaded: a run works the same on a machine without a network.
        self.connection: Any = duckdb.connect(config={"autoinstall_known_extensions": "false"})
        self.connection.execute(f"SET TimeZone = '{timezone}'")
        self.connection.execute(CAREFUL)
        self.connection.execute(spill_setting(spill))

    def table(
        self, table: TableName, *, snapshot: int | None, shown: Sequence[ColumnAlias] = ()
    ) -> str:
        name = f"{table.namespace}_{table.layer}_{table.name}_{snapshot or 0}"
        rows = self._rows(table, snapshot)
        self.connection.register(name, _called(rows, shown) if shown else rows)
        return duckdb_identifier(name)

    def rows(self, name: str, rows: Any) -> None:
        self.connection.register(name, rows)

    def _rows(self, table: TableName, snapshot: int | None) -> Any:
        from lakebed.engines.iceberg.metadata.documents import static_table

        pointer = self._catalog.pointers([table]).get(table)
        if pointer is None:
            raise TableDropped(str(table))
        static = static_table(pointer.location, self._properties)
        if snapshot is None:
            return static.schema().as_arrow().empty_table()
        try:
            return static.scan(snapshot_id=snapshot).to_arrow()
        except (
            NotImplementedError,
            ValueError,
        ) as error:  # equality deletes, and types such as variant
            what = f"{table} cannot be read without Spark: {str(error).splitlines()[0]}"
            raise UsageError(
                what, next="Let the pipeline's code take spark instead of conn."
            ) from error

    def close(self) -> None:
        self.connection.close()


def _called(rows: Any, shown: Sequence[ColumnAlias]) -> Any:
    """The rows with these columns, under the names they are to have."""
    return rows.select([column.of for column in shown]).rename_columns(
        [column.name for column in shown]
    )
