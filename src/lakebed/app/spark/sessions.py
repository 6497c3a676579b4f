"""Sessions of a lake's Spark, for work that computes."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakebed.app.connections import Connections
    from lakebed.ports import Compute


@dataclass(frozen=True)
class SparkSessions:
    """The `ComputeSessions` of a lake; see there."""

    lake: "Connections"

    def open(self, run_id: str) -> "Compute":
        """A session of its own; the caller closes it."""
        from lakebed.engines.spark import SparkCompute, Staging, another_session, close_session

        lake = self.lake
        if not lake.has_spark:
            _load_publishing()
        session = another_session(
            lake.spark, lake.settings, lake.root, environment=lake.environment
        )
        staging = Staging(lake.stores.files, lake.root, run_id)
        return SparkCompute(session, staging, run_id=run_id, close=lambda: close_session(session))

    def watch(self, on_progress: Callable[[int, int], None]) -> AbstractContextManager[None]:
        """While the block lasts, `on_progress` is told how many of Spark's tasks are done, and of
        how many.
        """
        from lakebed.engines.spark import watch

        return watch(self.lake.spark, on_progress)

    def cancel(self) -> None:
        """Cancel what Spark computes for this process; a session that was given is left alone."""
        if self.lake.has_spark and self.lake.owns_spark:
            from lakebed.engines.spark import cancel_jobs

            cancel_jobs()


def _load_publishing() -> None:
    """Use the time the JVM takes to start: load what publishing needs."""
    module = "lakebed.engines.iceberg.metadata.staging"
    threading.Thread(target=import_module, args=(module,), daemon=True).start()
