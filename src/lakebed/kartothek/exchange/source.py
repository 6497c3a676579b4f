"""What an export needs of a table: its files at one snapshot, and the rows of each."""

from collections.abc import Mapping
from typing import Any, Protocol


class TableSource(Protocol):
    """A table at one snapshot.

    `files` are keys that stay the same as long as the rows of a file do: its location, and the
    delete files that apply to it.
    """

    @property
    def table(self) -> str: ...

    @property
    def uuid(self) -> str: ...

    @property
    def snapshot(self) -> int | None: ...

    @property
    def schema(self) -> Any:
        """The columns as an Arrow schema."""
        ...

    def files(self) -> Mapping[str, Any]:
        """The files by their keys."""
        ...

    def rows(self, file: Any) -> Any:
        """The rows of one of them, as a `pyarrow.RecordBatchReader`."""
        ...
