"""Spark's errors in Lakebed's words."""

import pytest

from lakebed.engines.spark.failures import as_failure


@pytest.mark.parametrize(
    ("said", "next"),
    [
        (
            (
                "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column cannot be resolved. SQLSTATE: 42703;"
                " line 2 pos 7;\n'Project"
            ),
            "describe",
        ),
        (
            "[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'. SQLSTATE: 42601 (line 1, pos 9)",
            "lakebed compile",
        ),
        (
            "[UNRESOLVED_ROUTINE] Cannot resolve routine `nope`. SQLSTATE: 42883; line 1 pos 7",
            "function of Spark SQL",
        ),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] The table or view `x` cannot be found. SQLSTATE: 42P01",
            "ref()",
        ),
        ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", "try_divide"),
        ("[CAST_INVALID_INPUT] The value 'x' cannot be cast to INT. SQLSTATE: 22018", "try_cast"),
        (
            "Job aborted due to stage failure: java.lang.OutOfMemoryError: Java heap space",
            "spark.memory",
        ),
        ("java.io.IOException: No space left on device", "Free space"),
        ("something nobody has thought of", ".data/logs/spark"),
    ],
)
def test_every_error_of_spark_has_a_next_step(said: str, next: str) -> None:
    error = as_failure(Exception(said))
    assert next in error.next
    assert error.next.endswith(".")


def test_the_line_is_found() -> None:
    assert getattr(as_failure(Exception("[X] no; line 2 pos 7;\n'Project")), "line") == 2  # noqa: B009


def test_what_happened_to_a_task_is_told_and_not_that_somebody_waited_for_it() -> None:
    said = (
        "An error occurred while calling o12.collectAsArrowToPython.\n: "
        "org.apache.spark.SparkException: Exception thrown in awaitResult: \n\tat a.B(C.scala:1)\n"
        "Caused by: org.apache.spark.SparkException: Python worker exited unexpectedly\n\tat d.E"
    )
    assert as_failure(Exception(said)).what == "Python worker exited unexpectedly."


_TRACE = """An error occurred while calling o55.sql.
: org.apache.iceberg.jdbc.UncheckedSQLException: Failed to connect: jdbc:postgresql://db/lake
\tat org.apache.iceberg.jdbc.JdbcClientPool.newClient(JdbcClientPool.java:91)
Caused by: {said}
\tat org.postgresql.Driver.connect(Driver.java:1)
"""


@pytest.mark.parametrize(
    ("said", "kind", "what", "next"),
    [
        (
            "org.postgresql.util.PSQLException: FATAL: sorry, too many clients already",
            "CatalogUnreachable",
            "too many",
            "--threads",
        ),
        (
            'org.postgresql.util.PSQLException: FATAL: password authentication failed for user "me"',
            "CatalogLoginRefused",
            "authentication failed",
            "LAKEBED_CATALOG_PASSWORD",
        ),
        (
            "org.postgresql.util.PSQLException: Connection refused.",
            "CatalogUnreachable",
            "Connection refused",
            "doctor",
        ),
        (
            "org.postgresql.util.PSQLException: ERROR: No space left on device",
            "CatalogFull",
            "disk of the catalog",
            "Free space",
        ),
        (
            "org.sqlite.SQLiteException: [SQLITE_FULL] (database or disk is full)",
            "CatalogFull",
            "disk is full",
            "Free space",
        ),
        (
            "org.postgresql.util.PSQLException: ERROR: permission denied for table x",
            "RunFailed",
            "permission denied",
            "",
        ),
    ],
)
def test_what_the_catalogs_database_says_reaches_the_user_from_spark(
    said: str, kind: str, what: str, next: str
) -> None:
    error = as_failure(Exception(_TRACE.format(said=said)))
    assert (type(error).__name__, what in error.what, next in error.next) == (kind, True, True)


def test_the_database_that_a_pipeline_reads_itself_is_not_taken_for_the_catalog() -> None:
    error = as_failure(
        Exception(
            "An error occurred.\nCaused by: org.postgresql.util.PSQLException: FATAL: sorry, too"
            " many clients"
        )
    )
    assert type(error).__name__ == "RunFailed"
