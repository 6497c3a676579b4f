"""Makes `lake.tar.gz`: a lake as Lakebed wrote it at commit e706102, in the middle of several
things.

Run once, at that commit, as `python -m tests.former.make`; kept to say how the fixture came to be.
What it calls by name is of that commit, and is text here, so that later renames leave it alone.
"""

import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

HERE = Path(__file__).parent
# so much older than the day it was made: a machine whose clock is behind must be able to write to
# its tables
DAYS = 730
# whole seconds: an archive keeps no finer ones, and an older Lakebed knew files by size and time
LANDED = 1_700_000_000

PIPELINES = {
    "bronze/orders/pipeline.sql": (
        "-- @merge_strategy: append_only\n"
        "SELECT id, country, amount FROM {{ landing_zone('orders') }}\n"
    ),
    "bronze/rates/pipeline.sql": (
        "-- @archive_landing_zones: true\nSELECT country, rate FROM {{ landing_zone('rates') }}\n"
    ),
    "silver/orders/pipeline.sql": (
        "-- @merge_strategy: incremental\n-- @unique_key: id\nSELECT o.id, o.amount * r.rate AS"
        " eur\nFROM {{ ref('bronze.orders') }} o JOIN {{ ref('bronze.rates') }} r USING (country)\n"
    ),
    "silver/orders/tests/quality/positive.sql": "SELECT id, eur FROM {{ this }} WHERE eur < 0\n",
    "silver/seen/pipeline.sql": "SELECT id FROM {{ ref('bronze.orders') }}\n",
    "silver/seen/config.yaml": "materialized: view\n",
    "gold/total/pipeline.sql": "SELECT sum(eur) AS total FROM {{ ref('silver.orders') }}\n",
}
FIRST = {
    "orders/day1.csv": "id,country,amount\n1,DE,10.0\n2,US,3.0\n",
    "orders/torn.json": '{"id": 4, "country": "DE", "amo',
    "rates/rates.csv": "country,rate\nDE,1.0\nUS,0.5\n",
}
SECOND = {
    "orders/day2.csv": "id,country,amount\n3,US,1.0\n",
    "rates/rates2.csv": "country,rate\nDE,1.0\nUS,2.0\n",
}
SETTINGS = """\
catalog:
  kind: sqlite
care:  # nothing is due by age, on whatever day this is read
  snapshot_max_age_days: 36500
  dropped_max_age_days: 36500
  runs_max_age_days: 36500
  events_max_age_days: 36500
releases:
  drafts_max_age_days: 36500
"""

KILLED_RUN = """
import os, signal, sys
from lakebed.app import open_lake
from lakebed.app.pipelines import Request

def die(run_id, reached, moment):
    if type(reached).__name__ == "Publish" and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)

with open_lake(sys.argv[1]) as lake:
    lake.pipelines.run(Request(("gold.total",)), watch=die)
"""
KILLED_CARE = """
import os, signal, sys
from datetime import UTC, datetime, timedelta
from lakebed.app import open_lake
from lakebed.care import expiry

def die(*given, **options):
    os.kill(os.getpid(), signal.SIGKILL)

expiry.delete_files = die
with open_lake(sys.argv[1]) as lake:
    lake.care("bronze.rates", only=["expire_snapshots"], now=datetime.now(UTC) + timedelta(days=40_000))
"""
TO_VERSION_3 = (
    "DROP TABLE lakebed_zone_types",
    "DROP INDEX lakebed_ledger_path",
    "ALTER TABLE lakebed_ledger DROP COLUMN digest",
    "ALTER TABLE lakebed_ledger DROP COLUMN archived",
    "ALTER TABLE lakebed_ledger DROP COLUMN archived_etag",
    "ALTER TABLE lakebed_ledger DROP COLUMN published",
    "UPDATE lakebed_schema SET version = 3",
)
TIMES = {
    "lakebed_leases": "heartbeat",
    "lakebed_publications": "at",
    "lakebed_runs": "started",
    "lakebed_events": "at",
    "lakebed_dropped": "at",
    "lakebed_releases": "at",
    "lakebed_drafts": "at",
    "lakebed_care": "at",
}


