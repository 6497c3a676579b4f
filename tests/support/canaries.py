"""Where a secret could come to light: whatever a lake, its Spark and its machine keep or show,
searched for canaries.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from psycopg import sql

from lakebed.engines.files import open_files
from tests.servers.postgres import Database
from tests.servers.s3 import Bucket

Found = Iterator[tuple[str, bytes]]  # where something was looked at, and what stands there


def sightings(canaries: Iterable[str], *looked_at: Found) -> list[str]:
    """Every place in which a canary stands."""
    wanted = [canary.encode() for canary in canaries]
    assert all(len(canary) > 8 for canary in wanted), "such a word may stand anywhere by chance"
    return [
        where
        for found in looked_at
        for where, content in found
        if any(canary in content for canary in wanted)
    ]


def files(*places: Path) -> Found:
    """Files below folders, and what is inside backups; the event logs of Spark must not be
    compressed.
    """
    for file in (
        file
        for place in places
        for file in ([place] if place.is_file() else sorted(place.rglob("*")))
    ):
        with suppress(FileNotFoundError, IsADirectoryError):
            if file.suffix == ".jar":  # executors keep copies, 120 MB each time
                continue
            yield str(file), file.read_bytes()
            if file.suffix == ".zip":
                with zipfile.ZipFile(file) as archive:
                    yield from (
                        (f"{file}!{name}", archive.read(name)) for name in archive.namelist()
                    )


def pages(address: str) -> Found:
    """Spark's web pages and its answers for programs."""
    (application,) = json.loads(_page(f"{address}/api/v1/applications"))
    answers = f"/api/v1/applications/{application['id']}"
    shown = (
        "/environment/",
        "/jobs/",
        "/stages/",
        "/executors/",
        "/SQL/",
        f"{answers}/environment",
        f"{answers}/sql?details=true",
    )
    for path in (*shown, f"{answers}/jobs", f"{answers}/stages?details=true"):
        yield path, _page(address + path)
    for execution in json.loads(_page(f"{address}{answers}/sql"))[-10:]:
        path = f"/SQL/execution/?id={execution['id']}"
        yield path, _page(address + path)


def _page(address: str) -> bytes:
    with urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
        return content


def command_lines() -> Found:
    """Of every process on the machine, whose-ever it is."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield str(file), file.read_bytes()


def surroundings(pids: Iterable[int]) -> Found:
    """The environment variables of processes."""
    for pid in pids:
        with suppress(OSError):
            yield f"/proc/{pid}/environ", Path(f"/proc/{pid}/environ").read_bytes()


def rows(database: Database) -> Found:
    """Every row of every table of ours, as text."""
    with database.connect() as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        assert tables
        for (table,) in tables:
            query = sql.SQL("SELECT t::text FROM {} AS t").format(sql.Identifier(str(table)))
            yield from (
                (f"table {table}", str(row).encode(errors="replace"))
                for row in connection.execute(query)
            )


def objects(bucket: Bucket) -> Found:
    """Every object of a lake in a bucket."""
    store = open_files(bucket.root, bucket.settings)
    return ((info.path, store.read(info.path)) for info in store.list())


def logged(folder: Path) -> dict[str, str]:
    """Settings with which Spark writes a readable event log into a folder."""
    folder.mkdir()
    log = {
        "enabled": "true",
        "dir": folder.as_uri(),
        "compress": "false",
        "rolling.enabled": "false",
    }
    return {f"spark.eventLog.{key}": value for key, value in log.items()}


def children(pid: int) -> list[int]:
    """The processes that a process has started, from whichever thread, and theirs."""
    found: list[int] = []
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, file.read_text().split())
    return [*found, *(below for child in found for below in children(child))]
