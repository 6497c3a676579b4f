"""Something is not installed, or a store does not do what it should."""

from collections.abc import Iterable
from typing import Literal

from lakebed.errors.base import LakebedError


class MissingPart(LakebedError):
    """Something Lakebed needs is not installed."""


class MissingExtra(MissingPart):
    """A Python package of one of Lakebed's extras is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(
            f"{purpose} needs more packages.",
            next=f"Install them with: pip install 'lakebed[{extra}]'",
        )


class MissingJava(MissingPart):
    """No Java version that Spark supports."""

    def __init__(self, found: str = "") -> None:
        self.found = found
        seen = f" Found only {found}." if found else ""
        super().__init__(
            f"Spark needs Java 17 or 21, which was not found.{seen}",
            next=(
                "Install one (Debian: apt-get install openjdk-17-jre-headless), point JAVA_HOME at"
                " one, or get one from PyPI: pip install 'lakebed[java]'"
            ),
        )


class MissingJars(MissingPart):
    """Spark's jars are not cached and cannot be downloaded."""

    retryable = True

    def __init__(self, jars: Iterable[str], cache: str, why: str) -> None:
        self.jars = tuple(jars)
        super().__init__(
            f"the jars {', '.join(self.jars)} are not in the cache and could not be downloaded:"
            f" {why}",
            where=cache,
            next=(
                "Go online once, copy the folder from another machine, or set spark.jars to local"
                " files."
            ),
        )


_TOO_MANY = (
    "too many clients",
    "too many connections",
    "remaining connection slots",
)  # as PostgreSQL words it
_FEWER = (
    "Raise the server's max_connections or the role's limit, or run fewer pipelines at once"
    " (--threads)."
)


class Unavailable(LakebedError):
    """A store or server does not respond."""

    retryable = True


class CatalogUnreachable(Unavailable):
    """The catalog's database or server does not respond."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        too_many = any(sign in why for sign in _TOO_MANY)
        super().__init__(
            f"the catalog does not respond: {why}",
            where=catalog,
            next=(
                _FEWER
                if too_many
                else (
                    "Check that it is running and that LAKEBED_CATALOG_* are right, then: lakebed"
                    " doctor"
                )
            ),
        )


class CatalogFull(Unavailable):
    """The disk of the catalog's database is full."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        super().__init__(
            f"the disk of the catalog is full: {why}",
            where=catalog,
            next="Free space on that disk, then run the command again.",
        )


class CatalogReadOnly(LakebedError):
    """The catalog's database cannot be written to."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        super().__init__(
            f"the catalog cannot be written to: {why}",
            where=catalog,
            next=(
                "Let this user write to the file and its folder, or use a server and a role that"
                " accept writes."
            ),
        )


class FilesUnreachable(Unavailable):
    """The file store does not respond."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        super().__init__(
            f"the file store does not respond: {why}",
            where=store,
            next=(
                "Check that it is running and that LAKEBED_FILES_* are right, then: lakebed doctor"
            ),
        )


class CatalogRefused(LakebedError):
    """The catalog's database denies access: the role lacks a privilege."""

    def __init__(self, catalog: str, why: str, *, role: str, right: str, owner: str = "") -> None:
        self.catalog, self.role, self.right = catalog, role, right
        reading = (
            f'GRANT USAGE ON SCHEMA public TO "{role}"; '
            f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{role}";'
        )
        writing = (
            f'GRANT "{owner}" TO "{role}";'
            if owner
            else f'GRANT USAGE, CREATE ON SCHEMA public TO "{role}";'
        )
        super().__init__(
            f"the role {role} may not {right}: {why}",
            where=catalog,
            next=(
                f"Let it read the lake: {reading}"
                if right == "SELECT"
                else f"Use a role that may write to the lake, or let this one: {writing}"
            ),
        )


