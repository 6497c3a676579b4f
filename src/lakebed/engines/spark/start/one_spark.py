"""A process has one Spark: what a lake needs to share it."""

import sys
from pathlib import Path

from lakebed.engines.spark.conf import runtime_conf
from lakebed.engines.spark.secrets import would_log_secret
from lakebed.engines.spark.start.local_spark import LocalSpark
from lakebed.errors import UsageError
from lakebed.settings import Root, Settings, masked


def require_compatible(
    local: LocalSpark, settings: Settings, root: Root, jars: tuple[Path, ...]
) -> None:
    """Raise if this lake cannot share the Spark that runs for another one."""
    running = local.launch.conf["spark.master"]
    if running != settings.spark.master:
        raise UsageError(
            f"this process runs Spark on {running} for another lake, and this lake wants"
            f" {masked(settings.spark.master)}.",
            next="Close the other lake first, or use another process.",
        )
    if lacking := [jar.name for jar in jars if jar not in local.launch.jars]:
        raise UsageError(
            f"this process runs Spark for another lake, without {', '.join(lacking)}.",
            next="Close the other lake first, or use another process.",
        )
    if would_log_secret(runtime_conf(settings, root), local.launch.conf):
        raise UsageError(
            "this process runs Spark for another lake, and its event log would show this lake's"
            " secrets.",
            next="Close the other lake first, or use another process.",
        )


def require_no_other_spark() -> None:
    """A process has one Spark: if the user started it, the session must be passed to Lakebed."""
    pyspark = sys.modules.get("pyspark")
    if pyspark and pyspark.SparkContext._active_spark_context:
        raise UsageError(
            "this process already has a Spark session.",
            next="Pass it to Lakebed: lakebed.open(…, spark=session)",
        )
