"""Every error Lakebed raises on purpose, as one tree.

    LakebedError
    ├── UsageError              asked for something that cannot be; nothing was touched
    │   ├── NoLake              there is no lake where one was expected
    │   ├── LakeExists          init found a lake already there
    │   ├── BadRoot             a root no engine can address safely
    │   ├── BadText             a file that somebody wrote for Lakebed is wrong at some line
    │   │   ├── BadSettings     lakebed.yaml or a LAKEBED_* variable
    │   │   └── BadPipeline     a pipeline's files, a gate, a template or a zone.yaml
    │   ├── BadName             a name no table, zone or folder may have
    │   ├── NameCollision       two names that would share one table
    │   └── UnknownName         no such table, namespace, command ...; near ones are suggested
    ├── MissingPart             the machine lacks something; the message says how to get it
    │   ├── MissingExtra        a Python package of one of our extras
    │   ├── MissingJava         no Java 17 or 21
    │   └── MissingJars         Spark's jars are neither cached nor reachable
    ├── Unavailable             a store or server does not answer (a retry may help)
    │   ├── CatalogUnreachable
    │   └── FilesUnreachable
    ├── FilesRefused            the file store answers, and says no: access, space, no such bucket
    ├── UnsafeStore             a store that breaks a promise we rely on
    ├── FileMissing             a file that should be there is not
    ├── FileExists              create-if-absent found the file there
    ├── DamagedTable            a table's metadata cannot be read
    ├── NewerLake               the lake's database was written by a newer Lakebed
    ├── Conflict                somebody else was first; nothing of ours was published
    │   ├── PointerMoved        the table's pointer moved meanwhile (a retry helps)
    │   ├── Diverged            the ref is no longer an ancestor of the branch: rebuild the branch
    │   ├── LeaseHeld           another holder works on the table (a later retry helps)
    │   └── LeaseLost           our lease passed to somebody else: we may not commit
    ├── BadBatch                the rows of a batch cannot enter the table as asked
    ├── BadFiles                landing files cannot be read
    │   └── FilesChanged        they changed while they were read (a retry helps)
    ├── GateFailed              a quality gate found bad rows; the table is as it was
    ├── NotPublished            another run of the same build failed, and all are published together
    ├── RunFailed               a pipeline's code, or the engine on its behalf, failed
    └── SparkFailed             Spark could not be started or died

`what` happened, `where`, whether data is `safe`, and what to do `next` are attributes of every error; `retryable`
says whether the same call may succeed later without a change; `exit_code` is what the command line returns.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar

NOTHING_CHANGED = "Nothing was changed."


class LakebedError(Exception):
    """Something Lakebed refused or could not do."""

    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str = "", safe: str = NOTHING_CHANGED, next: str = "") -> None:
        self.what, self.where, self.safe, self.next = what, where, safe, next
        super().__init__(what)

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join(part for part in (head, self.safe, self.next) if part)


class UsageError(LakebedError):
    """Asked for something that cannot be; nothing was touched."""


class NoLake(UsageError):
    """There is no lake where one was expected."""

    def __init__(self, root: str) -> None:
        self.root = root
        super().__init__(
            "there is no lake here (no lakebed.yaml in this folder or above it).",
            where=root,
            next="Make one with: lakebed init, or name one with --lake PATH.",
        )


class LakeExists(UsageError):
    """`init` found a lake already there."""

    def __init__(self, root: str) -> None:
        self.root = root
        super().__init__(
            "there is a lake here already.", where=root, next="Look at it with: lakebed doctor, or choose another folder."
        )


class BadRoot(UsageError):
    """A root that Spark, Iceberg and DuckDB would not all address alike."""

    def __init__(self, root: str, why: str) -> None:
        self.root = root
        super().__init__(why, where=root, next="Choose another root.")


class BadText(UsageError):
    """A file that somebody wrote for Lakebed is wrong at some line."""

    def __init__(self, what: str, *, where: str, line: int | None = None, excerpt: str = "", next: str = "") -> None:
        self.line, self.excerpt = line, excerpt
        place = f"{where}:{line}" if line else where
        shown = f"{what}\n  {line} | {excerpt}\n" if line and excerpt else what
        super().__init__(shown, where=place, next=next)


class BadSettings(BadText):
    """A setting in `lakebed.yaml` or in a `LAKEBED_*` variable is wrong."""


class BadPipeline(BadText):
    """A pipeline's files, a gate, a template or a zone's settings are wrong; refused before anything runs."""


class BadName(UsageError):
    """A name no table, zone or folder may have."""

    def __init__(self, kind: str, name: str, why: str) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"{name!r} cannot be the name of a {kind}: {why}.", next="Choose another name.")


class NameCollision(UsageError):
    """Two names that would share one table."""

    def __init__(self, first: str, second: str, shared: str) -> None:
        self.first, self.second, self.shared = first, second, shared
        super().__init__(
            f"{first} and {second} would both be the table {shared} (names are compared without regard to case).",
            next="Rename one of them.",
        )


class UnknownName(UsageError):
    """No such thing; the nearest known names are suggested."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        self.kind, self.name = kind, name
        self.near = near(name, known)
        super().__init__(f"there is no {kind} {name!r}.", next=suggestion(self.near))


