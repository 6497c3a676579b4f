"""Whether a remote Spark answers: Spark itself would retry for minutes."""

import re
import socket
from urllib.parse import urlsplit

from lakebed.errors import SparkFailed

PATIENCE = 10.0
_PORTS = {"sc": 15002, "spark": 7077}  # their default ports
_CALLED = {"sc": "Spark Connect server", "spark": "Spark master"}


def require_reachable(master: str) -> None:
    """`SparkFailed` unless one of the addresses of `spark://…` or `sc://…` answers; other masters
    are not checked.
    """
    places = addresses(master)
    if not places:
        return
    refusals = [why for host, port in places if (why := _refusal(host, port)) is not None]
    if len(refusals) == len(places):
        called = _CALLED[urlsplit(master).scheme]
        what = f"no {called} answers at {shown(master)} ({refusals[0]})."
        raise SparkFailed(
            what, next="Start it, or say where it runs: LAKEBED_SPARK_MASTER or spark.master."
        )


def addresses(master: str) -> tuple[tuple[str, int], ...]:
    """Hosts and ports of a remote Spark; a standalone cluster may have several masters."""
    scheme = master.partition("://")[0]
    if scheme not in _PORTS:
        return ()
    hosts = re.split(r"[/;?]", master.partition("://")[2], maxsplit=1)[0].split(",")
    places = [urlsplit(f"//{host}") for host in hosts]
    return tuple((place.hostname or "", place.port or _PORTS[scheme]) for place in places)


def shown(master: str) -> str:
    """Only the addresses: the rest may contain a token."""
    return ", ".join(f"{host}:{port}" for host, port in addresses(master))


def _refusal(host: str, port: int) -> str | None:
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except OSError as error:
        return error.strerror or str(error)
    return None
