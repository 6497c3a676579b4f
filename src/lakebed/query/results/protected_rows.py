"""The rows of a query whose snapshots are protected until they are closed."""

from typing import TYPE_CHECKING, Any

from lakebed.ports import OperatorProfile, QueryRows
from lakebed.tables import SnapshotGuard

if TYPE_CHECKING:
    import pyarrow as pa


class ProtectedRows:
    """An engine's rows; closing them releases what the query protected."""

    def __init__(self, rows: QueryRows, guard: SnapshotGuard) -> None:
        self._rows, self._guard = rows, guard

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        return self._rows.columns

    @property
    def truncated(self) -> bool:
        return self._rows.truncated

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        return self._rows.fetch(count)

    def reader(self, rows: int) -> "pa.RecordBatchReader":
        return self._rows.reader(rows)

    def operators(self) -> tuple[OperatorProfile, ...]:
        return self._rows.operators()

    def close(self) -> None:
        try:
            self._rows.close()
        finally:
            self._guard.release()
