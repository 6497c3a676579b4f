"""Replaces part of a table in a process of its own and kills it (SIGKILL) at a step boundary.

`killed_write.py LAKE TABLE ROWS.parquet CONDITION WHEN STEP`.
"""

import os
import signal
import sys

from pyarrow.parquet import read_table

from lakebed.app import open_lake
from lakebed.pipelines import RunListener
from lakebed.pipelines.options import ManualChange, RunOptions
from lakebed.pipelines.planning.steps import RunStep
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.manual import WriteOptions, apply_manual_change, manual_spec


def main() -> None:
    folder, name, file, where, when, step = sys.argv[1:7]

    def die(run_id: str, reached: RunStep, moment: str) -> None:
        if reached.kind == step and moment == when:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_lake(folder) as lake:
        options = WriteOptions("overwrite", where=where)
        spec = manual_spec(lake.tables.find(name), options, pipeline=None, release="")
        change = ManualChange(frame=read_table(file))
        asked = RunOptions(manual_change=change, listener=RunListener(on_step=die))
        apply_manual_change(Build({}, lake._run_services, asked), spec)


if __name__ == "__main__":
    main()
