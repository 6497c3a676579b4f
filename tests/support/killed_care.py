"""A process that cares for a lake as it will be after some days, and tells each step and file,
until somebody kills it.
"""

import sys
from datetime import UTC, datetime, timedelta

from lakebed.app import open_lake
from lakebed.care import CareListener

if __name__ == "__main__":
    with open_lake(sys.argv[1]) as lake:
        told = CareListener(
            on_start=lambda step: print(step.action, flush=True),
            on_progress=lambda done, _: print(done, flush=True),
        )
        lake.care(
            orphans=True, now=datetime.now(UTC) + timedelta(days=float(sys.argv[2])), listener=told
        )
