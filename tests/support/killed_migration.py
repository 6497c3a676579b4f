"""Migrates a table in a process of its own and kills it (SIGKILL) before it publishes a batch, once
the rows of that batch are written.

`killed_migration.py LAKE TABLE PARTITION_BY BATCH_SIZE BATCH`
"""

import os
import signal
import sys
from typing import Any

from lakebed.app import open_lake
from lakebed.engines.iceberg.upkeep.replacing import IcebergSnapshotWriter


def main() -> None:
    folder, table, partition_by, size, last = sys.argv[1:6]
    replacing, calls = IcebergSnapshotWriter.replacing, 0

    def die(self: IcebergSnapshotWriter, *arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == int(last):
            os.kill(os.getpid(), signal.SIGKILL)
        return replacing(self, *arguments, **options)

    IcebergSnapshotWriter.replacing = die  # type: ignore[method-assign]
    with open_lake(folder) as lake:
        lake.tables.migrate(table, partition_by=partition_by, batch_size=size)


if __name__ == "__main__":
    main()
