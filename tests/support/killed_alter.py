"""Alters a table in a process of its own and kills it (SIGKILL) once Spark has committed.

`killed_alter.py LAKE STATEMENT`
"""

import os
import signal
import sys

from lakebed.app import open_lake
from lakebed.engines.database.state.records import DatabaseRecords
from lakebed.ports import Event, RunRecord


def _die(self: DatabaseRecords, record: RunRecord, *events: Event) -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return False


def main() -> None:
    folder, statement = sys.argv[1:3]
    with open_lake(folder) as lake:
        DatabaseRecords.close = _die  # type: ignore[method-assign]
        lake.execute(statement)


if __name__ == "__main__":
    main()
