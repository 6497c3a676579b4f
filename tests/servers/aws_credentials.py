"""The small HTTP services from which a machine on AWS gets its keys: of a container, and of an
instance (IMDSv2).
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.servers.processes import LOOPBACK

_ROLE = "/latest/meta-data/iam/security-credentials/"


@dataclass
class CredentialService:
    """Where it listens, and what it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def credential_service(access_key_id: str, secret_access_key: str) -> Iterator[CredentialService]:
    """A service that gives whoever asks these keys, as long as the block lasts."""
    expires = (datetime.now(UTC) + timedelta(hours=6)).strftime("%Y-%m-%dT%H:%M:%SZ")
    keys = json.dumps(
        {
            "Code": "Success",
            "AccessKeyId": access_key_id,
            "SecretAccessKey": secret_access_key,
            "Token": "",
            "Expiration": expires,
        }
    )
    answers = {"/container": keys, "/latest/api/token": "a token", _ROLE: "a-role"}
    answers[f"{_ROLE}a-role"] = keys

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            service.asked.append(f"{self.command} {self.path}")
            body = answers.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_PUT = do_GET  # noqa: N815 - as http.server asks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        service = CredentialService(f"http://{LOOPBACK}:{server.server_port}")
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield service
        finally:
            server.shutdown()
