"""A process that cares for a lake as it will be after some days, until somebody kills it."""

import sys
from datetime import UTC, datetime, timedelta

from lakebed.app import open_lake

if __name__ == "__main__":
    with open_lake(sys.argv[1]) as lake:
        print("ready", flush=True)
        result = lake.care(orphans=True, now=datetime.now(UTC) + timedelta(days=float(sys.argv[2])))
        print("done" if result.ok else result.entries, flush=True)
