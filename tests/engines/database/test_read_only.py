"""A database that cannot be written, and one on a full disk: told as what they are."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import text

from lakebed.engines.catalog_answers import as_sqlite_error
from lakebed.engines.database import Database
from lakebed.errors import CatalogFull, CatalogReadOnly, CatalogUnreachable

NOBODY = 65534


@pytest.fixture
def file() -> Iterator[Path]:
    """A database file in a folder that every user may enter, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="lakebed-"))
    file = folder / "lake.db"
    made = Database.sqlite(file)
    made.prepare()
    made.close()
    yield file
    folder.chmod(0o700)
    shutil.rmtree(folder)


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user whom modes of files stop."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_not_a_catalog_that_does_not_respond(file: Path) -> None:
    file.parent.chmod(0o555)
    database = Database.sqlite(file)
    with without_rights(), pytest.raises(CatalogReadOnly) as refused:
        database.version()
    database.close()
    assert refused.value.where == str(file)
    assert not refused.value.retryable


def test_neither_is_a_read_only_file(file: Path) -> None:
    url = sqlalchemy.URL.create(
        "sqlite", database=f"file:{file}", query={"mode": "ro", "uri": "true"}
    )
    database = Database(url, where=str(file))
    with pytest.raises(CatalogReadOnly, match="readonly"), database.writing() as connection:
        connection.execute(text("create table t (x text)"))
    database.close()


def test_a_disk_without_room_is_full_whatever_sqlite_calls_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "disk I/O error"
    assert type(as_sqlite_error(file, said)) is CatalogUnreachable
    used = shutil.disk_usage(file.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: used._replace(free=0))
    assert type(as_sqlite_error(file, said)) is CatalogFull
