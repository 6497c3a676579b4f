"""What databases and poolers say instead of answering, as Lakebed's errors.

psycopg gives no SQLSTATE of a connection that is refused, and Spark only the text of JDBC's error:
the words alone tell.
"""

import os
import re
import shutil
from pathlib import Path

from lakebed.errors import (
    CatalogFull,
    CatalogLoginRefused,
    CatalogReadOnly,
    CatalogUnreachable,
    LakebedError,
    LoginFault,
)

_FULL = re.compile("No space left on device|disk is full")
_READ_ONLY = re.compile("readonly database|read-only transaction")
_IS_OF_DISK = re.compile("disk I/O error|unable to open")
_ROOM = 1024 * 1024  # bytes that SQLite needs to open a file
# A connection that breaks during encryption ("SSL SYSCALL error", "unexpected eof") is none of them
_FAULTS: dict[LoginFault, str] = {
    "pooler": 'unsupported startup parameter|prepared statement "[^"]*" (?:does not|already) exist',
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
    if _READ_ONLY.search(said):
        return CatalogReadOnly(catalog, said)
    for fault, words in _FAULTS.items():
        if re.search(words, said):
            return CatalogLoginRefused(catalog, said, fault=fault)
    return CatalogUnreachable(catalog, said)


def as_sqlite_error(file: Path, said: str) -> LakebedError:
    """The same for SQLite, which calls much an I/O error, or a file that it cannot open: its disk
    and its folder tell what it is.
    """
    folder = file.parent
    if not folder.is_dir():
        return CatalogUnreachable(str(file), said)
    if _IS_OF_DISK.search(said) and shutil.disk_usage(folder).free < _ROOM:
        return CatalogFull(str(file), said)
    if _IS_OF_DISK.search(said) and not os.access(folder, os.W_OK):
        return CatalogReadOnly(str(file), f"{said} ({folder} is read-only)")
    return as_catalog_error(str(file), said)
