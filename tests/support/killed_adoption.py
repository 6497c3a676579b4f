"""Adopts a folder in a process of its own and kills it (SIGKILL) at a step boundary.

`killed_adoption.py LAKE FOLDER TABLE WHEN STEP`.
"""

import os
import signal
import sys
from dataclasses import replace

from lakebed.app import open_lake
from lakebed.pipelines import RunListener
from lakebed.pipelines.definition.spec import PipelineSpec
from lakebed.pipelines.planning.steps import RunStep
from lakebed.pipelines.running import manual_writes
from lakebed.pipelines.running.builds.build_request import Build
from lakebed.pipelines.running.manual import apply_manual_change
from lakebed.ports import RunRecord


def main() -> None:
    lake_folder, folder, table, when, step = sys.argv[1:6]

    def die(run_id: str, reached: RunStep, moment: str) -> None:
        if reached.kind == step and moment == when:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(build: Build, spec: PipelineSpec) -> RunRecord:
        options = replace(build.options, listener=RunListener(on_step=die))
        return apply_manual_change(replace(build, options=options), spec)

    vars(manual_writes)["apply_manual_change"] = heard
    with open_lake(lake_folder) as lake:
        lake.adopt(folder, table)


if __name__ == "__main__":
    main()
