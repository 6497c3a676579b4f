"""Runs a lake's pipelines in a process of its own and kills it (SIGKILL) at a step boundary.

`killed.py LAKE WHEN STEP`, or `killed.py LAKE WHEN STEP full_refresh`.
"""

import os
import signal
import sys

from lakebed.app import open_lake
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import RunStep


def main() -> None:
    folder, when, step = sys.argv[1:4]

    def die(run_id: str, reached: RunStep, moment: str) -> None:
        if reached.kind == step and moment == when:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_lake(folder) as lake:
        lake.run(full_refresh="full_refresh" in sys.argv, listener=RunListener(on_step=die))


if __name__ == "__main__":
    main()
