"""Care while somebody reads and others commit: no reader loses a file."""

from pathlib import Path

from lakebed.settings import Root
from tests.support.lakes.care_lakes import CareLake

EXPIRE = {"only": ["expire_snapshots", "finish_removal"]}


def test_readers_of_former_and_present_states_keep_their_files_while_others_commit(
    tmp_path: Path,
) -> None:
    cared = CareLake(Root.parse(tmp_path / "lake"), settings={"care": {"snapshot_max_age_days": 1}})
    cared.make("silver.orders", range(10))
    first = cared.meta("silver.orders").refs["main"].snapshot
    cared.overwrite("silver.orders", [20])
    former = cared.lake.table("silver.orders", at=first)
    present = cared.lake.table("silver.orders")
    query = cared.lake.query("SELECT id FROM orders ORDER BY id", at=first)
    reader = former.to_arrow_batches(rows=1)
    reader.read_next_batch()
    cared.overwrite("silver.orders", [30])  # by PyIceberg: no event, no lease

    cared.care(days=0.9, **EXPIRE)
    assert present.to_arrow()["id"].to_pylist() == [20]
    cared.care(days=9, **EXPIRE)
    assert cared.rows("silver.orders", first) == list(range(10))
    reader.read_all()
    cared.care(days=9, **EXPIRE)
    assert query.to_arrow()["id"].to_pylist() == list(range(10)), "the query still reads it"
    cared.care(days=9, **EXPIRE)
    assert set(cared.meta("silver.orders").snapshots) == {
        cared.meta("silver.orders").refs["main"].snapshot
    }
    assert cared.files() >= cared.reached()
    cared.lake.close()
