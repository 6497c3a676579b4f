"""The rows of a running query, and a profile of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class OperatorProfile:
    """A step of the engine: what it did, how long it took, and how many rows came out."""

    name: str
    detail: str
    ms: float
    rows: int


class QueryRows(Protocol):
    """The rows of a running query, handed over once, from first to last."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and type of each column; types are the engine's."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether rows were left out because a limit was reached; known after the last row."""
        ...

    def fetch(self, count: int) -> list[tuple[Any, ...]]:
        """The next rows, at most `count`; an empty list at the end."""
        ...

    def reader(self, rows: int) -> "pa.RecordBatchReader":
        """The remaining rows, in batches of about `rows`."""
        ...

    def operators(self) -> tuple[OperatorProfile, ...]:
        """What each step took, slowest first; empty unless the request asked for a profile."""
        ...

    def close(self) -> None:
        """Stop the query and free what it used."""
        ...
