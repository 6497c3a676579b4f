"""Builds the layouts of a table in a process of its own and kills it (SIGKILL) at a step boundary,
or between two effects of a step.

`killed_layouts.py LAKE TABLE WHEN ACTION`, where WHEN is `before`, `after`, or the number of the
effect before which the process dies. With a further argument of JSON that layout is added first,
and the process dies before that effect of it; its ACTION is `add`.
"""

import json
import os
import signal
import sys

from lakebed.app import open_lake
from lakebed.derived.building.steps import LayoutDone, LayoutListener, LayoutStep
from tests.support.effects import Effects


def main() -> None:
    folder, table, when, action, *more = sys.argv[1:]

    def reached(step: LayoutStep, moment: str) -> None:
        if step.action != action:
            return
        if moment == when:
            os.kill(os.getpid(), signal.SIGKILL)
        if moment == "before" and when.isdigit():
            Effects(int(when)).watch()

    def ended(step: LayoutStep, _: LayoutDone) -> None:
        reached(step, "after")

    listener = LayoutListener(on_start=lambda step: reached(step, "before"), on_end=ended)
    with open_lake(folder) as lake:
        if action == "add":
            Effects(int(when)).watch()
            lake.layouts.add(table, **json.loads(more[0]))
        else:
            lake.layouts.build(table, listener=listener)


if __name__ == "__main__":
    main()
