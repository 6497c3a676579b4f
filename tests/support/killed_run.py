"""Runs a lake's pipelines in a process of its own and kills it (SIGKILL) at a step boundary, or
between two effects of a step.

`killed_run.py LAKE WHEN STEP`, and as options `full_refresh`, `together`, `second` to die when the
step is reached a second time, `times=3` for a third, `NAME:START:END` to backfill, and `appends` if
somebody else appends a row to the table just before it is published. WHEN is `before`, `after`, or
the number of the effect before which the process dies.
"""

import os
import signal
import sys

import pyarrow as pa

from lakebed.app import Lake, open_lake
from lakebed.names import TableName
from lakebed.pipelines import RunListener
from lakebed.pipelines.planning.steps import Publish, RunStep
from tests.support.effects import Effects


def append_by_others(lake: Lake, table: TableName) -> None:
    """As programs do that know nothing of Lakebed."""
    loaded = lake.iceberg.load_table(table.parts)
    loaded.append(pa.Table.from_pylist([{"id": 100}], schema=loaded.schema().as_arrow()))


def main() -> None:
    place, when, step = sys.argv[1:4]
    watched: list[Effects] = []
    times = next((int(one[6:]) for one in sys.argv if one.startswith("times=")), 1)
    reached_before = iter([True] * (1 if "second" in sys.argv else times - 1))
    backfill = next((one.split(":") for one in sys.argv[4:] if ":" in one), [])
    name, start, end = backfill or ("", None, None)
    others = iter([append_by_others] if "appends" in sys.argv else [])

    def die(run_id: str, reached: RunStep, moment: str) -> None:
        if reached.kind == step and moment == when and not next(reached_before, False):
            os.kill(os.getpid(), signal.SIGKILL)
        if reached.kind == step and when.isdigit() and not watched:
            watched.append(Effects(int(when)))
            watched[0].watch()
        if isinstance(reached, Publish) and moment == "before" and (append := next(others, None)):
            append(lake, reached.table)

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
