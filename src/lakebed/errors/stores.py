"""The machine lacks something, or a store does not answer as it should."""

from collections.abc import Iterable

from lakebed.errors.base import LakebedError


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


_TOO_MANY = ("too many clients", "too many connections", "remaining connection slots")  # in PostgreSQL's words
_FEWER = "Raise max_connections of the server or the limit of the role, or run fewer pipelines at once (--threads)."


class Unavailable(LakebedError):
    """A store or server does not answer."""

    retryable = True


class CatalogUnreachable(Unavailable):
    """The catalog's database or server does not answer."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        too_many = any(sign in why for sign in _TOO_MANY)
        super().__init__(
            f"the catalog does not answer: {why}",
            where=catalog,
            next=_FEWER if too_many else "Check that it runs and that LAKEBED_CATALOG_* are right, then: lakebed doctor",
        )


class CatalogFull(Unavailable):
    """There is no room left on the disk of the catalog's database."""

    def __init__(self, catalog: str, why: str) -> None:
        self.catalog = catalog
        super().__init__(
            f"the disk of the catalog is full: {why}", where=catalog, next="Make room on that disk, then run the command again."
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


class CatalogRefused(LakebedError):
    """The catalog's database answers, and says no: the role lacks a right."""

    def __init__(self, catalog: str, why: str, *, role: str, right: str) -> None:
        self.catalog, self.role, self.right = catalog, role, right
        super().__init__(
            f"the role {role} may not {right}: {why}",
            where=catalog,
            next="Work as the role that made the lake, or let that role grant what is missing: "
            f'GRANT USAGE, CREATE ON SCHEMA public TO "{role}"; '
            f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{role}"; '
            f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "{role}";',
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
