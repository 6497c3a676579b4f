"""The processes in which Spark runs a borrower's Python functions.

Spark keeps them, with every module they have imported: a later borrower would get old code.
"""

from typing import Any

BORROWER = "_LAKEBED_BORROWER"  # a variable of these processes; Spark keeps them apart by it


def end_python_workers(jvm: Any, name: str) -> None:
    """End the processes of one borrower."""
    environment = jvm.org.apache.spark.SparkEnv.get()
    field = environment.getClass().getDeclaredField("pythonWorkers")
    field.setAccessible(True)
    factories = field.get(environment)
    for key in _of_borrower(factories, name):
        factories.remove(key).get().stop()


def _of_borrower(factories: Any, name: str) -> list[Any]:
    keys, found = factories.keySet().toList(), []
    for position in range(keys.size()):
        key = keys.apply(position)
        told = key.envVars().get(BORROWER)
        if told.isDefined() and told.get() == name:
            found.append(key)
    return found
