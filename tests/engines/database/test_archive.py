"""A restored database goes on counting events, so that no follower misses one."""

import zipfile
from pathlib import Path

import pytest

from lakebed.engines.database import Database, DatabaseEvents
from lakebed.engines.database.backup import counted, read_archive, write_archive
from lakebed.names import TableName
from lakebed.ports import Event

ORDERS = TableName("shop", "silver", "orders")


def opened(file: Path) -> Database:
    database = Database.sqlite(file)
    database.prepare()
    return database


def archived(database: Database, file: Path, *, without: str = "") -> Path:
    """A backup's rows, perhaps `without` a table that older ones do not have."""
    with zipfile.ZipFile(file.with_suffix(".all"), "w") as archive:
        write_archive(database, archive)
    with zipfile.ZipFile(file.with_suffix(".all")) as whole, zipfile.ZipFile(file, "w") as archive:
        for name in whole.namelist():
            if name != f"{without}.jsonl":
                archive.writestr(name, whole.read(name))
    return file


@pytest.mark.parametrize("without", ["", "lakebed_counters"])
@pytest.mark.parametrize("later", [0, 20])
def test_numbers_of_events_are_not_issued_again_after_a_restore(
    tmp_path: Path, without: str, later: int
) -> None:
    database = opened(tmp_path / "lake.db")
    events = DatabaseEvents(database)
    start = events.follow("mirror")
    events.append(*[Event("tagged", ORDERS, number) for number in range(10)])
    events.acknowledge("mirror", start + 10)
    backup = archived(database, tmp_path / "backup.zip", without=without)
    events.append(*[Event("untagged", ORDERS, number) for number in range(later)])
    seen_by_one_that_is_still_at_it = start + 10 + later
    with zipfile.ZipFile(backup) as archive:
        read_archive(database, archive, version=5 if without else 6)
    assert [one.acknowledged for one in events.followers()] == [start + 10]
    events.append(Event("altered", ORDERS))
    assert [one.event.kind for one in events.since(seen_by_one_that_is_still_at_it)] == ["altered"]
    database.close()


def test_an_empty_lake_counts_as_empty(tmp_path: Path) -> None:
    database = opened(tmp_path / "lake.db")
    assert counted(database) == {}
    database.close()
