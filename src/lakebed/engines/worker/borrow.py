"""Borrowing the Spark of a worker: the port `WarmSpark`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lakebed.engines.worker.connect import SUPPORTED, ask, send_or_start
from lakebed.engines.worker.digest import lasting, worker_digest
from lakebed.engines.worker.messages import receive, send
from lakebed.engines.worker.places import WorkerPlace, known_places, private_folder
from lakebed.errors import WorkerUnavailable
from lakebed.ports import LentSpark
from lakebed.settings import without_secrets

_LONGEST_START = 180.0  # seconds in which its Spark must have started


class WorkerSpark:
    """The Spark of the worker that fits this lake and this process; the worker is started if
    there is none.
    """

    def __init__(
        self,
        root: str,
        settings: bytes,
        *,
        environment: Mapping[str, str],
        about: Mapping[str, Any],
        report: Callable[[str], None],
        wait: float | None = None,
    ) -> None:
        self._root, self._settings, self._environment = root, settings, environment
        self._about, self._report, self._wait = about, report, wait

    def borrow(self, request: Mapping[str, Any]) -> LentSpark | None:
        try:
            return self._borrow(request)
        except (OSError, WorkerUnavailable) as error:
            why = error.why if isinstance(error, WorkerUnavailable) else str(error)
            self._report(f"No worker: {why}. The command runs by itself.")
            return None

    def _borrow(self, request: Mapping[str, Any]) -> LentSpark:
        if not SUPPORTED:
            raise WorkerUnavailable("this system has none")
        digest = worker_digest(self._root, self._settings, self._environment)
        place = WorkerPlace(private_folder(self._environment), digest)
        about = self._about if place.socket.exists() else self._about_another()
        environment = without_secrets(self._environment)
        connection = send_or_start({"kind": "spark"}, place, about, environment)
        try:
            lasting_variables = lasting(self._environment)
            send(connection, {**request, "wait": self._wait, "environment": lasting_variables})
            connection.settimeout(_LONGEST_START)
            answer = receive(connection)
            if answer is None:
                raise WorkerUnavailable(f"it died, or its Spark hangs; its log: {place.log}")
            if refused := answer[0].get("refused"):
                raise WorkerUnavailable(str(refused))
        except BaseException:
            connection.close()
            raise
        told = answer[0]
        return LentSpark(told["port"], told["secret"], told["name"], told["log"], connection)

    def _about_another(self) -> Mapping[str, Any]:
        """What another worker is started with."""
        alike = worker_digest(self._root, self._settings, self._environment, anywhere=True)
        self._report_cost(alike)
        return {**self._about, "alike": alike, "folder": str(Path.cwd())}

    def _report_cost(self, alike: str) -> None:
        """Say what it costs that a worker which differs in its folder alone cannot be used."""
        for other in known_places(self._environment):
            told = other.described()
            if told.get("alike") == alike and ask(other, "status"):
                self._report(
                    "Another Spark starts, with memory of its own: the one that runs was started in"
                    f" {told['folder']}, and Java cannot change its folder. Commands that are"
                    " called there share it."
                )
                return
