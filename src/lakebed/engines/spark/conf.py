"""Spark's settings for a lake, as plain dictionaries. Nothing here touches Spark."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import SecretStr

from lakebed.engines.files.aws_keys import with_profile_keys
from lakebed.engines.limits import CONNECT_SECONDS, jdbc_limits
from lakebed.engines.spark.jars.pinned import keeps_tables_in_s3, reads_s3
from lakebed.engines.spark.secrets import at_start, is_secret
from lakebed.engines.spark.start.on_demand import LOAD_EXTENSIONS, may_have_extensions
from lakebed.errors import BadSettings
from lakebed.names import CATALOG
from lakebed.settings import (
    DATABASE_FILE,
    MASK,
    SECRET_WORD,
    FilesSettings,
    PostgresCatalog,
    RestCatalog,
    Root,
    Settings,
    SparkSettings,
    masked,
)
from lakebed.tables import COMMIT_RETRIES, write_properties

CATALOG_CLASS = "org.apache.iceberg.spark.SparkCatalog"
# Spark's own default is the same, but a session does not tell it.
TASKS_AT_ONCE = "spark.sql.leafNodeDefaultParallelism"
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

_LOOPBACK = r"(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?"
_ON_LOOPBACK = re.compile(rf"spark://{_LOOPBACK}(?:,{_LOOPBACK})*")
# What the driver remembers of work that is done: a long run would fill its memory.
_KEPT = {
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
}
_TABLE_DEFAULTS = {"format-version": "2", **COMMIT_RETRIES}


def session_conf(
    settings: Settings, root: Root, *, jars: Iterable[Path] = (), cores: int = 2, python: str = ""
) -> dict[str, str]:
    """All settings that Spark starts with; `settings.spark.conf` overrides the others."""
    spark = settings.spark
    _require_bound_pages(spark)
    conf = (
        _everywhere(settings)
        | _listening(spark)
        | (_local(cores, python) if spark.is_local else {})
    )
    conf |= {at_start(key): value for key, value in hadoop_conf(settings, root).items()}
    conf |= catalog_conf(settings, root) | spark.conf
    if not spark.is_local:
        return conf | _shipped(jars, spark.conf)
    return conf if may_have_extensions(spark) else {LOAD_EXTENSIONS: "false"} | conf


def runtime_conf(settings: Settings, root: Root) -> dict[str, str]:
    """Settings that connect a running session to this lake; each can be set at any time."""
    ours = catalog_conf(settings, root) | hadoop_conf(settings, root)
    return ours | {
        key: value for key, value in settings.spark.conf.items() if key.startswith("spark.sql.")
    }


def catalog_conf(settings: Settings, root: Root) -> dict[str, str]:
    """The catalog `lake`, the defaults of its tables, and the time zone."""
    properties = {"cache-enabled": "false"} | _catalog(settings, root)
    if keeps_tables_in_s3(settings, root):
        properties |= _s3_tables(with_profile_keys(settings.files))
    defaults = _TABLE_DEFAULTS | write_properties(settings.default_write)
    properties |= {f"table-default.{key}": value for key, value in defaults.items()}
    prefix = f"spark.sql.catalog.{CATALOG}"
    conf = {prefix: CATALOG_CLASS} | {f"{prefix}.{key}": value for key, value in properties.items()}
    return conf | {
        "spark.sql.defaultCatalog": CATALOG,
        "spark.sql.session.timeZone": settings.timezone,
    }


def hadoop_conf(settings: Settings, root: Root) -> dict[str, str]:
    """How Spark's own readers reach landing files in the bucket, and sources in other buckets."""
    if not reads_s3(settings, root):
        return {}
    files = with_profile_keys(settings.files)
    keys = {
        "impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "endpoint": files.endpoint,
        "endpoint.region": files.region,
        "path.style.access": str(files.path_style).lower(),
        "connection.ssl.enabled": str(not files.endpoint.startswith("http:")).lower(),
        "access.key": _open(files.access_key_id),
        "secret.key": _open(files.secret_access_key),
        "session.token": _open(files.session_token),
        "connection.establish.timeout": _milliseconds(files.timeout_seconds),
        "connection.timeout": _milliseconds(files.timeout_seconds),
        # Each of Hadoop's attempts is several of the client's: by default a silent server is asked
        # 35 times.
        "attempts.maximum": "3",
        "retry.limit": "3",
    }
    conf = {f"fs.s3a.{key}": value for key, value in keys.items() if value}
    return conf | {"fs.s3.impl": keys["impl"]}  # roots and sources begin with s3://


