"""Sessions that Lakebed does not run: those of a Spark Connect server, or the user's own."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakebed.engines.catalog_answers import as_catalog_error
from lakebed.engines.spark.conf import EXTENSIONS, runtime_conf
from lakebed.engines.spark.failures import short
from lakebed.engines.spark.jars.pinned import needed_jars
from lakebed.engines.spark.progress import is_classic
from lakebed.engines.spark.secrets import (
    at_start,
    is_configured,
    is_secret,
    start_lines,
    would_log_secret,
)
from lakebed.engines.spark.start.home import spark_version
from lakebed.engines.spark.start.masters import require_reachable, shown
from lakebed.errors import MissingExtra, SparkFailed, UsageError
from lakebed.names import CATALOG
from lakebed.settings import SETTINGS_FILE, Root, Settings, masked, normalized_location

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_OURS_ALONE = "spark.sql.defaultCatalog"
_WITHOUT_JARS = (
    "Cannot find catalog plugin class",
    "ClassNotFound",
    "NoClassDefFound",
    "No suitable driver",
)
_TIME_ZONE = "spark.sql.session.timeZone"


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
    # pyspark leaves it set, and would refuse local sessions from then on
    os.environ.pop(_CONNECT_MODE, None)


def adopt(session: "SparkSession", settings: Settings, root: Root) -> "SparkSession":
    """Connect the user's running session to this lake; Lakebed never stops it.

    Sets the catalog `lake` unless it is set already, and the lake's time zone; the default catalog
    stays the user's. Secrets are never sent to a server, nor set where an event log would show
    them: that Spark must be started with them.
    """
    there = dict(session.conf.getAll)
    _require_extensions(session, settings, root)
    wanted = {
        key: value for key, value in runtime_conf(settings, root).items() if key != _OURS_ALONE
    }
    _require_same_lake(there, wanted)
    unset = {
        key: value
        for key, value in wanted.items()
        if not is_configured(key, there) or key == _TIME_ZONE
    }
    withheld = (
        [key for key in unset if is_secret(key)]
        if not is_classic(session) or would_log_secret(unset, there)
        else []
    )
    for key, value in unset.items():
        if key not in withheld:
            session.conf.set(key, value)
    _require_access(session, settings, root, withheld=withheld, there=there)
    return session


def _require_extensions(session: "SparkSession", settings: Settings, root: Root) -> None:
    if EXTENSIONS not in (session.conf.get("spark.sql.extensions", "") or ""):
        raise UsageError(
            "this Spark session has no Iceberg extensions.", next=_how_to_start(settings, root)
        )


def _require_same_lake(there: dict[str, str], wanted: dict[str, str]) -> None:
    """A session keeps the catalog it has loaded, so writes would go to the other lake.

    Lakes are distinguished by their warehouse; a server may know the same database under another
    address.
    """
    prefix = f"spark.sql.catalog.{CATALOG}"
    identity = f"{prefix}.warehouse" if f"{prefix}.warehouse" in wanted else f"{prefix}.uri"
    for key in (prefix, f"{prefix}.type", identity):
        if key in there and normalized_location(there[key]) != normalized_location(wanted[key]):
            raise UsageError(
                f"the catalog {CATALOG!r} of this Spark session is another one ({key} is"
                f" {masked(there[key])!r}).",
                next="Give each lake a session of its own, session.newSession() for example.",
            )


def _require_access(
    session: "SparkSession",
    settings: Settings,
    root: Root,
    *,
    withheld: list[str],
    there: Mapping[str, str],
) -> None:
    """`UsageError` unless the session can open the catalog and the bucket with its settings."""
    try:
        session.sql(f"SHOW NAMESPACES IN {CATALOG}").collect()
        if root.is_bucket and withheld:
            _look_into_bucket(session, root, withheld=withheld, there=there)
    except Exception as error:
        said = str(error)
        if any(sign in said for sign in _WITHOUT_JARS):
            raise UsageError(
                "this Spark session lacks jars.", next=_how_to_start(settings, root)
            ) from error
        if withheld:
            what = f"this Spark cannot open the lake with its settings: {short(said)}"
            raise UsageError(what, next=_how_to_equip(withheld, there)) from error
        raise as_catalog_error(CATALOG, said.strip().splitlines()[0]) from error


def _look_into_bucket(
    session: "SparkSession", root: Root, *, withheld: list[str], there: Mapping[str, str]
) -> None:
    """Spark reaches the bucket through Hadoop and through Iceberg; credentials of the machine serve
    both, keys only one.
    """
    if lacking := [key for key in withheld if "s3" in key]:
        if any("s3" in key and is_secret(key) for key in there):
            raise LookupError(
                f"it has keys to the bucket, but lacks {' and '.join(map(at_start, lacking))}"
            )
        session.read.text(f"{root.url}/{SETTINGS_FILE}").limit(1).collect()


def _how_to_equip(withheld: list[str], there: Mapping[str, str]) -> str:
    lines = "".join(f"\n  {line}" for line in start_lines(withheld, there))
    return (
        "Lakebed hands no secrets to a Spark that others see. Start it with these in its"
        f" spark-defaults.conf:{lines}"
    )


def _how_to_start(settings: Settings, root: Root) -> str:
    jars = ",".join(str(jar) for jar in needed_jars(settings, root))
    return (
        f"Start Spark {spark_version()} with spark.jars.packages={jars} and"
        f" spark.sql.extensions={EXTENSIONS}"
    )


def _new_session(master: str) -> "SparkSession":
    require_reachable(master)
    try:
        from pyspark.sql import SparkSession

        session: SparkSession = SparkSession.builder.remote(master).create()
        return session
    except ImportError as error:
        raise MissingExtra("connect", "Spark Connect") from error
    except Exception as error:
        os.environ.pop(_CONNECT_MODE, None)
        raise SparkFailed(
            f"{shown(master)} refused a session: {str(error).strip().splitlines()[0]}"
        ) from error
