"""Runs a lake's pipelines in a process of its own and kills it (SIGKILL) at a step boundary, or
between two effects of a step.

`killed_run.py LAKE WHEN STEP`, and as options `full_refresh`, `together`, `second` to die when the
step is reached a second time, `times=3` for a third, and `NAME:START:END` to backfill. WHEN is `before`, `after`, or the number of the effect before which
the process dies.
"""

import os
import signal
import sys

from lakebed.app import open_lake
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import RunStep
from tests.support.effects import Effects


def main() -> None:
    place, when, step = sys.argv[1:4]
    watched: list[Effects] = []
    times = next((int(one[6:]) for one in sys.argv if one.startswith("times=")), 1)
    reached_before = iter([True] * (1 if "second" in sys.argv else times - 1))
    backfill = next((one.split(":") for one in sys.argv[4:] if ":" in one), [])
    name, start, end = backfill or ("", None, None)

    def die(run_id: str, reached: RunStep, moment: str) -> None:
        if reached.kind == step and moment == when and not next(reached_before, False):
            os.kill(os.getpid(), signal.SIGKILL)
        if reached.kind == step and when.isdigit() and not watched:
            watched.append(Effects(int(when)))
            watched[0].watch()

    with open_lake(place) as lake:
        lake.run(
            *filter(None, [name]),
            start=start,
            end=end,
            full_refresh="full_refresh" in sys.argv,
            together="together" in sys.argv,
            listener=RunListener(on_step=die),
        )


if __name__ == "__main__":
    main()
