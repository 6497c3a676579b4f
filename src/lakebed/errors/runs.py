"""What goes wrong while a pipeline runs."""

from lakebed.errors.base import LakebedError


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


class OutcomeUnknown(LakebedError):
    """Whether a run was published is not known, because the catalog gave no answer: the run is not repeated by itself."""

    def __init__(self, run: str, why: str) -> None:
        super().__init__(
            f"it is not known whether it was published: {why}",
            safe="Its rows are in the table once, or not at all.",
            next=f"When the catalog answers again, look: lakebed runs show {run}. lakebed retry repeats it if it was not.",
        )


class QueryEnded(LakebedError):
    """A query was ended before its answer was complete: its time, memory or rows were spent, or somebody cancelled it."""

    exit_code = 1


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

    def __init__(self, why: str, *, log: str = "", next: str = "") -> None:
        self.log = log
        super().__init__(f"Spark could not be started: {why}", next=next or (f"Its log: {log}" if log else ""))
