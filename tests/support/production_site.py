"""The servers of somebody who reads docs/production.md, and the shell that is typed into."""

import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import boto3
import psycopg
from psycopg import sql

from tests.servers.postgres import Database, PostgresServer
from tests.servers.s3 import Bucket
from tests.servers.seaweedfs import SeaweedServer

PAGE = (Path(__file__).parents[2] / "docs" / "production.md").read_text()
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_NAMES = ("lake_prod", "lake_state", "lake_writer", "lake_reader")
_OF_SUPERUSERS = ("ROLE", "DATABASE")


@dataclass
class Site:
    """The servers of a reader of the page, under names of their own, and the shell that is typed
    into.
    """

    server: PostgresServer
    bucket: Bucket
    catalog: SeaweedServer
    master: str
    folder: Path
    own: str = field(default_factory=lambda: secrets.token_hex(4))
    variables: dict[str, str] = field(default_factory=dict)
    moment: str = ""  # shortly after the last backup

    @property
    def password(self) -> str:
        return f"word-{self.own}"

    @property
    def programs(self) -> Path:
        return Path(sys.executable).parent

    def here(self, text: str) -> str:
        """A line of the page with this site's names and addresses."""
        for name in _NAMES:
            text = re.sub(rf"{name}(?=\b|_upgraded)", f"{name}_{self.own}", text)
        store = self.bucket.server
        backups = sorted((self.folder / "backups").glob("*.zip"))
        places = {
            "db.example.org:5432": f"{self.server.host}:{self.server.port}",
            "https://s3.example.org": store.endpoint,
            "s3://lake/": f"s3://{store.bucket}/",
            "lake:lake/": f"lake:{store.bucket}/",
            'lake,version_at="2026-11-19 03:00:00":lake/': (
                f'lake,version_at="{self.moment}":{store.bucket}/'
            ),
            "https://catalog.example.org": self.catalog.rest_uri,
            "s3://warehouse": self.catalog.rest_warehouse,
            "spark://10.0.0.5:7077": self.master,
            "/opt/lakebed/bin": str(self.programs),
            "/etc/lakebed": str(self.folder),
            "/var/backups/lakebed/lakebed-backup-20261119T030000Z.zip": str(*backups[-1:]),
            "/var/backups/lakebed": str(self.folder / "backups"),
        }
        for place, real in places.items():
            text = text.replace(place, real)
        return text

    def secret(self, name: str) -> str:
        server = self.bucket.server
        words = {
            "ACCESS_KEY_ID": server.access_key_id,
            "SECRET_ACCESS_KEY": server.secret_access_key,
            "CREDENTIAL": self.catalog.rest_credential,
        }
        fitting = [word for end, word in words.items() if name.upper().endswith(end)]
        return fitting[-1] if fitting else self.password

    def connect(
        self, user: str, password: str, database: str
    ) -> "psycopg.Connection[tuple[object, ...]]":
        at = Database(
            self.server.host,
            self.server.port,
            self.here(user),
            password,
            self.here(database),
            self.server.pid,
        )
        return at.connect()

    def execute(self, statements: str) -> None:
        """As the page says: what concerns roles and databases as a superuser, the rest as the owner
        in the database.
        """
        makes = any(word in statements for word in _OF_SUPERUSERS)
        who = (
            (self.server.user, self.server.password, self.server.database)
            if makes
            else ("lake_writer", self.password, "lake_prod")
        )
        with self.connect(*who) as connection:
            for statement in filter(
                str.strip, self.here(statements).replace("…", self.password).split(";")
            ):
                connection.execute(sql.SQL(statement))

    def set(self, lines: str) -> None:
        """The lines of the file of variables, or of rclone's settings."""
        for line in lines.splitlines():
            name, given, value = self.here(line).partition("=")
            if given:
                name, value = name.strip(), value.strip()
                self.variables[name] = self.secret(name) if value == "…" else value

    def type(self, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        logs = {"LAKEBED_PLACES_LOGS": str(self.folder / "logs"), "COLUMNS": "200"}
        environment = {**os.environ, "PATH": path, **logs, **self.variables, **more}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def run(self, line: str) -> None:
        """A line that has to succeed."""
        done = self.type(*shlex.split(self.here(line)))
        assert done.returncode == 0, (line, done.stdout, done.stderr)

    def follow(self) -> None:
        """Do all that the page says, in its order."""
        (self.folder / "backups").mkdir()
        for language, indented in _BLOCK.findall(PAGE):
            content = dedent(indented)
            if language == "sql":
                self.execute(content)
            if language == "sh":
                self.set(content)
            if language == "ini":
                self.install(content)
            for line in content.splitlines() if language == "console" else ():
                self.run(line.removeprefix("$ "))

    def grant(self) -> None:
        """Repeat the statements for the role that only reads, as the page says at its end."""
        self.execute(next(content for _, content in _BLOCK.findall(PAGE) if "GRANT S" in content))

    def install(self, content: str) -> None:
        """A unit of systemd, which is checked, and run if it is not that of a server; or rclone's
        settings.
        """
        heading, _, lines = content.partition("\n")
        name = heading.rpartition("/")[2].removeprefix("# ")
        if name == "rclone.conf":
            self.make_mistake()
            text = re.sub(
                r"(\w+) = …", lambda found: f"{found[1]} = {self.secret(found[1])}", lines
            )
            (self.folder / name).write_text(self.here(text))
            self.variables["RCLONE_CONFIG"] = str(self.folder / name)
            return
        (self.folder / name).write_text(self.here(lines))
        self.verify(name)
        for line in lines.splitlines() if "oneshot" in lines else ():
            if line.startswith("ExecStart="):
                self.run(line.removeprefix("ExecStart="))
            if " backup " in line:
                self.moment = _next_second()

    def verify(self, unit: str) -> None:
        """systemd must understand a unit, where there is a systemd to ask."""
        if unit.endswith(".service") and shutil.which("systemd-analyze"):
            done = self.type("systemd-analyze", "verify", str(self.folder / unit))
            assert (done.returncode, done.stderr) == (0, ""), (unit, done.stderr)

    def make_mistake(self) -> None:
        """Changes of database and bucket, after the backup."""
        (self.folder / "mistake.csv").write_text("order_id\n7\n")
        self.run("lakebed zone put orders mistake.csv")
        self.run("lakebed table tag bronze.orders mistake")


def _next_second() -> str:
    """A time in whole seconds; what was done before is done by then, what comes later is not."""
    time.sleep(1.1)
    moment = datetime.now(UTC)
    time.sleep(1.1)
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def versioned_bucket(server: SeaweedServer) -> Bucket:
    """A new bucket that keeps versions."""
    name = f"lake-{secrets.token_hex(4)}"
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name=server.region,
        aws_access_key_id=server.access_key_id,
        aws_secret_access_key=server.secret_access_key,
    )
    client.create_bucket(Bucket=name)
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return Bucket(server=replace(server, bucket=name), prefix="prod")
