"""Backup, restore, relocate and rebuilding at the keyboard."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.benches import sqlite_bench
from tests.support.lakes.shop import lakebed


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake with one table."""
    folder = tmp_path / "lake"
    monkeypatch.setenv("LAKEBED_LAKE", str(folder))
    assert lakebed("init", str(folder)).exit_code == 0
    bench = sqlite_bench(folder)
    bench.write(bench.table("orders"), range(3))
    bench.close()
    return folder


def told(*arguments: str) -> Any:
    done = lakebed(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def tables() -> list[str]:
    return [row["table"] for row in told("ls")]


def test_a_backup_says_what_is_not_in_it_and_a_restore_what_it_did(
    lake: Path, tmp_path: Path
) -> None:
    made = lakebed("backup", str(tmp_path / "b.zip"))
    assert made.exit_code == 0
    assert "not in it: the files of tables" in made.stdout
    refused = lakebed("restore", str(tmp_path / "b.zip"))
    assert refused.exit_code == 2
    assert "--force" in refused.output
    for file in (lake / ".data").glob("lake.db*"):
        file.unlink()
    lost = lakebed("fsck")
    assert (lost.exit_code, "lakebed restore BACKUP" in lost.output) == (2, True)
    assert not list((lake / ".data").glob("lake.db*")), "a check makes no database"
    restored = lakebed("restore", str(tmp_path / "b.zip"))
    assert "restored 1 tables" in restored.stdout
    assert lakebed("fsck").exit_code == 0
    assert tables() == ["shop.silver.orders"]


def test_a_backup_goes_into_a_folder_under_a_name_of_its_own(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    made = told("backup", str(tmp_path / "backups"))
    assert Path(made["path"]).parent == tmp_path / "backups"
    assert made["tables"] == 1
    assert len(made["without"]) == 3
    assert lakebed("backup", made["path"]).exit_code == 2
    assert lakebed("restore", str(tmp_path / "absent.zip"), "--force").exit_code == 2
    assert tables() == ["shop.silver.orders"]


def test_a_moved_lake_is_relocated(lake: Path, tmp_path: Path) -> None:
    assert "nothing to do" in lakebed("relocate").stdout
    moved = tmp_path / "moved"
    shutil.move(lake, moved)
    doctor = lakebed("doctor", "--lake", str(moved))
    assert doctor.exit_code == 1
    assert "lakebed relocate" in doctor.output
    assert "would be rewritten" in lakebed("relocate", "--dry-run", "--lake", str(moved)).stdout
    assert lakebed("relocate", "--from", "/nowhere", "--lake", str(moved)).exit_code == 2
    done = told("relocate", "--lake", str(moved))
    assert (done["origin"], done["root"], done["tables"][0]["files"]) == (str(lake), str(moved), 3)
    assert lakebed("fsck", "--all", "--lake", str(moved)).exit_code == 0


def test_a_moved_lake_without_a_catalog_is_brought_back_by_what_the_commands_advise(
    lake: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.move(lake, moved)
    for file in (moved / ".data").glob("lake.db*"):
        file.unlink()
    assert "--rebuild-catalog" in lakebed("fsck", "--lake", str(moved)).output
    rebuilt = lakebed("fsck", "--rebuild-catalog", "--lake", str(moved))
    assert (rebuilt.exit_code, "0 tables registered" in rebuilt.stdout) == (1, True)
    assert f"next: lakebed relocate --from {lake}" in rebuilt.stdout
    assert lakebed("relocate", "--from", str(lake), "--lake", str(moved)).exit_code == 0
    assert lakebed("fsck", "--all", "--lake", str(moved)).exit_code == 0
    assert [row["table"] for row in told("ls", "--lake", str(moved))] == ["shop.silver.orders"]


def test_a_backup_restored_elsewhere_is_completed_by_what_the_command_advises(
    lake: Path, tmp_path: Path
) -> None:
    assert lakebed("backup", str(tmp_path / "b.zip")).exit_code == 0
    bench = sqlite_bench(lake)
    bench.write(bench.table("later"), range(3))
    bench.close()
    moved = tmp_path / "moved"
    shutil.move(lake, moved)
    restore = ("restore", str(tmp_path / "b.zip"), "--force", "--lake", str(moved))
    plain = lakebed(*restore)
    assert f"next: lakebed relocate --from {lake}" in plain.stdout
    relocated = lakebed("relocate", "--from", str(lake), "--lake", str(moved))
    assert "next: lakebed fsck --rebuild-catalog" in relocated.stdout
    assert lakebed("fsck", "--rebuild-catalog", "--lake", str(moved)).exit_code == 0
    assert lakebed("fsck", "--all", "--lake", str(moved)).exit_code == 0
    newest = lakebed(*restore, "--newest")
    assert "its tables point to their files here now" in newest.stdout
    assert lakebed("fsck", "--rebuild-catalog", "--lake", str(moved)).exit_code == 0
    assert lakebed("fsck", "--all", "--lake", str(moved)).exit_code == 0


def test_a_lost_catalog_is_rebuilt(lake: Path) -> None:
    for file in (lake / ".data").glob("lake.db*"):
        file.unlink()
    refused = lakebed("ls")
    assert (refused.exit_code, "it is empty, and the lake is not" in refused.output) == (2, True)
    rebuilt = lakebed("fsck", "--rebuild-catalog")
    assert "registered shop.silver.orders" in rebuilt.stdout
    assert "1 tables registered; 0 landing files are in the ledger again" in rebuilt.stdout
    assert tables() == ["shop.silver.orders"]
    assert lakebed("fsck", "--rebuild-catalog", "--repair").exit_code == 2


def test_upgrade_says_whether_it_is_due_before_it_changes_the_database(lake: Path) -> None:
    with closing(sqlite3.connect(lake / ".data" / "lake.db")) as database, database:
        database.execute("DROP TABLE lakebed_appending_zones")
        database.execute("UPDATE lakebed_schema SET version = 10")
    for _ in range(2):
        due = lakebed("upgrade", "--check")
        assert (due.exit_code, "is of version 10" in due.output) == (1, True), due.output
    done = told("upgrade")
    assert (done["before"], done["done"]) == (10, True)
    for command in (("upgrade", "--check"), ("upgrade",)):
        assert "nothing to do" in lakebed(*command).output
