"""Opening and closing Spark sessions: one JVM per process, a separate session for each lake that is
opened.
"""

import atexit
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.engines.spark.conf import runtime_conf
from lakebed.engines.spark.jars.fetch import local_jars
from lakebed.engines.spark.jars.pinned import Jar, absent, needed_jars
from lakebed.engines.spark.lending.borrow import borrow_spark
from lakebed.engines.spark.logs import silence_pyspark
from lakebed.engines.spark.progress import is_classic
from lakebed.engines.spark.remote import adopt, close_remote, open_remote
from lakebed.engines.spark.secrets import has_value
from lakebed.engines.spark.start.gateway import close_catalog
from lakebed.engines.spark.start.java import Java, find_java
from lakebed.engines.spark.start.launch import Launch
from lakebed.engines.spark.start.local_spark import (
    LocalSpark,
    SparkAhead,
    archive_for_next_time,
    boot_ahead,
    plan_launch,
    start_spark,
    starts_directly,
)
from lakebed.engines.spark.start.masters import require_reachable
from lakebed.engines.spark.start.one_spark import require_compatible, require_no_other_spark
from lakebed.errors import LakebedError
from lakebed.names import CATALOG
from lakebed.ports import WarmSpark
from lakebed.settings import Root, Settings, cache_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Report = Callable[[str], None]


_local: LocalSpark | None = None
_ahead: SparkAhead | None = None
_remote: "list[SparkSession]" = []
_beside: "list[SparkSession]" = []  # our sessions in a Spark that the user started
_lock = threading.RLock()


def open_session(
    settings: Settings,
    root: Root,
    *,
    environment: Mapping[str, str],
    logs: Path,
    report: Report = lambda _: None,
    java: Java | None = None,
    also: Iterable[Jar] = (),
    warm: WarmSpark | None = None,
) -> "SparkSession":
    """A new session whose catalog `lake` is this lake; end it with `close_session`.

    The first session of a process starts Spark, or borrows a `warm` one; later ones share it.
    `also` are jars for lakes opened later.
    """
    silence_pyspark()
    with _lock:
        if settings.spark.is_connect:
            _remote.append(open_remote(settings, root))
            return _remote[-1]
        jars = local_jars(
            settings, root, environment=environment, report=report, java=java, also=also
        )
        return _open_local(
            settings, root, jars=jars, java=java, environment=environment, logs=logs, warm=warm
        )


def start_ahead(
    settings: Settings, root: Root, *, environment: Mapping[str, str], logs: Path
) -> None:
    """Let Spark's JVM boot for a session that will probably be opened; `end_ahead` ends it if none
    was.

    Raises nothing: whatever is wrong is reported when the session is opened.
    """
    global _ahead
    with _lock, suppress(LakebedError, OSError):
        _forget_dead()
        if (
            _local
            or _ahead
            or not settings.spark.is_local
            or _lacks_jars(settings, root, environment)
        ):
            return
        require_no_other_spark()
        jars = local_jars(settings, root, environment=environment, report=lambda _: None)
        launch = plan_launch(
            settings, root, jars=jars, java=find_java(environment), environment=environment
        )
        if starts_directly(launch, directly=settings.spark.direct_launch):
            _ahead = boot_ahead(launch, environment=environment, logs=logs)


def end_ahead() -> None:
    """End the JVM that boots ahead, if there is one."""
    global _ahead
    with _lock:
        ended, _ahead = _ahead, None
        if ended:
            ended.end()


def _lacks_jars(settings: Settings, root: Root, environment: Mapping[str, str]) -> bool:
    """Whether jars must be fetched first."""
    return not settings.spark.jars and bool(
        absent(needed_jars(settings, root), cache_folder(environment))
    )


def another_session(
    beside: "SparkSession", settings: Settings, root: Root, *, environment: Mapping[str, str]
) -> "SparkSession":
    """Another session for the same lake, as cheap as possible; end it with `close_session`.

    The user's own session on a Connect server is shared, since no other can be opened beside it.
    """
    if is_ours(beside):
        return open_session(settings, root, environment=environment, logs=Path())
    if not is_classic(beside):
        return beside
    _beside.append(adopt(beside.newSession(), settings, root))
    return _beside[-1]


def is_ours(session: "SparkSession") -> bool:
    """Whether Lakebed opened the session, not the user."""
    return any(session is ours for ours in (*_remote, *(_local.opened if _local else ())))


def close_session(session: "SparkSession") -> None:
    """Close a session; the last one stops Spark. A session that the user opened is left alone."""
    global _local
    with _lock:
        if any(session is ours for ours in _remote):
            _remote[:] = [ours for ours in _remote if ours is not session]
            close_remote(session)
        elif any(session is ours for ours in _beside):
            _beside[:] = [ours for ours in _beside if ours is not session]
            close_catalog(session, CATALOG)
        elif _local and any(session is ours for ours in _local.opened):
            _local.opened = [ours for ours in _local.opened if ours is not session]
            if _local.opened:
                close_catalog(session, CATALOG)
            else:
                ended, _local = _local, None
                _end(ended)


def _open_local(
    settings: Settings,
    root: Root,
    *,
    jars: tuple[Path, ...],
    java: Java | None,
    environment: Mapping[str, str],
    logs: Path,
    warm: WarmSpark | None,
) -> "SparkSession":
    global _local
    _forget_dead()
    if _local is None:
        require_no_other_spark()
        require_reachable(settings.spark.master)
        launch = plan_launch(
            settings, root, jars=jars, java=java or find_java(environment), environment=environment
        )
        directly = settings.spark.direct_launch
        borrowed = (
            borrow_spark(launch, warm, environment=environment, logs=logs, directly=directly)
            if warm
            else None
        )
        _local = borrowed or start_spark(
            launch,
            environment=environment,
            logs=logs,
            directly=directly,
            ahead=_take_ahead(launch),
        )
        session = _local.base
    else:
        session = _new_local_session(_local, settings, root, jars)
    _local.opened.append(session)
    return session


def _forget_dead() -> None:
    """Forget a Spark whose JVM has died, so that another can be started."""
    global _local
    if _local and not _local.jvm.runs:
        died, _local = _local, None
        died.jvm.stop()


def _take_ahead(launch: Launch) -> SparkAhead | None:
    """The JVM that boots ahead, if it is the one to start."""
    global _ahead
    if _ahead and _ahead.launch != launch:
        end_ahead()
    taken, _ahead = _ahead, None
    return taken


def _new_local_session(
    local: LocalSpark, settings: Settings, root: Root, jars: tuple[Path, ...]
) -> "SparkSession":
    """Another session in the running JVM, without the settings of the lake that was opened
    first.
    """
    require_compatible(local, settings, root, jars)
    session, wanted = local.base.newSession(), runtime_conf(settings, root)
    for key in local.launch.conf:
        if key.startswith(f"spark.sql.catalog.{CATALOG}") and key not in wanted:
            session.conf.unset(key)
    for key, value in wanted.items():
        if not has_value(key, value, local.launch.conf):
            session.conf.set(key, value)
    return session


def cancel_jobs() -> None:
    """Cancel what the sessions of this process compute. Never waits for a Spark that starts."""
    for session in (*_remote, *(_local.opened if _local else ())):
        with suppress(Exception):  # it may have ended, or its JVM died
            session.interruptAll()


def _end(local: LocalSpark) -> None:
    local.jvm.stop()
    archive_for_next_time(local)


@atexit.register
def _end_with_process() -> None:
    """The JVM ends with this process; only the archive is left to make."""
    end_ahead()
    if _local:
        archive_for_next_time(_local)