class UnprotectedRead(LakebedError):
    """A snapshot of the past may expire while it is read, and the role may not protect it."""

    def __init__(self, table: str, snapshot: int, refused: "CatalogRefused | CatalogReadOnly"):
        self.table, self.snapshot = table, snapshot
        role = refused.role if isinstance(refused, CatalogRefused) else ""
        grant = f'let its owner GRANT INSERT, UPDATE, DELETE ON lakebed_holds TO "{role}";'
        super().__init__(
            f"snapshot {snapshot} of {table} was superseded so long ago that it may expire while it"
            " is read, and the catalog does not let this process protect it.",
            where=refused.where,
            next=(
                "Read a tag or a younger snapshot, or"
                f" {grant if role else 'use a server and a role that accept writes.'}"
            ),
        )


class UpgradeNeeded(LakebedError):
    """The lake's database is of an older version, and this role may not upgrade it."""

    def __init__(self, catalog: str, version: int, newest: int, *, role: str, owner: str) -> None:
        self.catalog, self.version, self.owner = catalog, version, owner
        super().__init__(
            f"the database has schema version {version}, this Lakebed needs {newest}, and the role"
            f" {role} may not upgrade it.",
            where=catalog,
            next=f"As {owner}, which owns its tables, or a member of it: lakebed upgrade",
        )


LoginFault = Literal["pooler", "login", "host", "database", "encryption", "credential", "trust"]
_CORRECTIONS: dict[LoginFault, str] = {
    "pooler": "It is a pooler: set catalog.pooler: true (LAKEBED_CATALOG_POOLER=true)",
    "login": "Correct LAKEBED_CATALOG_USER and LAKEBED_CATALOG_PASSWORD",
    "host": "Let the server's pg_hba.conf admit this machine, user and database",
    "database": (
        "Correct the database in LAKEBED_CATALOG_URL, create it, or let its owner GRANT CONNECT on"
        " it"
    ),
    "encryption": "Correct sslmode, sslrootcert and sslcert in LAKEBED_CATALOG_URL",
    "credential": "Correct LAKEBED_CATALOG_CREDENTIAL, or give its owner the privilege",
    "trust": "Let this machine trust the server's certificate (REQUESTS_CA_BUNDLE)",
}


class CatalogLoginRefused(LakebedError):
    """The catalog's server refuses access: user, password, database or certificate are wrong."""

    def __init__(self, catalog: str, why: str, *, fault: LoginFault) -> None:
        self.catalog, self.fault = catalog, fault
        super().__init__(
            f"the catalog's server refuses access: {why}",
            where=catalog,
            next=f"{_CORRECTIONS[fault]}, then: lakebed doctor",
        )


_FREE_SPACE = "Free space on that disk, then run the command again."
_ALLOW = "Let this user write there, or name another folder."
_BY_SIGN = {  # as the operating system words it
    "No space left": _FREE_SPACE,
    "Disk quota": _FREE_SPACE,
    "Read-only file system": _ALLOW,
    "Permission denied": _ALLOW,
}


class FilesRefused(LakebedError):
    """The file store denies the request: no access, no space, no such bucket."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        advice = (text for sign, text in _BY_SIGN.items() if sign in why)
        super().__init__(
            f"the file store denied the request: {why}",
            where=store,
            next=next(advice, "Check access, free space and LAKEBED_FILES_*, then: lakebed doctor"),
        )


class UnsafeStore(LakebedError):
    """A store without a guarantee that Lakebed relies on."""

    def __init__(self, store: str, why: str) -> None:
        self.store = store
        super().__init__(
            why,
            where=store,
            next="Use a store whose create-if-absent is atomic (AWS S3, SeaweedFS 4.48+).",
        )


class FileMissing(LakebedError):
    """A file that should exist does not."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__("no such file.", where=path)


class FileReplaced(LakebedError):
    """The file is no longer the one that was read: another writer replaced it first."""

    overtaken = True

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            "another writer replaced the file after it was read.",
            where=path,
            next="Read it again and decide again.",
        )


class FileExists(LakebedError):
    """The file exists, and must not be overwritten."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__("the file already exists.", where=path)