def main() -> None:
    lake = Path(mkdtemp(prefix="former-")) / "lake"
    lakebed("init", lake)
    (lake / "lakebed.yaml").write_text(SETTINGS)
    for path, text in PIPELINES.items():
        write(lake / "shop" / "pipelines" / path, text)
    build(lake)
    killed(KILLED_RUN, lake)
    killed(KILLED_CARE, lake)
    age(lake)
    older_schema(lake)
    pack(lake)
    shutil.rmtree(lake.parent)


def build(lake: Path) -> None:
    """Two builds, a release, a saved draft, tags, a rollback that holds files back, a dropped
    table.
    """
    land(lake, FIRST)
    lakebed("run", "--lake", lake)
    lakebed("table", "tag", "silver.orders", "v1", "--lake", lake)
    lakebed("table", "tag", "bronze.orders", "first", "--lake", lake)
    lakebed("pipeline", "release", "silver.orders", "--message", "first words", "--lake", lake)
    land(lake, SECOND)
    lakebed("run", "--lake", lake)
    draft = lake / "shop" / "pipelines" / "gold" / "total" / "pipeline.sql"
    draft.write_text("-- the total of all orders\n" + draft.read_text())
    lakebed("pipeline", "save", "gold.total", "--lake", lake)
    lakebed("table", "rollback", "bronze.orders", "--to", "first", "--hold", "--lake", lake)
    lakebed("table", "rollback", "silver.orders", "--to", "v1", "--lake", lake)
    gone = lake.parent / "gone.csv"
    gone.write_text("id,word\n1,here\n2,and\n3,gone\n")
    lakebed("table", "write", "shop.silver.gone", gone, "--lake", lake)
    lakebed("table", "drop", "silver.gone", "--lake", lake)


def lakebed(*arguments: object, exit_code: int = 0) -> None:
    program = Path(sys.executable).with_name("lakebed")
    done = subprocess.run([program, *map(str, arguments)], check=False)
    assert done.returncode == exit_code, done


def killed(script: str, lake: Path) -> None:
    done = subprocess.run([sys.executable, "-c", script, str(lake)], check=False)
    assert done.returncode == -signal.SIGKILL, done


def land(lake: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = lake / "shop" / "landing" / path
        write(file, text)
        os.utime(file, (LANDED, LANDED))


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def age(lake: Path) -> None:
    """Every time in the lake goes back, and nobody's name or machine is in it."""
    for file in lake.glob("shop/**/*.metadata.json"):
        packed = ".gz." in file.name  # those of views are
        text = (gzip.decompress(file.read_bytes()) if packed else file.read_bytes()).decode()
        earlier = re.sub(r'("(?:timestamp|last-updated)-ms"\s*:\s*)(\d+)', _earlier, text).encode()
        json.loads(earlier)
        file.write_bytes(gzip.compress(earlier) if packed else earlier)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)  # the checksum of what it was
    with closing(sqlite3.connect(lake / ".data" / "lake.db")) as database:
        for table, column in TIMES.items():
            database.execute(f'UPDATE {table} SET "{column}" = "{column}" - {DAYS * 86400}')
        for year in (2026, 2027):
            database.execute(
                f"UPDATE lakebed_runs SET document = replace(document, '\"{year}-',"
                f" '\"{year - DAYS // 365}-')"
            )
        database.execute("UPDATE lakebed_leases SET holder = 'somebody' WHERE holder IS NOT NULL")
        database.execute("UPDATE lakebed_releases SET who = 'somebody'")
        database.commit()


def _earlier(found: re.Match[str]) -> str:
    return f"{found[1]}{int(found[2]) - DAYS * 86_400_000}"


def older_schema(lake: Path) -> None:
    """As Lakebed's third schema had it; what later ones added is forgotten, as if it had never been
    known.
    """
    with closing(sqlite3.connect(lake / ".data" / "lake.db", isolation_level=None)) as database:
        for statement in TO_VERSION_3:
            database.execute(statement)
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")


def pack(lake: Path, name: str = "lake.tar.gz") -> None:
    shutil.rmtree(lake / ".data" / "logs", ignore_errors=True)
    with tarfile.open(HERE / name, "w:gz", compresslevel=9) as archive:
        archive.add(lake, "lake", filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    if "/landing/" not in member.name:
        member.mtime = LANDED
    return member


if __name__ == "__main__":
    main()
