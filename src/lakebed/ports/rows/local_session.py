"""DuckDB for Python pipelines: a connection over pinned inputs."""

from collections.abc import Sequence
from typing import Any, Protocol

from lakebed.names import TableName
from lakebed.ports.catalog.tables import ColumnAlias


class LocalSession(Protocol):
    """An engine in this process, for work that needs no Spark."""

    @property
    def connection(self) -> Any:
        """What a Python pipeline is given as `conn`."""
        ...

    def table(
        self, table: TableName, *, snapshot: int | None, shown: Sequence[ColumnAlias] = ()
    ) -> str:
        """Make a table's snapshot readable, with its own columns or those of `shown`; returns the
        name for FROM.
        """
        ...

    def rows(self, name: str, rows: Any) -> None:
        """Make the rows of an Arrow table readable under a name."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
