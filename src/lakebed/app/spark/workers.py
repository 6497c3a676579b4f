"""Workers: the Spark that one lends, and what they are doing."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakebed.engines.worker.borrow import WorkerSpark
from lakebed.engines.worker.connect import ask
from lakebed.engines.worker.places import WorkerPlace, known_places
from lakebed.ports import WarmSpark
from lakebed.settings import Root, Settings

_TAIL = 256 * 1024  # bytes of a log that are looked at


def warm_spark(
    root: Root,
    text: str,
    settings: Settings,
    *,
    environment: Mapping[str, str],
    report: Callable[[str], None],
) -> WarmSpark:
    """The Spark of the worker for this lake; nothing is started before it is borrowed."""
    about = {
        "lake": str(root),
        "idle_seconds": settings.worker.idle_minutes * 60,
        "enabled": settings.worker.enabled,
    }
    return WorkerSpark(
        root.url,
        text.encode(),
        environment=environment,
        about=about,
        report=report,
        wait=settings.worker.wait,
    )


@dataclass(frozen=True)
class WorkerStatus:
    """A worker that answers."""

    lake: str
    pid: int
    commands: int  # that it has run
    running: int  # of these, now
    borrowers: int  # processes that compute with its Spark
    memory: int
    idle_seconds_left: float
    stopping: bool
    log: Path
    spark_log: str


@dataclass(frozen=True)
class WorkerLog:
    """The end of what a worker or its Spark has written."""

    lake: str
    file: str
    lines: tuple[str, ...]


class Workers:
    """The workers of one lake, or of all lakes of this user."""

    def __init__(self, environment: Mapping[str, str], *, lake: str | None = None) -> None:
        self._environment, self._lake = environment, lake

    def status(self) -> tuple[WorkerStatus, ...]:
        """Those that answer."""
        return self._ask("status")

    def stop(self) -> tuple[WorkerStatus, ...]:
        """Ask them to end, which they do when their commands have ended; those that were asked."""
        return self._ask("stop")

    def logs(self, *, lines: int = 50) -> tuple[WorkerLog, ...]:
        """The last lines of their logs; of those that died, too."""
        found = []
        for place in self._places():
            told = ask(place, "status") or place.described()
            for file in filter(None, (str(place.log), told.get("spark_log"))):
                found.append(WorkerLog(told["lake"], file, _last_lines(Path(file), lines)))
        return tuple(found)

    def _ask(self, question: str) -> tuple[WorkerStatus, ...]:
        answers = ((place, ask(place, question)) for place in self._places())
        return tuple(_status(place, answer) for place, answer in answers if answer)

    def _places(self) -> list[WorkerPlace]:
        described = ((place, place.described()) for place in known_places(self._environment))
        return [
            place
            for place, about in described
            if "lake" in about and self._lake in (None, about["lake"])
        ]


def _last_lines(file: Path, count: int) -> tuple[str, ...]:
    try:
        with file.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            return tuple(log.read().decode(errors="replace").splitlines()[-count:])
    except OSError:  # nothing was written
        return ()


def _status(place: WorkerPlace, told: Mapping[str, Any]) -> WorkerStatus:
    return WorkerStatus(
        lake=told["lake"],
        pid=told["pid"],
        commands=told["commands"],
        running=told["running"],
        borrowers=told["borrowers"],
        memory=told["memory"],
        idle_seconds_left=told["idle_seconds_left"],
        stopping=told["stopping"],
        log=place.log,
        spark_log=told["spark_log"],
    )
