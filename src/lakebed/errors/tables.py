"""Tables and state: damaged, of a newer Lakebed, or changed by somebody else."""

from lakebed.errors.base import LakebedError


class DamagedTable(LakebedError):
    """A table's metadata cannot be read."""

    def __init__(self, table: str, location: str, why: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"the metadata of {table} cannot be read: {why}",
            where=location,
            next="If the lake's folder or bucket was moved: lakebed relocate; otherwise see what else is lost: lakebed fsck",
        )


class PointsElsewhere(LakebedError):
    """A table of the lake points out of it: the lake was copied or moved, and not relocated."""

    def __init__(self, table: str, location: str, here: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"{table} points at {location}, outside of this lake, and belongs to {here}.",
            next="If the lake was copied or moved, let its tables point at what is here: lakebed relocate",
        )


class PathUnresolved(LakebedError):
    """It cannot be told where a file lies that a table needs."""

    def __init__(self, table: str, location: str, why: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"where a file of {table} lies cannot be told: {why}",
            where=location,
            next="Mend the symbolic links or permissions on the way to it.",
        )


class DamagedDatabase(LakebedError):
    """The file of catalog and state is no database any more."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(
            f"the lake's database is damaged: {why}.",
            where=database,
            next="Move the file away, then: lakebed restore BACKUP --newest; without a backup: lakebed fsck --rebuild-catalog",
        )


class DamagedRelease(LakebedError):
    """Content of a release or of a saved draft is gone, or not what it was."""


class NewerLake(LakebedError):
    """The lake's database was written by a newer Lakebed."""

    def __init__(self, found: int, known: int) -> None:
        self.found, self.known = found, known
        super().__init__(
            f"the lake's database has schema version {found}; this Lakebed knows versions up to {known}.",
            next="Upgrade Lakebed: pip install -U lakebed",
        )


class NewerFormat(LakebedError):
    """A table is of a format version of Iceberg that this Lakebed does not know."""

    def __init__(self, location: str, found: int, known: int) -> None:
        self.location, self.found, self.known = location, found, known
        super().__init__(
            f"a table has Iceberg's format version {found}; this Lakebed knows versions up to {known}.",
            where=location,
            next="Upgrade Lakebed: pip install -U lakebed",
        )


class Conflict(LakebedError):
    """Somebody else was first; nothing of ours was published."""

    exit_code = 1


class PointerMoved(Conflict):
    """A table's pointer moved between reading and swapping it."""

    retryable = True

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"{table} was changed by somebody else meanwhile.", safe="Nothing was published.", next="Try again.")


class Diverged(Conflict):
    """The ref is no longer an ancestor of the branch, so moving it would discard rows."""

    def __init__(self, table: str, ref: str, branch: str) -> None:
        self.table, self.ref, self.branch = table, ref, branch
        super().__init__(
            f"{ref} of {table} gained snapshots that branch {branch} does not have.",
            safe="Nothing was published; both are intact.",
            next="Build the branch anew from the present state.",
        )


class LeaseHeld(Conflict):
    """Another holder works on the same thing."""

    retryable = True

    def __init__(self, name: str, holder: str, silent_for: float, limit: float) -> None:
        self.name, self.holder, self.silent_for, self.limit = name, holder, silent_for, limit
        super().__init__(
            f"{name} is held by {holder} (silent for {silent_for:.0f} s; after {limit:.0f} s of silence it passes on).",
            next="Wait for it (run, retry and table rollback do with --wait SECONDS), or stop that process.",
        )


class LeaseLost(Conflict):
    """Our lease passed to somebody else, so we may not commit."""

    def __init__(self, name: str, holder: str) -> None:
        self.name, self.holder = name, holder
        super().__init__(
            f"the lease on {name} was lost to {holder or 'nobody'}: no sign of life reached the database in time.",
            safe="Nothing was published.",
            next="Start the work again.",
        )
