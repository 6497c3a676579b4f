"""A root and a database that do not belong together, or not any longer."""

from lakebed.errors.base import LakebedError


class WrongDatabase(LakebedError):
    """The database is not that of this lake: it is empty, or belongs to another lake."""

    def __init__(self, root: str, database: str, why: str, *, next: str = "") -> None:
        self.root, self.database = root, database
        super().__init__(
            f"the database {database} is not that of this lake: {why}",
            where=root,
            next=next or "Check catalog.url in lakebed.yaml and LAKEBED_CATALOG_*.",
        )


class NotOwner(LakebedError):
    """Another database owns the lake: with this one it can be read, not changed."""

    def __init__(self, root: str, database: str, why: str) -> None:
        self.root, self.database = root, database
        super().__init__(
            f"the database {database} does not own this lake: {why} Reading works.",
            where=root,
            next=(
                "If this database is the lake's from now on, and no other writes to it:"
                " lakebed takeover"
            ),
        )


class CopiedLake(LakebedError):
    """The lake is not where it was: it was copied or moved, and not relocated."""

    def __init__(self, root: str, address: str) -> None:
        self.root, self.address = root, address
        super().__init__(
            f"this lake was copied or moved here from {address}. Reading works.",
            where=root,
            next=(
                "Make this a lake of its own: lakebed relocate. If it was moved, and is no longer"
                " there: lakebed relocate --moved"
            ),
        )


class DamagedIdentity(LakebedError):
    """The file that holds a lake's identity cannot be read."""

    def __init__(self, file: str, why: str) -> None:
        self.file = file
        super().__init__(
            f"the lake's identity cannot be read: {why}.",
            where=file,
            next="Restore the file from a backup, or remove it, then: lakebed takeover",
        )
