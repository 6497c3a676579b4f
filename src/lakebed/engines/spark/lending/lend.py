"""The worker's side: one running Spark, lent to one process after another, or to several at once.

Every borrower gets a gateway, a session and a cache of its own. The threads that serve a gateway
inherit what the thread that starts it has set: the borrower's session is the active one there, and
its jobs carry the borrower's tag.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from lakebed.engines.spark.conf import cores_of
from lakebed.engines.spark.lending.python_workers import end_python_workers
from lakebed.engines.spark.lending.request import SparkRequest
from lakebed.engines.spark.start.gateway import close_catalog
from lakebed.engines.spark.start.local_spark import (
    LocalSpark,
    archive_for_next_time,
    start_spark,
)
from lakebed.names import CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The jobs of one borrower do not wait until those of another are done.
_SHARED = {"spark.scheduler.mode": "FAIR"}
_FULL = 0.4  # of the JVM's heap that may stay in use after a borrower has gone


@dataclass(frozen=True)
class Lent:
    """What one borrower has."""

    name: str
    port: int
    secret: str
    server: Any
    session: "SparkSession"


class SparkLender:
    """A running Spark."""

    def __init__(self, request: SparkRequest) -> None:
        self.request = request
        launch = replace(request.launch, conf=_SHARED | dict(request.launch.conf))
        self._local: LocalSpark = start_spark(
            launch, environment=request.environment, logs=request.logs, directly=request.directly
        )

    @property
    def log(self) -> str:
        return str(self._local.jvm.log)

    @property
    def works(self) -> bool:
        """Whether it can be lent: its JVM runs, and no borrower has stopped its Spark."""
        if not self._local.jvm.runs:
            return False
        try:
            return not self._context.isStopped()
        except Exception:
            return False

    def lend(self, name: str) -> Lent:
        """A gateway for one borrower, whose jobs get this name as their tag. Call from a thread
        of its own.
        """
        jvm, context = self._jvm, self._context
        session = _separate_session(self._local.base, jvm, context)
        context.addJobTag(name)
        context.setInterruptOnCancel(True)  # a task that sleeps would keep its core
        context.setLocalProperty("spark.scheduler.pool", name)
        _session_class(jvm).setActiveSession(session._jsparkSession)
        server = jvm.org.apache.spark.api.python.Py4JServer(context.conf())
        server.start()
        return Lent(name, server.getListeningPort(), server.secret(), server, session)

    @property
    def is_busy(self) -> bool:
        """Whether all cores are taken: another borrower might wait for as long as they are."""
        running = self._context.statusTracker().getExecutorInfos()
        return bool(sum(each.numRunningTasks() for each in running) >= self._cores)

    @property
    def _cores(self) -> int:
        cores = self._jvm.java.lang.Runtime.getRuntime().availableProcessors()
        return cores_of(self.request.launch.conf["spark.master"], cores)

    def take_back(self, lent: Lent) -> None:
        """End whatever a borrower left: jobs, sessions, cached data, Python processes."""
        context, java = self._context, lent.session._jsparkSession
        for step in (
            lambda: context.cancelJobsWithTag(lent.name),
            lambda: lent.server.server().shutdown(),
            lambda: end_python_workers(self._jvm, lent.name),
            lambda: java.sharedState().cacheManager().clearCache(),
            lambda: context.removeSparkListener(java.sharedState().statusStore().listener().get()),
            lambda: close_catalog(lent.session, CATALOG),
            lambda: _session_class(self._jvm).clearActiveSession(),
            lambda: archive_for_next_time(self._local),
        ):
            with suppress(Exception):  # the JVM may have died; each step is for itself
                step()

    def is_full(self) -> bool:
        """Whether borrowers have left so much in the JVM that it should be replaced."""
        return self._used() > _FULL and self._used(collected=True) > _FULL

    def _used(self, *, collected: bool = False) -> float:
        runtime = self._jvm.java.lang.Runtime.getRuntime()
        if collected:
            runtime.gc()
        return float((runtime.totalMemory() - runtime.freeMemory()) / runtime.maxMemory())

    def stop(self) -> None:
        """Stop Spark and its JVM."""
        self._local.jvm.stop()

    @property
    def _jvm(self) -> Any:
        return self._local.jvm.gateway.jvm

    @property
    def _context(self) -> Any:
        return self._local.base.sparkContext._jsc.sc()


def _separate_session(base: "SparkSession", jvm: Any, context: Any) -> "SparkSession":
    """A session that shares nothing but the Spark context: no cached data, no global views.

    A session made by `newSession` would answer from tables that another borrower has cached.
    """
    from pyspark.sql import SparkSession

    java = _session_class(jvm)(context, jvm.java.util.HashMap())
    with catch_warnings(action="ignore"):
        return SparkSession(base.sparkContext, jsparkSession=java)


def _session_class(jvm: Any) -> Any:
    return getattr(jvm, "org.apache.spark.sql.classic.SparkSession")
