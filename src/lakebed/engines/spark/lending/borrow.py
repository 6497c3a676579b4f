"""The borrower's side: pyspark attached to a JVM that another process keeps."""

import select
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed.engines.spark.lending.python_workers import BORROWER
from lakebed.engines.spark.lending.request import request_json
from lakebed.engines.spark.start.gateway import attach, environment_with, forget
from lakebed.engines.spark.start.launch import Launch
from lakebed.engines.spark.start.local_spark import LocalSpark
from lakebed.engines.spark.start.on_demand import announce_machine_learning, spare_pandas
from lakebed.ports import LentSpark, WarmSpark
from lakebed.settings import without_secrets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class BorrowedJvm:
    """A JVM of another process. It runs until that process ends."""

    lent: LentSpark
    gateway: Any
    files: str  # pyspark's folder for this process
    how: str = "borrowed"

    @property
    def log(self) -> Path:
        return Path(self.lent.log)

    @property
    def runs(self) -> bool:
        """Whether the lender is still there: it says nothing, and its end can be read."""
        return not select.select([self.lent.loan], [], [], 0)[0]

    def stop(self) -> None:
        """Give it back."""
        forget(self.gateway, runs=False)
        shutil.rmtree(self.files, ignore_errors=True)
        self.lent.loan.close()


def borrow_spark(
    launch: Launch, warm: WarmSpark, *, environment: Mapping[str, str], logs: Path, directly: bool
) -> LocalSpark | None:
    """The Spark that `warm` lends; None if it lends none."""
    lent = warm.borrow(request_json(launch, logs=logs, directly=directly))
    if lent is None:
        return None
    try:
        gateway = attach(lent.port, lent.secret)
        base = _borrowed_session(gateway, launch, lent.name, environment)
    except BaseException:
        lent.loan.close()
        raise
    files = str(base.sparkContext._temp_dir)
    return LocalSpark(base, BorrowedJvm(lent, gateway, files), launch, environment)


def _borrowed_session(
    gateway: Any, launch: Launch, name: str, environment: Mapping[str, str]
) -> "SparkSession":
    """The session that the lender has made for us: it is the active one of our gateway."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    classic = getattr(gateway.jvm, "org.apache.spark.sql.classic.SparkSession")
    java, default = classic.getActiveSession().get(), classic.getDefaultSession()
    context_class = gateway.jvm.org.apache.spark.api.java.JavaSparkContext
    python = launch.conf.get("spark.pyspark.python", "")
    spare_pandas()
    with _own_signals(), environment_with({"PYSPARK_PYTHON": python} if python else {}):
        SparkContext._ensure_initialized(gateway=gateway)
        context = SparkContext(
            gateway=gateway, jsc=context_class.fromSparkContext(java.sparkContext())
        )
        session = SparkSession(context, jsparkSession=java)
    if default.isDefined():  # pyspark has just put ours in its place, for all borrowers
        classic.setDefaultSession(default.get())
    announce_machine_learning()
    setattr(context, "stop", partial(_leave_context, context))  # noqa: B010
    context.environment.update({**without_secrets(environment), BORROWER: name})
    return session


def _leave_context(context: Any) -> None:
    """`spark.stop()` in a pipeline ends Spark for this process, not for all borrowers."""
    from pyspark import SparkContext

    context._jsc = None
    SparkContext.stop(context)


@contextmanager
def _own_signals() -> Iterator[None]:
    """pyspark would cancel the jobs of all borrowers on Ctrl-C."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
