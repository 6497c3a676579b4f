"""A writer in a process of its own: publishes two tables together, again and again."""

from pathlib import Path

from lakebed.app import open_lake
from lakebed.names import new_run_id
from tests.support.benches import ids
from tests.support.lakes.query_lakes import bench_of
from tests.support.tables import publish_branch

ROWS = 10


def publish_together(folder: str, rounds: int) -> None:
    """Each round adds rows to branches of both tables and publishes both in one step: six
    commits.
    """
    with open_lake(
        Path(folder), environment={"LAKEBED_CACHE": str(Path(folder).parent / "cache")}
    ) as lake:
        bench = bench_of(lake)
        for number in range(rounds):
            branch = f"run_{number}"
            for name in ("left_side", "right_side"):
                table = bench.iceberg.load_table(("shop", "silver", name))
                head = table.metadata.current_snapshot_id
                assert head is not None
                table.manage_snapshots().create_branch(head, branch).commit()
                table.append(ids(range((number + 1) * ROWS, (number + 2) * ROWS)), branch=branch)
            publish_branch(lake, ["left_side", "right_side"], branch=branch, run_id=new_run_id())
        bench.close()
