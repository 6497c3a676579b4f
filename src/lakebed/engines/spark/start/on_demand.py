"""What Spark and pyspark load at every start, loaded only by those who use it."""

import importlib.abc
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

from lakebed.settings import SparkSettings

# Makes Spark look for extensions on the class path at its start. Spark's own jars bring one: the
# functions of its machine learning, which take a second to register.
LOAD_EXTENSIONS = "spark.sql.extensions.test.loadFromCp"
_LEARNING = ("pyspark.ml", "pyspark.mllib")
_FUNCTIONS = "org.apache.spark.sql.ml.InternalFunctionRegistration$"


def may_have_extensions(spark: SparkSettings) -> bool:
    """Whether jars of the user are on the class path, which may bring extensions.

    Spark's launcher adds those of spark-defaults.conf.
    """
    return bool(spark.jars) or not (spark.direct_launch and spark.has_own_functions_only)


def announce_machine_learning() -> None:
    """Register the functions of Spark's machine learning once its Python package is imported, now
    if it already is.
    """
    if any(name in sys.modules for name in _LEARNING):
        _register()
    elif not any(isinstance(finder, _LearningFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _LearningFinder())


class _LearningFinder(importlib.abc.MetaPathFinder):
    """Finds nothing; told of every import, it notices that of `pyspark.ml`."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> None:
        if fullname in _LEARNING:
            _register()


def _register() -> None:
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    with suppress(Exception):  # without a JVM, or when it has died, there is nothing to register
        jvm.java.lang.Class.forName(_FUNCTIONS)  # loading the class registers them


def spare_pandas() -> None:
    """Keep pyspark from importing pandas at its first call, in order to learn whether there is
    NumPy: a value of NumPy's can only exist if NumPy is imported.
    """
    from pyspark.sql import types

    checks = {
        types.NumpyScalarConverter: _is_numpy_scalar,
        types.NumpyArrayConverter: _is_numpy_array,
    }
    for converter, check in checks.items():
        setattr(converter, "can_convert", check)  # noqa: B010 - a type checker knows no other way


def _is_numpy_scalar(_: Any, value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _is_numpy_array(_: Any, value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray) and value.ndim == 1
