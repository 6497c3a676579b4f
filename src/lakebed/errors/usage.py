"""The request cannot be carried out."""

from collections.abc import Iterable, Sequence

from lakebed.errors.base import LakebedError, near, suggestion


class UsageError(LakebedError):
    """The request cannot be carried out; nothing was changed."""


class NoLake(UsageError):
    """No lake where one was expected."""

    def __init__(self, root: str) -> None:
        self.root = root
        super().__init__(
            "there is no lake here (no lakebed.yaml in this folder or above it).",
            where=root,
            next="Create one with: lakebed init, or choose one with --lake PATH.",
        )


class LakeExists(UsageError):
    """`init` was run where there already is a lake."""

    def __init__(self, root: str) -> None:
        self.root = root
        super().__init__(
            "there already is a lake here.",
            where=root,
            next="Look at it with: lakebed doctor, or choose another folder.",
        )


class BadRoot(UsageError):
    """A root that Spark, Iceberg and DuckDB cannot all address."""

    def __init__(self, root: str, why: str) -> None:
        self.root = root
        super().__init__(why, where=root, next="Choose another root.")


class BadText(UsageError):
    """A file written for Lakebed is wrong, at a certain line."""

    def __init__(
        self,
        what: str,
        *,
        where: str,
        line: int | None = None,
        excerpt: str = "",
        column: int | None = None,
        next: str = "",
        path: tuple[str, ...] = (),  # of the key in a YAML file
    ) -> None:
        self.fault = what  # without the line
        self.path = path
        self.line, self.excerpt, self.column = (
            line,
            excerpt,
            column,
        )  # the column in the excerpt, from 0
        place = f"{where}:{line}" if line else where
        mark = "" if column is None else f"  {' ' * len(str(line))} | {' ' * column}^\n"
        shown = f"{what}\n  {line} | {excerpt}\n{mark}" if line and excerpt else what
        super().__init__(shown, where=place, next=next)


class BadSettings(BadText):
    """A setting in `lakebed.yaml` or in a `LAKEBED_*` variable is wrong."""


class BadPipeline(BadText):
    """A pipeline's files, a gate, a template or a zone's settings are wrong; nothing has run."""


class PipelineCycle(BadPipeline):
    """Pipelines read each other in a cycle: each of `tables` reads the next."""

    def __init__(
        self,
        tables: Iterable[str],
        *,
        where: str,
        line: int | None = None,
        also: str = "",
        next: str,
    ) -> None:
        self.tables = tuple(tables)
        what = f"pipelines read each other in a cycle: {' → '.join(self.tables)}{also}."
        super().__init__(what, where=where, line=line, next=next)


class SeveralFaults(UsageError):
    """Several files of pipelines are wrong: all `faults`, one below the other."""

    def __init__(self, faults: Sequence[LakebedError]) -> None:
        self.faults = tuple(faults)
        shown = (f"\n  {_indented(fault)}" for fault in self.faults)
        super().__init__(f"{len(self.faults)} pipelines cannot run:{''.join(shown)}")


def _indented(fault: LakebedError) -> str:
    place = f"{fault.where}: " if fault.where else ""
    parts = (f"{place}{fault.what.rstrip()}", fault.next)
    return "\n  ".join(filter(None, parts)).replace("\n", "\n  ")


def raise_all(faults: Iterable[LakebedError]) -> None:
    """Raise these faults, each once, if there are any: one as it is, several together."""
    match list(dict.fromkeys(faults)):
        case []:
            return
        case [only]:
            raise only
        case several:
            raise SeveralFaults(several)


class BadQuery(UsageError):
    """A query that cannot be parsed, or is not allowed; it did not run."""


class BadName(UsageError):
    """A name that no table, zone or folder may have."""

    def __init__(self, kind: str, name: str, why: str) -> None:
        self.kind, self.name = kind, name
        super().__init__(
            f"{name!r} cannot be the name of a {kind}: {why}.", next="Choose another name."
        )


class NameCollision(UsageError):
    """Two names that would share one table."""

    def __init__(self, first: str, second: str, shared: str) -> None:
        self.first, self.second, self.shared = first, second, shared
        super().__init__(
            f"{first} and {second} would both be the table {shared} (names are compared ignoring"
            " case).",
            next="Rename one of them.",
        )


class NameTaken(UsageError):
    """A table, tag or branch of that name exists."""


class UnknownName(UsageError):
    """No such name; similar names are suggested."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        self.kind, self.name = kind, name
        self.near = near(name, known)
        super().__init__(f"there is no {kind} {name!r}.", next=suggestion(self.near))
