"""The Python side of a JVM: attaching pyspark to it, and detaching it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from lakebed.engines.spark.start.on_demand import announce_machine_learning, spare_pandas

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def attach(port: int, secret: str) -> Any:
    """pyspark's gateway to a JVM that we started."""
    from pyspark.java_gateway import launch_gateway

    with environment_with({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
        return launch_gateway()  # type: ignore[no-untyped-call]


def first_session(gateway: Any, *, python: str) -> "SparkSession":
    """The JVM's first session; `python` is the interpreter for Python functions, if given."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    spare_pandas()
    with environment_with({"PYSPARK_PYTHON": python} if python else {}):
        SparkContext._ensure_initialized(gateway=gateway)
        session = SparkSession.builder.getOrCreate()
    announce_machine_learning()
    return session


def forget(gateway: Any, *, runs: bool) -> None:
    """Detach pyspark from this JVM, so that another can follow in the process; its context is
    stopped if it `runs`.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._gateway is gateway:
        with suppress(Exception), catch_warnings(action="ignore"):  # the JVM may die meanwhile
            if context := SparkContext._active_spark_context:
                context._jsc = context._jsc if runs else None
                context.stop()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
    with suppress(Exception):
        gateway.shutdown()


def close_catalog(session: "SparkSession", name: str) -> None:
    """Close the database connections of a session's catalog; the session cannot be used afterwards.

    Spark never closes a catalog: the connections of every session would stay open.
    """
    java: Any = session._jsparkSession
    jvm: Any = session._jvm
    with suppress(Exception):  # the JVM may die meanwhile, and its connections with it
        catalogs = java.sessionState().catalogManager()
        loaded = catalogs.listCatalogs(jvm.scala.Option.apply(name)).mkString("\n")
        if name in loaded.split("\n"):
            catalogs.catalog(name).icebergCatalog().close()


@contextmanager
def environment_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while: some settings of pyspark have no other way."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
