"""The servers of somebody who reads docs/production.md, and the shell that is typed into."""

import os
import re
import secrets
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from tests.servers.postgres import Database, PostgresServer
from tests.servers.s3 import Bucket

PAGE = (Path(__file__).parents[2] / "docs" / "production.md").read_text()
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_NAMES = ("lake_prod", "lake_writer", "lake_reader")


@dataclass
class Site:
    """The servers of a reader of the page, under names of their own, and the shell that is typed
    into.
    """

    server: PostgresServer
    bucket: Bucket
    master: str
    folder: Path
    own: str = field(default_factory=lambda: secrets.token_hex(4))
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def password(self) -> str:
        return f"word-{self.own}"

    def here(self, text: str) -> str:
        """A line of the page with this site's names and addresses."""
        for name in _NAMES:
            text = text.replace(name, f"{name}_{self.own}")
        places = {
            "db.example.org:5432": f"{self.server.host}:{self.server.port}",
            "s3://lake/prod": self.bucket.url,
        }
        places |= {
            "https://s3.example.org": self.bucket.server.endpoint,
            "spark://spark.example.org:7077": self.master,
        }
        for place, real in places.items():
            text = text.replace(place, real)
        return text

    def secret(self, name: str) -> str:
        keys = {"LAKEBED_FILES_ACCESS_KEY_ID": self.bucket.server.access_key_id}
        keys["LAKEBED_FILES_SECRET_ACCESS_KEY"] = self.bucket.server.secret_access_key
        return keys.get(name, self.password)

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
        """As the page says: what makes roles and databases as a superuser, the rest as the owner in
        the database.
        """
        makes = "CREATE ROLE" in statements
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

    def export(self, lines: str) -> None:
        for line in lines.splitlines():
            name, value = self.here(line).removeprefix("export ").split("=", 1)
            self.variables[name] = self.secret(name) if value == "…" else value

    def type(self, *command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        logs = {"LAKEBED_PLACES_LOGS": str(self.folder / "logs"), "COLUMNS": "200"}
        environment = {**os.environ, "PATH": path, **logs, **self.variables, **more}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def follow(self) -> None:
        """Do all that the page says, in its order."""
        for language, content in _BLOCK.findall(PAGE):
            if language == "sql":
                self.execute(content)
            if language == "sh":
                self.export(content)
            for line in content.splitlines() if language == "console" else ():
                done = self.type(*shlex.split(self.here(line.removeprefix("$ "))))
                assert done.returncode == 0, (line, done.stdout, done.stderr)

    def leave(self) -> None:
        """Remove the database and the roles; they would be in the way of nobody, but they are the
        server's.
        """
        database, *roles = (sql.Identifier(self.here(name)) for name in _NAMES)
        with self.server.connect() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
            for role in roles:
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
