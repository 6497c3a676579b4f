"""What PostgreSQL, its drivers and PgBouncer say, and which error it is."""

import pytest

from lakebed.engines.catalog_answers import as_catalog_error

_AT = 'connection failed: connection to server at "10.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "next"),
    [
        (_AT + "FATAL:  unsupported startup parameter: options", "catalog.pooler"),
        ('prepared statement "_pg3_0" does not exist', "catalog.pooler"),
        ('ERROR: prepared statement "S_1" already exists', "catalog.pooler"),
        (_AT + 'FATAL:  password authentication failed for user "me"', "CATALOG_PASSWORD"),
        (_AT + "fe_sendauth: no password supplied", "CATALOG_PASSWORD"),
        (_AT + 'FATAL:  role "me" does not exist', "CATALOG_USER"),
        (_AT + 'FATAL:  role "me" is not permitted to log in', "CATALOG_USER"),
        (_AT + "FATAL:  SASL authentication failed", "CATALOG_PASSWORD"),
        ('FATAL: password authentication failed for user "me"', "CATALOG_PASSWORD"),
        (
            "The server requested SCRAM-based authentication, but no password was provided.",
            "CATALOG_PASSWORD",
        ),
        (_AT + 'FATAL:  database "lake" does not exist', "CATALOG_URL"),
        (_AT + "FATAL:  no such database: lake", "CATALOG_URL"),
        (_AT + 'FATAL:  permission denied for database "lake"', "GRANT CONNECT"),
        (
            _AT + 'FATAL:  no pg_hba.conf entry for host "10.0.0.2", user "me", database "lake"',
            "pg_hba.conf",
        ),
        (_AT + "server does not support SSL, but SSL was required", "sslmode"),
        (_AT + "SSL error: certificate verify failed", "sslrootcert"),
        (_AT + 'root certificate file "/root.crt" does not exist', "sslrootcert"),
        (_AT + "SSL error: tlsv1 alert unknown ca", "sslcert"),
        ("SSL error: PKIX path building failed: unable to find valid path", "sslrootcert"),
        ("The hostname 10.0.0.1 could not be verified by hostnameverifier", "sslmode"),
    ],
)
def test_a_login_that_is_refused_is_told_as_what_it_is_and_not_retried(
    said: str, next: str
) -> None:
    error = as_catalog_error("postgresql://db/lake", said)
    assert (type(error).__name__, error.retryable) == ("CatalogLoginRefused", False)
    assert (said in error.what, next in error.next, "doctor" in error.next) == (True, True, True)


@pytest.mark.parametrize(
    "said",
    [
        _AT + "Connection refused",
        _AT + "FATAL:  the database system is starting up",
        _AT + "FATAL:  sorry, too many clients already",
        "SSL connection has been closed unexpectedly",
        "SSL SYSCALL error: EOF detected",
        "SSL error: unexpected eof while reading",
        "terminating connection due to administrator command",
        "FATAL:  server login has been failing, try again later (server_login_retry)",
        "FATAL:  query_wait_timeout",
        "no answer within 30 s",
    ],
)
def test_what_may_pass_is_a_catalog_that_does_not_respond_and_is_retried(said: str) -> None:
    error = as_catalog_error("postgresql://db/lake", said)
    assert (type(error).__name__, error.retryable) == ("CatalogUnreachable", True)
