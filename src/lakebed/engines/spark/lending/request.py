"""What a borrower asks for: how Spark is to be started, as plain JSON-ready values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakebed.engines.spark.start.java import Java
from lakebed.engines.spark.start.launch import Launch


@dataclass(frozen=True)
class SparkRequest:
    """A Spark to be started, if it does not run already."""

    launch: Launch
    logs: Path
    directly: bool
    environment: Mapping[str, str]

    def fits(self, other: "SparkRequest") -> bool:
        """Whether a Spark started for this request also serves the other one."""
        return self.launch == other.launch and self.environment == other.environment


def request_json(launch: Launch, *, logs: Path, directly: bool) -> dict[str, Any]:
    """The request as a borrower sends it; the client adds the environment."""
    java = launch.java
    return {
        "java": [str(java.home), java.version, java.major, java.origin],
        "jars": [str(jar) for jar in launch.jars],
        "conf": dict(launch.conf),
        "quick": launch.quick,
        "logs": str(logs),
        "directly": directly,
    }


def read_request(told: Mapping[str, Any]) -> SparkRequest:
    """The request as the worker understands it."""
    home, version, major, origin = told["java"]
    launch = Launch(
        Java(Path(home), version, major, origin),
        tuple(Path(jar) for jar in told["jars"]),
        told["conf"],
        quick=told["quick"],
    )
    return SparkRequest(launch, Path(told["logs"]), told["directly"], told["environment"])
