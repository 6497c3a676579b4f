"""Tables and state: damaged, too new, or changed by another process."""

from collections.abc import Sequence
from datetime import UTC, datetime

from lakebed.errors.base import LakebedError


class DamagedTable(LakebedError):
    """A table's metadata cannot be read."""

    def __init__(self, table: str, location: str, why: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"the metadata of {table} cannot be read: {why}",
            where=location,
            next=(
                "If the lake's folder or bucket was moved: lakebed relocate; otherwise see what"
                " else is damaged: lakebed fsck"
            ),
        )


class PointsElsewhere(LakebedError):
    """A table points to files outside of the lake, which was copied or moved."""

    def __init__(self, table: str, location: str, here: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"{table} points to {location}, outside of this lake; it should be in {here}.",
            next=(
                "If the lake was copied or moved, make its tables point to their files here:"
                " lakebed relocate"
            ),
        )


class PathUnresolved(LakebedError):
    """The path of a file that a table needs cannot be resolved."""

    def __init__(self, table: str, location: str, why: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"the path of a file of {table} cannot be resolved: {why}",
            where=location,
            next="Fix the symbolic links or permissions on the path.",
        )


class DamagedDatabase(LakebedError):
    """The lake's database file is damaged."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(
            f"the lake's database is damaged: {why}.",
            where=database,
            next=(
                "Move the file away, then: lakebed restore BACKUP --newest; without a backup:"
                " lakebed fsck --rebuild-catalog"
            ),
        )


class DamagedRelease(LakebedError):
    """Files of a release or saved draft are missing, or changed."""


class NewerLake(LakebedError):
    """The lake or its database was written by a newer Lakebed."""

    def __init__(
        self, found: int, known: int, *, what: str = "the lake's database has schema version"
    ) -> None:
        self.found, self.known = found, known
        super().__init__(
            f"{what} {found}; this Lakebed supports versions up to {known}.",
            next="Upgrade Lakebed: pip install -U lakebed",
        )


class NewerFormat(LakebedError):
    """A table has an Iceberg format version that this Lakebed does not support."""

    def __init__(self, location: str, found: int, known: int) -> None:
        self.location, self.found, self.known = location, found, known
        super().__init__(
            f"a table has Iceberg format version {found}; this Lakebed supports versions up to"
            f" {known}.",
            where=location,
            next="Upgrade Lakebed: pip install -U lakebed",
        )


class Conflict(LakebedError):
    """Another process was faster; nothing was published."""

    exit_code = 1


class PointerMoved(Conflict):
    """A table's pointer changed between reading and swapping it."""

    retryable = True
    overtaken = True

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"{table} was changed by another process in the meantime.",
            safe="Nothing was published.",
            next="Try again.",
        )


class RowsChanged(Conflict):
    """Rows that were to be replaced were changed by another process since they were read."""

    overtaken = True

    def __init__(self, table: str, where: str) -> None:
        self.table = table
        super().__init__(
            f"another process has changed rows of {table} that were to be replaced ({where}).",
            safe="Its rows are kept, and nothing was replaced.",
            next="Read the rows again, and replace them then.",
        )


class ColumnsChanged(Conflict):
    """Columns were dropped, renamed or changed by another process while rows were written."""

    overtaken = True

    def __init__(self, table: str, columns: Sequence[str]) -> None:
        self.table, self.columns = table, tuple(columns)
        super().__init__(
            f"another process has changed columns of {table} while rows were being written:"
            f" {', '.join(columns)}.",
            safe="Nothing was published: values of these columns would have been lost.",
            next="Run it again; it looks at the columns anew.",
        )


class TableDropped(Conflict):
    """A table was dropped by another process while it was being changed."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"{table} was dropped by another process in the meantime.",
            safe="Nothing was published.",
            next=(
                "To have it back, if its files are still there: lakebed fsck --rebuild-catalog;"
                " otherwise run it again, which creates it anew."
            ),
        )


class Diverged(Conflict):
    """The ref is no longer an ancestor of the branch, so moving it would discard rows."""

    overtaken = True

    def __init__(self, table: str, ref: str, branch: str) -> None:
        self.table, self.ref, self.branch = table, ref, branch
        super().__init__(
            f"{ref} of {table} gained snapshots that branch {branch} does not have.",
            safe="Nothing was published; both are intact.",
            next="Rebuild the branch from the current snapshot.",
        )


class ClockAhead(LakebedError):
    """This machine's clock is ahead of the store's: what it commits would block other writers."""

    def __init__(self, here: datetime, store: datetime) -> None:
        self.here, self.store = here, store
        super().__init__(
            f"the clock of this machine is ahead of the clock of the lake's database: it is"
            f" {_iso(here)} here and {_iso(store)} there.",
            next="Set this machine's clock, best by NTP, then try again.",
        )


class WrittenAhead(LakebedError):
    """The times in a table's metadata are ahead of this machine's clock, so Spark cannot commit."""

    retryable = True

    def __init__(self, written: datetime, here: datetime) -> None:
        self.written, self.here = written, here
        super().__init__(
            f"a table was last changed at {_iso(written)} by its own metadata, and the clock of"
            f" this machine says {_iso(here)}: Iceberg refuses a commit that seems to be earlier.",
            safe="The table is unchanged.",
            next=(
                "Compare the clocks of this machine and of the others that write the table. If"
                " another one was ahead, try again: Lakebed sets such times right before it starts"
                " (on a REST catalog, wait until that time)."
            ),
        )


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


class LeaseHeld(Conflict):
    """Another process holds the lease."""

    retryable = True

    def __init__(self, name: str, holder: str, silent_for: float, limit: float) -> None:
        self.name, self.holder, self.silent_for, self.limit = name, holder, silent_for, limit
        super().__init__(
            f"{name} is held by {holder} (silent for {silent_for:.0f} s; after {limit:.0f} s of"
            " silence the lease is free).",
            next=(
                "Wait for it (run, retry and table rollback take --wait SECONDS), or stop that"
                " process."
            ),
        )


class LeaseLost(Conflict):
    """Another process took over our lease, so we may not commit."""

    def __init__(self, name: str, holder: str) -> None:
        self.name, self.holder = name, holder
        super().__init__(
            f"the lease on {name} was lost{f' to {holder}' if holder else ''}: it was not renewed"
            " in time.",
            safe="Nothing was published.",
            next="Run it again.",
        )
