"""The installed pyspark's folder, found without importing it: the import takes half a second."""

import importlib.metadata
import importlib.util
from functools import cache
from pathlib import Path

from lakebed.errors import MissingPart


@cache
def spark_home() -> Path:
    """The folder of the installed pyspark package, which contains all of Spark."""
    package = importlib.util.find_spec("pyspark")
    if (
        package is None
        or package.origin is None
        or not (home := Path(package.origin).parent).joinpath("jars").is_dir()
    ):
        raise MissingPart(
            "pyspark is not installed, or without its jars.",
            next="Install it with: pip install lakebed",
        )
    return home


@cache
def spark_version() -> str:
    return importlib.metadata.version("pyspark")
