"""Whose fault it is that Spark failed."""

from typing import NoReturn

import pytest

from lakebed.engines.spark.landing.faults import or_unreadable
from lakebed.errors import BadFiles
from lakebed.ports import FileGroup, UnreadableFiles

PATHS = ("file:///lake/a.csv", "file:///lake/a.csv.gz", "file:///lake/b c%.csv")
READING = (
    "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {}. SQLSTATE: KD001\n\tat"
    " x.y.Z\nCaused by: {}"
)


class Failed(Exception):
    """An error of Spark, with its condition."""

    def __init__(self, text: str, condition: str | None = None) -> None:
        super().__init__(text)
        self.condition = condition

    def getCondition(self) -> str | None:  # noqa: N802  Spark's own name
        return self.condition


def blamed(text: str, condition: str | None = None, *, for_columns: bool = False) -> object:
    def ask() -> NoReturn:
        raise Failed(text, condition)

    return or_unreadable([FileGroup("csv", PATHS, {})], ask, for_columns=for_columns)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("file:///lake/a.csv", PATHS[0]),
        ("file:/lake/a.csv.gz", PATHS[1]),
        ("file:///lake/b%20c%25.csv", PATHS[2]),
        ("file:///lake/b c%.csv", PATHS[2]),
        ("somewhere", None),
    ],
)
def test_the_file_that_spark_names_is_found_however_it_is_spelt(
    said: str, path: str | None
) -> None:
    answer = blamed(READING.format(said, "java.io.EOFException: Unexpected end of input stream"))
    assert answer == UnreadableFiles("Spark cannot read it: Unexpected end of input stream", path)


@pytest.mark.parametrize(
    "cause",
    [
        "software.amazon.awssdk.services.s3.model.S3Exception: slow down",
        "java.nio.file.AccessDeniedException: /lake/a.csv",
        "java.net.ConnectException: Connection refused",
        "java.net.SocketTimeoutException: Read timed out",
        "java.lang.OutOfMemoryError: Java heap space",
    ],
)
def test_a_store_or_machine_that_fails_is_no_files_fault(cause: str) -> None:
    with pytest.raises(Failed):
        blamed(READING.format(PATHS[0], cause))


def test_whatever_else_fails_is_no_files_fault() -> None:
    with pytest.raises(Failed):
        blamed("[UNRESOLVED_COLUMN] no such column", "UNRESOLVED_COLUMN")
    with pytest.raises(Failed):
        blamed("[PARQUET_TYPE_ILLEGAL] INT64", "PARQUET_TYPE_ILLEGAL")
    assert isinstance(
        blamed("[PARQUET_TYPE_ILLEGAL] INT64", "PARQUET_TYPE_ILLEGAL", for_columns=True),
        UnreadableFiles,
    )


@pytest.mark.parametrize(
    "said",
    [
        "[PATH_NOT_FOUND] Path does not exist",
        READING.format("x", "java.io.FileNotFoundException: x"),
    ],
)
def test_a_file_that_vanished_is_not_bad(said: str) -> None:
    with pytest.raises(BadFiles, match="disappeared"):
        blamed(said)
