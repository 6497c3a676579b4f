"""Spark with Iceberg: the one place that starts it. Importing this does not import pyspark."""

from lakebed.engines.spark.compute import SparkCompute
from lakebed.engines.spark.conf import redacted, session_conf
from lakebed.engines.spark.frames import Staging
from lakebed.engines.spark.jars.fetch import local_jars
from lakebed.engines.spark.jars.pinned import ALL_JARS, Jar, absent, needed_jars, reads_s3
from lakebed.engines.spark.progress import watch
from lakebed.engines.spark.remote import adopt
from lakebed.engines.spark.session import (
    another_session,
    cancel_jobs,
    close_session,
    end_ahead,
    open_session,
    start_ahead,
)
from lakebed.engines.spark.start.java import Java, find_java

__all__ = [
    "ALL_JARS",
    "Jar",
    "Java",
    "SparkCompute",
    "Staging",
    "absent",
    "adopt",
    "another_session",
    "cancel_jobs",
    "close_session",
    "end_ahead",
    "find_java",
    "local_jars",
    "needed_jars",
    "open_session",
    "reads_s3",
    "redacted",
    "session_conf",
    "start_ahead",
    "watch",
]
