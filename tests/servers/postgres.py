"""PostgreSQL from the system's packages, in a cluster of its own."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
from psycopg import sql
from pydantic import SecretStr

from lakebed.settings import PostgresCatalog
from tests.servers.processes import LOOPBACK, ServerMissing, as_user, free_ports, running

INSTALL = (
    "bash scripts/system-packages.sh (or: apt-get install -y --no-install-recommends postgresql)"
)
USER, DATABASE = "lakebed", "postgres"
_WHERE_DEBIAN_PUTS_IT = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Database:
    """One database of a running server; `pid` is the server's, so that a test can kill it."""

    host: str
    port: int
    user: str
    password: str
    database: str
    pid: int

    @property
    def url(self) -> str:
        """Address without user and password, as settings want it."""
        return f"postgresql://{self.host}:{self.port}/{self.database}"

    @property
    def catalog(self) -> PostgresCatalog:
        """How Lakebed is told to reach it."""
        return PostgresCatalog(
            kind="postgres", url=self.url, user=self.user, password=SecretStr(self.password)
        )

    def connect(self, *, timeout: int = 10) -> "psycopg.Connection[tuple[object, ...]]":
        """A connection that commits each statement."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=self.database,
            autocommit=True,
            connect_timeout=timeout,
        )


@dataclass(frozen=True)
class PostgresServer(Database):
    """A running server, seen through its maintenance database."""

    def fresh_database(self) -> Database:
        """A new, empty database."""
        name = f"lake_{uuid4().hex[:12]}"
        with self.connect() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return Database(self.host, self.port, self.user, self.password, name, self.pid)

    def drop(self, database: Database) -> None:
        """Remove a database, whoever is still connected to it."""
        with self.connect() as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                    sql.Identifier(database.database)
                )
            )


@contextmanager
def postgres() -> Iterator[PostgresServer]:
    """A server on a free port in a temporary folder, as long as the block lasts."""
    with postgres_folder() as folder, postgres_in(folder) as server:
        yield server


@contextmanager
def postgres_folder() -> Iterator[Path]:
    """A folder for a cluster. Not pytest's: the user postgres may not enter that."""
    folder = Path(tempfile.mkdtemp(prefix="lakebed-pg-"))
    try:
        if user := _server_user():
            shutil.chown(folder, user, user)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_in(
    folder: Path, *, port: int | None = None, encrypted: bool = False
) -> Iterator[PostgresServer]:
    """A server over the cluster in `folder`, made if absent: enter it again to bring a killed
    server back. One that is `encrypted` has the certificate `server.crt` in the folder.
    """
    programs = postgres_programs()
    password_file = folder / "password"
    if not (folder / "data").exists():
        _make_cluster(programs, folder, password_file)
    password = password_file.read_text()
    at = port or free_ports(1)[0]
    if encrypted:
        _sign_certificate(folder)
    server = PostgresServer(LOOPBACK, at, USER, password, DATABASE, pid=0)
    # SIGTERM would wait for clients to leave; SIGINT sends them away.
    with running(
        [str(programs / "postgres"), *_options(folder, at, encrypted=encrypted)],
        log=folder / "log",
        ready=lambda: _accepts(server),
        user=_server_user(),
        stop_signal=signal.SIGINT,
    ) as pid:
        yield PostgresServer(LOOPBACK, at, USER, password, DATABASE, pid)


def postgres_programs() -> Path:
    """The folder with `initdb` and `postgres`; the newest if there are several."""
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    if pg_config := shutil.which("pg_config"):
        bindir = subprocess.run(
            [pg_config, "--bindir"], capture_output=True, text=True, check=True
        ).stdout
        candidates.append(Path(bindir.strip()))
    candidates += sorted(_WHERE_DEBIAN_PUTS_IT.glob("*/bin"), key=_version, reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServerMissing(f"tests need the PostgreSQL server. Install it with: {INSTALL}")


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", folder.parent.name)))


def _server_user() -> str | None:
    """PostgreSQL refuses to run as root."""
    return "postgres" if os.geteuid() == 0 else None


def _make_cluster(programs: Path, folder: Path, password_file: Path) -> None:
    password_file.write_text(secrets.token_hex(16))
    if user := _server_user():
        shutil.chown(password_file, user, user)
    subprocess.run(
        [
            *as_user(_server_user()),
            *(
                str(programs / "initdb"),
                "-D",
                str(folder / "data"),
                "-U",
                USER,
                f"--pwfile={password_file}",
            ),
            *(
                "-A",
                "scram-sha-256",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "--data-checksums",
                "--no-sync",
            ),
        ],
        check=True,
        capture_output=True,
        cwd="/",  # the user postgres may not be allowed into ours
    )


def _sign_certificate(folder: Path) -> None:
    """A certificate for loopback that is its own authority."""
    key = folder / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", f"/CN={LOOPBACK}", "-addext", f"subjectAltName=IP:{LOOPBACK}"),
            *("-keyout", str(key), "-out", str(folder / "server.crt")),
        ],
        check=True,
        capture_output=True,
    )
    key.chmod(0o600)
    if user := _server_user():
        shutil.chown(key, user, user)


def _options(folder: Path, port: int, *, encrypted: bool) -> list[str]:
    settings = {
        "listen_addresses": LOOPBACK,
        "unix_socket_directories": "",
        "fsync": "off",  # a killed process loses nothing by it; only a power cut would
        "shared_buffers": "32MB",
        "max_connections": "100",
    }
    if encrypted:
        settings |= {
            "ssl": "on",
            "ssl_cert_file": str(folder / "server.crt"),
            "ssl_key_file": str(folder / "server.key"),
        }
    return [
        "-D",
        str(folder / "data"),
        "-p",
        str(port),
        *(part for item in settings.items() for part in ("-c", "=".join(item))),
    ]


def _accepts(server: PostgresServer) -> bool:
    try:
        server.connect(timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