class MissingPart(LakebedError):
    """The machine lacks something Lakebed needs."""


class MissingExtra(MissingPart):
    """A Python package of one of Lakebed's extras is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs more packages.", next=f"Install them with: pip install 'lakebed[{extra}]'")


class MissingJava(MissingPart):
    """No Java that Spark runs on."""

    def __init__(self, found: str = "") -> None:
        self.found = found
        seen = f" Found only {found}." if found else ""
        super().__init__(
            f"Spark needs Java 17 or 21, and there is none.{seen}",
            next="Install one (Debian: apt-get install openjdk-17-jre-headless), point JAVA_HOME at one, "
            "or take the one from PyPI: pip install 'lakebed[java]'",
        )


class MissingJars(MissingPart):
    """Spark's jars are neither in the cache nor reachable."""

    retryable = True

    def __init__(self, jars: Iterable[str], cache: str, why: str) -> None:
        self.jars = tuple(jars)
        super().__init__(
            f"the jars {', '.join(self.jars)} are not in the cache, and fetching them failed: {why}",
            where=cache,
            next="Go online once, copy the folder from a machine that has it, or name local files under spark.jars.",
        )


class Unavailable(LakebedError):
    """A store or server does not answer."""

    retryable = True


class CatalogUnreachable(Unavailable):
    """The catalog's database or server does not answer."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        super().__init__(
            f"the catalog does not answer: {why}",
            where=catalog,
            next="Check that it runs and that LAKEBED_CATALOG_* are right, then: lakebed doctor",
        )


class FilesUnreachable(Unavailable):
    """The file store does not answer."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        super().__init__(
            f"the file store does not answer: {why}",
            where=store,
            next="Check that it runs and that LAKEBED_FILES_* are right, then: lakebed doctor",
        )


class FilesRefused(LakebedError):
    """The file store answers, and says no: no access, no space, no such bucket."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        super().__init__(
            f"the file store refuses: {why}",
            where=store,
            next="Check access, free space and LAKEBED_FILES_*, then: lakebed doctor",
        )


class UnsafeStore(LakebedError):
    """A store that breaks a promise Lakebed relies on."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        super().__init__(why, where=store, next="Use a store whose create-if-absent is atomic (AWS S3, SeaweedFS 4.48+).")


class FileMissing(LakebedError):
    """A file that should be there is not."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__("no such file.", where=path)


class FileExists(LakebedError):
    """Create-if-absent found the file there."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__("the file exists already.", where=path)


class DamagedTable(LakebedError):
    """A table's metadata cannot be read."""

    def __init__(self, table: str, location: str, why: str) -> None:
        self.table, self.location = table, location
        super().__init__(
            f"the metadata of {table} cannot be read: {why}",
            where=location,
            next="If the lake's folder or bucket was moved, move it back; otherwise restore the file from a backup.",
        )


class NewerLake(LakebedError):
    """The lake's database was written by a newer Lakebed."""

    def __init__(self, found: int, known: int) -> None:
        self.found, self.known = found, known
        super().__init__(
            f"the lake's database has schema version {found}; this Lakebed knows versions up to {known}.",
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
            next="Wait for it, or stop that process.",
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


class BadBatch(LakebedError):
    """The rows of a batch cannot enter the table as asked: a NULL key, a repeated key, an unknown column."""

    exit_code = 1


class BadFiles(LakebedError):
    """Landing files cannot be read."""

    exit_code = 1


class FilesChanged(BadFiles):
    """Landing files were changed or removed while they were read: the run begins anew."""

    retryable = True


class GateFailed(LakebedError):
    """A quality gate found bad rows; the table is as it was."""

    exit_code = 1


class NotPublished(LakebedError):
    """A run did its part, and was not published because another one of its build failed; the table is as it was."""

    exit_code = 1

    def __init__(self, what: str) -> None:
        super().__init__(what, safe="The table is as it was.")


class RunFailed(LakebedError):
    """A pipeline's own code, or the engine on its behalf, failed; the table is as it was."""

    retryable = True
    exit_code = 1

    def __init__(
        self, what: str, *, where: str = "", line: int | None = None, safe: str = "The table is as it was.", next: str = ""
    ) -> None:
        self.line = line  # of the statement that the engine was given
        super().__init__(what, where=where, safe=safe, next=next)


class SparkFailed(LakebedError):
    """Spark could not be started, or died."""

    retryable = True

    def __init__(self, why: str, *, log: str = "") -> None:
        self.log = log
        super().__init__(f"Spark could not be started: {why}", next=f"Its log: {log}" if log else "")


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The up to three known names most like `name`, compared without regard to case."""
    by_folded = {word.casefold(): word for word in known}
    return tuple(by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6))


def suggestion(names: tuple[str, ...]) -> str:
    """'Did you mean a, b or c?' or nothing."""
    if not names:
        return ""
    *rest, last = names
    return f"Did you mean {', '.join(rest)} or {last}?" if rest else f"Did you mean {last}?"