def redacted(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings with everything that may be a secret masked."""
    return {key: MASK if is_secret(key) else masked(value) for key, value in conf.items()}


def cores_of(master: str, cores: int) -> int:
    """How many tasks `local[…]` runs at once on a machine with this many cores."""
    found = re.match(r"local\[(\d+|\*)", master)
    if not found:
        return 1
    return cores if found[1] == "*" else int(found[1])


def _everywhere(settings: Settings) -> dict[str, str]:
    return {
        "spark.app.name": "lakebed",
        "spark.master": settings.spark.master,
        "spark.driver.memory": settings.spark.memory,
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",  # it has no password
        "spark.ui.showConsoleProgress": "false",
        "spark.redaction.regex": SECRET_WORD,
        **_KEPT,
        # Many files are listed by a job with up to 10,000 tasks, each of which takes longer to
        # start than to list.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "200",
    }


def _listening(spark: SparkSettings) -> dict[str, str]:
    """The driver listens on loopback unless executors on other machines must reach it."""
    # The loopback address also avoids looking up the host name, which takes seconds on some
    # machines.
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if spark.is_local:
        return loopback
    # If spark.driver.host is set, executors run elsewhere, and Spark listens on that address.
    return (
        loopback
        if _ON_LOOPBACK.fullmatch(spark.master) and "spark.driver.host" not in spark.conf
        else {}
    )


def _require_bound_pages(spark: SparkSettings) -> None:
    """Spark's web pages listen on every address unless one is chosen, unlike the driver's ports."""
    asked = spark.conf.get("spark.ui.enabled", "false").lower() == "true"
    if asked and "spark.driver.bindAddress" not in _listening(spark) | spark.conf:
        raise BadSettings(
            "spark.ui.enabled would open Spark's pages, which ask for no password, on all addresses"
            " of this machine.",
            where="spark.conf",
            next=(
                "Set spark.driver.bindAddress beside it: the address to listen on (0.0.0.0 for"
                " all)."
            ),
        )


def _local(cores: int, python: str) -> dict[str, str]:
    conf = {
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        TASKS_AT_ONCE: str(cores),
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(4 * cores),
        # Files are near, and quickly opened: a task takes many small ones.
        "spark.sql.files.openCostInBytes": str(256 * 1024),
    }
    return conf | ({"spark.pyspark.python": python} if python else {})


def _shipped(jars: Iterable[Path], told: Mapping[str, str]) -> dict[str, str]:
    """The jars that the driver ships to a cluster's workers: ours and the user's."""
    own = told.get("spark.jars")
    return {"spark.jars": ",".join([*map(str, jars), *([own] if own else [])])}


def _catalog(settings: Settings, root: Root) -> dict[str, str]:
    catalog = settings.catalog
    if isinstance(catalog, RestCatalog):
        return _rest(catalog)
    jdbc = {"type": "jdbc", "jdbc.schema-version": "V1", "warehouse": root.url}
    if isinstance(catalog, PostgresCatalog):
        access = {
            "uri": f"jdbc:{catalog.url}",
            "jdbc.user": catalog.user,
            "jdbc.password": _open(catalog.password),
        }
        limits = jdbc_limits(catalog.timeout_seconds, pooler=catalog.pooler)
        told = {"ApplicationName": "lakebed spark"} | limits
        # One connection per session: a run commits its tables one after another.
        access |= {f"jdbc.{key}": value for key, value in told.items()} | {"clients": "1"}
        return jdbc | {key: value for key, value in access.items() if value}
    database = f"{root.folder}/{DATABASE_FILE}"
    # One connection: SQLite has one writer, and others would only wait.
    return jdbc | {
        "uri": f"jdbc:sqlite:{database}?journal_mode=WAL&busy_timeout=30000",
        "clients": "1",
    }


def _rest(catalog: RestCatalog) -> dict[str, str]:
    properties = {
        "type": "rest",
        "uri": catalog.url,
        "warehouse": catalog.warehouse,
        "credential": _open(catalog.credential),
        "scope": catalog.scope if catalog.credential else "",
        "oauth2-server-uri": catalog.oauth2_server_uri,
        "rest.client.connection-timeout-ms": str(CONNECT_SECONDS * 1000),
        "rest.client.socket-timeout-ms": _milliseconds(catalog.timeout_seconds),
    }
    return {key: value for key, value in properties.items() if value}


def _s3_tables(files: FilesSettings) -> dict[str, str]:
    properties = {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": files.endpoint,
        "s3.path-style-access": str(files.path_style).lower(),
        "s3.access-key-id": _open(files.access_key_id),
        "s3.secret-access-key": _open(files.secret_access_key),
        "s3.session-token": _open(files.session_token),
        "client.region": files.region,
        "http-client.apache.connection-timeout-ms": str(CONNECT_SECONDS * 1000),
        "http-client.apache.socket-timeout-ms": _milliseconds(files.timeout_seconds),
    }
    return {key: value for key, value in properties.items() if value}


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))


def _open(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
