"""Kartothek datasets written and read by Spark's executors.

Executors open the location themselves, so Lakebed must be installed where they run.
"""

from lakebed.engines.spark.kartothek.executors import SparkExecutors
from lakebed.engines.spark.kartothek.reading import spark_frame
from lakebed.engines.spark.kartothek.writing import write_files, write_frame

__all__ = ["SparkExecutors", "spark_frame", "write_files", "write_frame"]
