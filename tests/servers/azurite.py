"""Azurite, a server that speaks Azure's blob storage."""

import hmac
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from itertools import count
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

from pydantic import SecretStr

from lakebed.settings import KartothekSettings
from tests.servers.processes import LOOPBACK, answers, free_ports, running

ROOT = Path(__file__).parent.parent.parent
PROGRAM = ROOT / ".setup/azurite/node_modules/azurite/dist/src/blob/main.js"
CONTAINER = "lake"
ACCOUNT = "lakebedtest"


@dataclass(frozen=True)
class AzuriteServer:
    """A running server, and how to reach it."""

    settings: KartothekSettings
    _numbers: Iterator[int]

    def fresh_prefix(self) -> str:
        """An address that nobody else uses."""
        return f"az://{CONTAINER}/place{next(self._numbers)}"


@contextmanager
def azurite() -> Iterator[AzuriteServer]:
    """Azurite on a free port over a temporary folder, as long as the block lasts."""
    subprocess.run(["bash", "scripts/setup.sh", "azurite"], cwd=ROOT, check=True)
    [port] = free_ports(1)
    key = b64encode(token_bytes(32)).decode()
    with TemporaryDirectory(prefix="lakebed-azurite-") as temporary:
        folder = Path(temporary)
        command = [
            *("node", str(PROGRAM), "--silent"),
            *("--blobHost", LOOPBACK, "--blobPort", str(port), "--location", str(folder)),
            *("--skipApiVersionCheck", "--disableTelemetry"),
        ]
        accounts = {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{key}"}
        log = folder / "log"
        with running(command, log=log, ready=lambda: answers(port), environment=accounts):
            endpoint = f"http://{LOOPBACK}:{port}/{ACCOUNT}"
            settings = KartothekSettings(
                azure_account=ACCOUNT, azure_account_key=SecretStr(key), azure_endpoint=endpoint
            )
            _make_container(endpoint, key)
            yield AzuriteServer(settings, count())


def _make_container(endpoint: str, key: str) -> None:
    """Make the container, which obstore cannot: signed by hand with the account's key."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    signed = [f"{name}:{value}" for name, value in headers.items()]
    resource = f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    text = "\n".join(["PUT", *[""] * 11, *signed, resource])
    signature = b64encode(hmac.digest(b64decode(key), text.encode(), "sha256")).decode()
    request = Request(
        f"{endpoint}/{CONTAINER}?restype=container",
        method="PUT",
        headers={**headers, "Authorization": f"SharedKey {ACCOUNT}:{signature}"},
    )
    urlopen(request, timeout=30).close()
