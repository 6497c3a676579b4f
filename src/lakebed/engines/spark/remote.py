"""Sessions that somebody else runs: a Spark Connect server's, or the user's own."""

import os
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lakebed.engines.spark.conf import CATALOG_CLASS, EXTENSIONS, runtime_conf
from lakebed.engines.spark.home import spark_version
from lakebed.engines.spark.jars import needed_jars
from lakebed.errors import CatalogUnreachable, MissingExtra, SparkFailed, UsageError
from lakebed.names import CATALOG
from lakebed.settings import Root, Settings, masked, one_spelling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PORT = 15002  # where a Connect server listens unless told otherwise
PATIENCE = 10.0
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_OURS_ALONE = "spark.sql.defaultCatalog"


def open_remote(settings: Settings, root: Root) -> "SparkSession":
    """A new session on a Spark Connect server, with this lake as its catalog `lake`."""
    session = _new_session(settings.spark.master)
    try:
        adopt(session, settings, root)
        session.conf.set(_OURS_ALONE, CATALOG)
    except BaseException:
        close_remote(session)
        raise
    return session


def close_remote(session: "SparkSession") -> None:
    session.stop()
    os.environ.pop(_CONNECT_MODE, None)  # pyspark leaves it behind, and would refuse a local session ever after


def adopt(session: "SparkSession", settings: Settings, root: Root) -> "SparkSession":
    """Make a session that runs already, the user's own, know this lake; it is never stopped by us.

    Sets the catalog `lake` where it is not set yet, and the lake's time zone; the default catalog stays the user's.
    """
    there = dict(session.conf.getAll)
    _refuse_without_extensions(session, settings, root)
    wanted = {key: value for key, value in runtime_conf(settings, root).items() if key != _OURS_ALONE}
    _refuse_another_lake(there, wanted)
    for key, value in wanted.items():
        if key not in there or key == "spark.sql.session.timeZone":
            session.conf.set(key, value)
    _refuse_without_catalog(session, settings, root)
    return session


def _refuse_without_extensions(session: "SparkSession", settings: Settings, root: Root) -> None:
    if EXTENSIONS not in (session.conf.get("spark.sql.extensions", "") or ""):
        raise UsageError("this Spark session has no Iceberg extensions.", next=_how_to_start(settings, root))


def _refuse_another_lake(there: dict[str, str], wanted: dict[str, str]) -> None:
    """A session keeps the catalog it has loaded: writing on would reach the other lake.

    The warehouse tells lakes apart; a server may know the same database under another address.
    """
    prefix = f"spark.sql.catalog.{CATALOG}"
    identity = f"{prefix}.warehouse" if f"{prefix}.warehouse" in wanted else f"{prefix}.uri"
    for key in (prefix, f"{prefix}.type", identity):
        if key in there and one_spelling(there[key]) != one_spelling(wanted[key]):
            raise UsageError(
                f"the catalog {CATALOG!r} of this Spark session is another one ({key} is {masked(there[key])!r}).",
                next="Give each lake a session of its own, session.newSession() for example.",
            )


def _refuse_without_catalog(session: "SparkSession", settings: Settings, root: Root) -> None:
    try:
        session.sql(f"SHOW NAMESPACES IN {CATALOG}").collect()
    except Exception as error:
        said = str(error)
        if CATALOG_CLASS in said or "ClassNotFound" in said or "NoClassDefFound" in said or "No suitable driver" in said:
            raise UsageError("this Spark session lacks jars.", next=_how_to_start(settings, root)) from error
        raise CatalogUnreachable(CATALOG, said.strip().splitlines()[0]) from error


def _how_to_start(settings: Settings, root: Root) -> str:
    jars = ",".join(str(jar) for jar in needed_jars(settings, root))
    return f"Start Spark {spark_version()} with spark.jars.packages={jars} and spark.sql.extensions={EXTENSIONS}"


def _new_session(master: str) -> "SparkSession":
    where = urlsplit(master)
    shown = f"{where.hostname}:{where.port or PORT}"  # the rest of the address may hold a token
    try:
        # Asked first: pyspark would try again for minutes.
        socket.create_connection((where.hostname or "", where.port or PORT), PATIENCE).close()
    except OSError as error:
        raise SparkFailed(f"no Spark Connect server answers at {shown} ({error.strerror or error}).") from error
    try:
        from pyspark.sql import SparkSession

        session: SparkSession = SparkSession.builder.remote(master).create()
        return session
    except ImportError as error:
        raise MissingExtra("connect", "Spark Connect") from error
    except Exception as error:
        os.environ.pop(_CONNECT_MODE, None)
        raise SparkFailed(f"{shown} refused a session: {str(error).strip().splitlines()[0]}") from error
