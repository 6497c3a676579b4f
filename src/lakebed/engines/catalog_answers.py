"""What PostgreSQL and poolers say instead of answering, as Lakebed's errors.

psycopg gives no SQLSTATE of a connection that is refused, and Spark only the text of JDBC's error:
the words alone tell.
"""

import re

from lakebed.errors import (
    CatalogFull,
    CatalogLoginRefused,
    CatalogUnreachable,
    LakebedError,
    LoginFault,
)

_FULL = re.compile("No space left on device|disk is full")
# A connection that breaks during encryption ("SSL SYSCALL error", "unexpected eof") is none of them
_FAULTS: dict[LoginFault, str] = {
    "database": (
        r'database "[^"]*" does not exist|[Nn]o such database|permission denied for database'
        "|not currently accepting connections"
    ),
    "encryption": (
        "certificate|does not support SSL|SSL (?:connection )?(?:is )?required|PKIX path"
        "|could not be verified|SSL error: .*(?:alert|version|protocol)|ssl_min_protocol_version"
    ),
    "host": r"pg_hba\.conf|login rejected",
    "login": (
        'authentication failed|no password|[Nn]o such user|role "[^"]*" does not exist'
        "|not permitted to log in|auth failed|wrong password|SASL"
    ),
}


def as_catalog_error(catalog: str, said: str) -> LakebedError:
    """The error that a message of the catalog's database stands for.

    A refused login stays refused however often it is tried; everything else may pass.
    """
    if _FULL.search(said):
        return CatalogFull(catalog, said)
    for fault, words in _FAULTS.items():
        if re.search(words, said):
            return CatalogLoginRefused(catalog, said, fault=fault)
    return CatalogUnreachable(catalog, said)
