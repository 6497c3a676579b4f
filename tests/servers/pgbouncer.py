"""PgBouncer from the system's packages, before a PostgreSQL: each transaction may have another
connection.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK, ServerMissing, answers, free_ports, running

INSTALL = (
    "bash scripts/system-packages.sh (or: apt-get install -y --no-install-recommends pgbouncer)"
)
_PROGRAM = "/usr/sbin/pgbouncer"  # where Debian puts it, which is on nobody's path but root's
_CONNECTIONS = 2  # to the server: clients share them


@contextmanager
def pgbouncer(database: Database) -> Iterator[Database]:
    """The same database, reached through a pooler, as long as the block lasts."""
    program = shutil.which("pgbouncer") or _PROGRAM
    if not Path(program).exists():
        raise ServerMissing(f"tests need PgBouncer. Install it with: {INSTALL}")
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    (port,) = free_ports(1)
    folder = Path(tempfile.mkdtemp(prefix="lakebed-pgbouncer-"))
    try:
        settings = _write_settings(folder, database, port)
        if user:
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, user, user)
        with running(
            [program, str(settings)],
            log=folder / "log",
            ready=lambda: answers(port),
            user=user,
        ):
            yield replace(database, port=port)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_settings(folder: Path, database: Database, port: int) -> Path:
    (folder / "users").write_text(f'"{database.user}" "{database.password}"\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"""[databases]
* = host={database.host} port={database.port}
[pgbouncer]
listen_addr = {LOOPBACK}
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder / "users"}
pool_mode = transaction
default_pool_size = {_CONNECTIONS}
max_client_conn = 100
"""
    )
    return settings
