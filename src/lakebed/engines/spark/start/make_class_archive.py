"""Making a class-data archive: a temporary lake does what pipelines do, and the JVM records the
classes it needed.

Run as `python -m lakebed.engines.spark.start.make_class_archive ORDER`, in the background, after
the first session has ended.
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.engines.spark.conf import session_conf
from lakebed.engines.spark.jars.pinned import SQLITE
from lakebed.engines.spark.start.class_archive import (
    ClassArchive,
    archive_for,
    finished_name,
    writing_options,
)
from lakebed.engines.spark.start.direct_launch import start_directly
from lakebed.engines.spark.start.java import Java, major_of
from lakebed.engines.spark.start.jvm import connect
from lakebed.engines.spark.start.launch import Launch
from lakebed.names import CATALOG
from lakebed.settings import Root, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNUSED_FOR = 30 * 24 * 3600.0  # seconds after which an unused archive is removed
ABANDONED_AFTER = 24 * 3600.0


def make_archive(
    java: Java, jars: tuple[Path, ...], *, environment: Mapping[str, str]
) -> Path | None:
    """Make the archive unless it exists or is being made; returns the finished file."""
    archive = archive_for(java, jars, environment=environment)
    archive.folder.mkdir(parents=True, exist_ok=True)
    with _alone(archive.lock) as alone:
        if not alone or archive.file:
            return archive.file
        _sweep(archive.folder)
        aside = archive.folder / f".{archive.key}.aside"
        try:
            if archive.base_key and not archive.base:
                _dump_base(java, archive)
            _rehearse(java, jars, archive=archive, aside=aside, environment=environment)
            return _put_in_place(aside, archive.folder, archive.key)
        finally:
            aside.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[bool]:
    """Whether this process got the lock; the system releases it when the process dies, so it is
    never stale.
    """
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.utime(lock)
        except OSError:
            yield False
        else:
            yield True


def _put_in_place(aside: Path, folder: Path, key: str) -> Path | None:
    """Rename a complete archive to its final name, once the JVM that wrote it has ended."""
    if not aside.is_file():
        return None
    with aside.open("rb") as written:
        os.fsync(written.fileno())
    place = folder / finished_name(key, aside.stat().st_size)
    return aside.replace(place)


def _dump_base(java: Java, archive: ClassArchive) -> None:
    """Make the archive of Java's own classes, which the Java from PyPI lacks."""
    aside = archive.folder / f".{archive.base_key}.aside"
    command = (
        str(java.executable),
        "-Xshare:dump",
        "-XX:+UseSerialGC",
        f"-XX:SharedArchiveFile={aside}",
    )
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _put_in_place(aside, archive.folder, archive.base_key)


def _rehearse(
    java: Java,
    jars: tuple[Path, ...],
    *,
    archive: ClassArchive,
    aside: Path,
    environment: Mapping[str, str],
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="lakebed-archive-"))
    try:
        (folder / ".data").mkdir()
        root, settings = Root.parse(folder), Settings()
        conf = session_conf(settings, root) | _catalog_without_server(jars, root)
        launch = Launch(java, jars, conf, quick=True, archive=writing_options(archive, aside))
        jvm = start_directly(launch, environment=environment, log=folder / "log")
        try:
            _work(connect(jvm, launch), folder)
        finally:
            jvm.stop(patience=300)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _catalog_without_server(jars: tuple[Path, ...], root: Root) -> dict[str, str]:
    """Settings of a catalog that is only a folder, if SQLite's driver is missing."""
    if any(jar.name == SQLITE.file for jar in jars):
        return {}
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {f"{prefix}.type": "hadoop", f"{prefix}.warehouse": root.url}


def _work(session: "SparkSession", folder: Path) -> None:
    """What a run does: read landed files, stage, branch, merge, check, publish, overwrite."""
    from pyspark.sql.functions import expr

    (folder / "in.csv").write_text("id,v,at\n1,a,2026-01-01\n2,b,2026-01-02\n")
    (folder / "in.json").write_text('{"id": 3, "v": "c", "at": "2026-01-03"}\n')
    for name in ("a", "a.b"):
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {CATALOG}.{name}")
    table = f"{CATALOG}.a.b.t"
    session.sql(
        f"CREATE TABLE {table} (id BIGINT, v STRING, at DATE) USING iceberg PARTITIONED BY"
        " (bucket(2, id))"
    )
    csv = session.read.csv(
        str(folder / "in.csv"), header=True, schema="id BIGINT, v STRING, at DATE"
    )
    json_rows = session.read.schema("id BIGINT, v STRING, at DATE").json(str(folder / "in.json"))
    csv.unionByName(json_rows).writeTo(f"{table}_staged").create()
    for run in ("run_1", "run_2"):
        session.sql(f"ALTER TABLE {table} CREATE BRANCH {run}")
        session.sql(
            f"MERGE INTO {table}.branch_{run} t USING (SELECT * FROM {table}_staged) s ON t.id ="
            " s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        session.sql(
            f"SELECT v, count(*), max(at) FROM {table}.branch_{run} GROUP BY v HAVING count(*) > 0"
            " ORDER BY v"
        ).toArrow()
        session.sql(f"CALL {CATALOG}.system.fast_forward('{table}', 'main', '{run}')").collect()
        session.sql(f"ALTER TABLE {table} DROP BRANCH {run}")
    session.table(table).join(session.table(f"{table}_staged"), "id", how="left").count()
    rows = session.sql("SELECT * FROM VALUES (1L, 'a', DATE '2026-01-01') AS t(id, v, at)")
    rows.writeTo(table).overwrite(expr("true"))
    session.sql(f"SELECT * FROM {table} WHERE id IS NULL").limit(1).collect()


def _sweep(folder: Path) -> None:
    """Remove archives unused for long, and leftovers of killed processes."""
    for pattern, limit in (("*.jsa", UNUSED_FOR), (".*.aside", ABANDONED_AFTER)):
        for file in folder.glob(pattern):
            if time.time() - file.stat().st_mtime > limit:
                file.unlink(missing_ok=True)


def main(order: str) -> None:
    """Carry out the order of `maker_command`."""
    os.nice(15)
    told = json.loads(order)
    java = Java(Path(told["home"]), told["version"], major_of(told["version"]), told["origin"])
    make_archive(java, tuple(Path(jar) for jar in told["jars"]), environment=os.environ)


if __name__ == "__main__":
    main(sys.argv[1])
