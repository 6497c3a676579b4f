"""What an export needs of a table: its files at one snapshot, and the rows of each."""

from collections.abc import Callable, Mapping
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

    @property
    def converted(self) -> Mapping[str, str]:
        """Columns whose type in the schema is another than the table's own, which is given."""
        ...

    @property
    def opener(self) -> "Callable[[], TableSource]":
        """Opens the same table at the same snapshot; it can be sent to another process."""
        ...

    def files(self) -> Mapping[str, Any]:
        """The files by their keys. They can be sent to another process."""
        ...

    def size(self, file: Any) -> int:
        """The bytes of one of them."""
        ...

    def rows(self, file: Any) -> Any:
        """The rows of one of them, as a `pyarrow.RecordBatchReader`."""
        ...
