"""Spark's errors in Lakebed's words."""

import pytest

from lakebed.engines.spark.failures import as_failure


@pytest.mark.parametrize(
    ("said", "next"),
    [
        ("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column cannot be resolved. SQLSTATE: 42703; line 2 pos 7;\n'Project", "describe"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORM'. SQLSTATE: 42601 (line 1, pos 9)", "lakebed compile"),
        ("[UNRESOLVED_ROUTINE] Cannot resolve routine `nope`. SQLSTATE: 42883; line 1 pos 7", "function of Spark SQL"),
        ("[TABLE_OR_VIEW_NOT_FOUND] The table or view `x` cannot be found. SQLSTATE: 42P01", "ref()"),
        ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", "try_divide"),
        ("[CAST_INVALID_INPUT] The value 'x' cannot be cast to INT. SQLSTATE: 22018", "try_cast"),
        ("Job aborted due to stage failure: java.lang.OutOfMemoryError: Java heap space", "spark.memory"),
        ("java.io.IOException: No space left on device", "Make room"),
        ("something nobody has thought of", ".data/logs/spark"),
    ],
)
def test_every_error_of_spark_has_a_next_step(said: str, next: str) -> None:
    error = as_failure(Exception(said))
    assert next in error.next
    assert error.next.endswith(".")


def test_the_line_is_found() -> None:
    assert getattr(as_failure(Exception("[X] no; line 2 pos 7;\n'Project")), "line") == 2  # noqa: B009
