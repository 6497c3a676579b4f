"""The Python side of a JVM: pyspark is attached to one, and made to forget it."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def attach(port: int, secret: str) -> Any:
    """pyspark's gateway to a JVM that we started."""
    from pyspark.java_gateway import launch_gateway

    with environment_with({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}):
        return launch_gateway()  # type: ignore[no-untyped-call]


def first_session(gateway: Any, *, python: str) -> "SparkSession":
    """The JVM's first session; `python` runs its Python functions, if we may say which."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    threading.Thread(target=_load_ahead, daemon=True).start()
    with environment_with({"PYSPARK_PYTHON": python} if python else {}):
        SparkContext._ensure_initialized(gateway=gateway)
        return SparkSession.builder.getOrCreate()


def forget(gateway: Any, *, runs: bool) -> None:
    """Let pyspark forget this JVM, so that another may follow in the same process; its context is stopped there if it `runs`."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._gateway is gateway:
        with suppress(Exception), catch_warnings(action="ignore"):  # it may die meanwhile
            if context := SparkContext._active_spark_context:
                context._jsc = context._jsc if runs else None
                context.stop()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None
    with suppress(Exception):
        gateway.shutdown()


def close_catalog(session: "SparkSession", name: str) -> None:
    """End what a session's catalog keeps open, its connections to the database; nobody may use the session after this.

    Spark itself never closes a catalog: of every session its connections would stay.
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
    """Further environment variables for a while: pyspark can be told some things in no other way."""
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


def _load_ahead() -> None:
    """Import what pyspark needs for its first argument, pandas among it, while the JVM still builds the context."""
    with suppress(Exception):
        import pyspark.testing.utils  # noqa: F401
