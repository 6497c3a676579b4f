"""The database of catalog and state as a whole: archived, and restored from an archive."""

from collections.abc import Mapping
from typing import Protocol
from zipfile import ZipFile


class DatabaseArchive(Protocol):
    """Writes all rows of the database to an archive, and replaces them by those of one."""

    @property
    def where(self) -> str:
        """The database, as messages name it."""
        ...

    @property
    def server_version(self) -> str:
        """The kind and version of the database."""
        ...

    @property
    def schema_version(self) -> int:
        """The version of the tables, as this Lakebed has them."""
        ...

    def write(self, archive: ZipFile) -> dict[str, int]:
        """Write every table's rows, all as of one moment; returns how many rows each table has."""
        ...

    def read(self, archive: ZipFile, *, version: int) -> None:
        """Replace all rows of the database by the archive's, in one transaction.

        The database has the newest schema already. What was added to it since the archive's
        `version` keeps its default, or stays empty. `NewerLake` if the archive's is newer.
        """
        ...

    def held_leases(self) -> list[str]:
        """The leases that are held now."""
        ...

    def row_counts(self) -> Mapping[str, int]:
        """How many rows each table holds, without empty ones and those that every lake has."""
        ...
