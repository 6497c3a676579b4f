"""Starting Spark's JVM before it is needed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from lakebed.settings import Root, Settings, logs_folder


@contextmanager
def jvm_ahead(settings: Settings, root: Root, environment: Mapping[str, str]) -> Iterator[None]:
    """While the block lasts a JVM boots for the session that will be opened in it; one that was not
    used is ended.
    """
    from lakebed.engines.spark import end_ahead, start_ahead

    logs = logs_folder(settings, root, environment)
    start_ahead(settings, root, environment=environment, logs=logs)
    try:
        yield
    finally:
        end_ahead()


class _Lake(Protocol):
    def spark_ahead(self) -> AbstractContextManager[None]: ...


_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_AnyLake = TypeVar("_AnyLake", bound=_Lake)
_Verb = Callable[Concatenate[_AnyLake, _Given], _Result]


def with_spark_ahead(verb: _Verb[_AnyLake, _Given, _Result]) -> _Verb[_AnyLake, _Given, _Result]:
    """A verb of a lake that needs Spark: its JVM boots while the verb loads and plans its work."""

    @wraps(verb)
    def with_jvm(lake: _AnyLake, /, *args: _Given.args, **options: _Given.kwargs) -> _Result:
        with lake.spark_ahead():
            return verb(lake, *args, **options)

    return with_jvm
