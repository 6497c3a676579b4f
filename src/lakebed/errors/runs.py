"""Errors of runs and queries."""

from lakebed.errors.base import LakebedError


class BadBatch(LakebedError):
    """A batch cannot be written as requested: a NULL key, a duplicate key, an unknown column."""

    exit_code = 1


class BadFiles(LakebedError):
    """Landing files cannot be read."""

    exit_code = 1


class FilesChanged(BadFiles):
    """Landing files were changed or removed while being read; the run starts over."""

    retryable = True
    overtaken = True


class LinkRefused(BadFiles):
    """A symbolic link leads out of its zone, source or folder, or to nothing."""

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(
            f"this symbolic link {fault}.",
            where=path,
            safe="Nothing was published, and no file was moved.",
            next="Put the files themselves there, or remove the link.",
        )
        self.path = path


class TypesChanged(BadFiles):
    """Another run has published a different type for a column of the zone; the run starts over."""

    overtaken = True


class GateFailed(LakebedError):
    """A quality gate found bad rows; the table is unchanged."""

    exit_code = 1


class NotPublished(LakebedError):
    """A run was not published because another run of its build failed; the table is unchanged."""

    exit_code = 1

    def __init__(self, what: str) -> None:
        super().__init__(what, safe="The table is unchanged.")


class OutcomeUnknown(LakebedError):
    """It is unknown whether a run was published; it is not retried automatically."""

    def __init__(self, run: str, why: str) -> None:
        super().__init__(
            f"it is unknown whether it was published: {why}",
            safe="Its rows are in the table once or not at all.",
            next=(
                f"When the catalog is back, check with: lakebed runs show {run}. If it was not"
                " published: lakebed retry"
            ),
        )


class QueryEnded(LakebedError):
    """A query was stopped: it reached a limit of time, memory or rows, or was cancelled."""

    exit_code = 1


class RunFailed(LakebedError):
    """A pipeline's code, or the engine that ran it, failed; the table is unchanged."""

    retryable = True
    exit_code = 1

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        line: int | None = None,
        safe: str = "The table is unchanged.",
        next: str = "",
    ) -> None:
        self.line = line  # in the statement as the engine got it
        super().__init__(what, where=where, safe=safe, next=next)


class SparkFailed(LakebedError):
    """Spark could not be started, or died."""

    retryable = True

    def __init__(self, why: str, *, log: str = "", next: str = "") -> None:
        self.log = log
        super().__init__(
            f"Spark could not be started: {why}", next=next or (f"Its log: {log}" if log else "")
        )


class WorkerUnavailable(LakebedError):
    """There is no worker to be had; commands run by themselves then."""

    retryable = True

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(
            f"the worker cannot be used: {why}.", next="Commands run without it: --no-worker."
        )
