"""A publication whose answer is lost on the way: found by its run id, and never done twice."""

from pathlib import Path

import pytest

from lakebed.errors import CatalogUnreachable, LeaseHeld, LeaseLost
from lakebed.settings import PostgresCatalog, Root, Settings
from lakebed.tables import PublishRequest, hold_lease, publish
from tests.servers.lossy import Fate, faulty_way, lossy_way
from tests.servers.postgres import Database
from tests.servers.processes import LOOPBACK
from tests.support.benches import RealBench
from tests.support.workers import until

pytestmark = pytest.mark.postgres


def bench_at(port: int, database: Database, folder: Path, *, timeout: float = 30.0) -> RealBench:
    url = f"postgresql://{LOOPBACK}:{port}/{database.database}"
    catalog = PostgresCatalog.model_validate(
        database.catalog.model_dump() | {"url": url, "timeout_seconds": timeout}
    )
    return RealBench(Settings(catalog=catalog), Root.parse(folder), "shop")


RECORD = b"INSERT INTO lakebed_publications"


@pytest.mark.parametrize(
    ("lost", "fate"),
    [
        (b"COMMIT", "lose"),
        (b"UPDATE iceberg_tables", "lose"),
        (RECORD, "lose"),
        (b"COMMIT", "silence"),
        (RECORD, "deaf"),
    ],
)
def test_a_publication_whose_answer_is_lost_happens_exactly_once(
    database: Database, tmp_path: Path, lost: bytes, fate: Fate
) -> None:
    """Also where the network falls silent and never says that it is gone: the run would wait for
    ever.
    """
    direct = bench_at(database.port, database, tmp_path)
    direct.stores.database.prepare()
    tables = [direct.table(name) for name in ("a", "b")]
    for table in tables:
        direct.write(table, [0])
        direct.write(table, [1], branch="run_1")
    losses, recorded = 0, False

    def loses_the_first(sent: bytes) -> Fate:
        """Of commits only the one after the record: reading ends with a commit too."""
        nonlocal losses, recorded
        recorded = recorded or RECORD in sent
        loses = losses == 0 and lost in sent and (lost != b"COMMIT" or recorded)
        losses += loses
        return fate if loses else "carry"

    with faulty_way(database.port, fate=loses_the_first) as port:
        far = bench_at(port, database, tmp_path, timeout=1.0)
        done = publish(
            far.catalog, [PublishRequest(table, "run_1") for table in tables], run_id="r1"
        )
        far.close()
    assert losses == 1, "nothing was lost: the test proved nothing"
    assert direct.catalog.published("r1") == done
    assert [direct.rows(table) for table in tables] == [[0, 1], [0, 1]]
    metadata = direct.catalog.metadata(direct.catalog.pointers(tables).values())
    assert [len(metadata[table].snapshots) for table in tables] == [2, 2]
    direct.close()


@pytest.mark.parametrize("times", [1, 100])
def test_what_was_done_under_a_lease_has_not_failed_because_giving_it_back_gets_no_answer(
    database: Database, tmp_path: Path, times: int
) -> None:
    direct = bench_at(database.port, database, tmp_path)
    direct.stores.database.prepare()
    losses = 0

    def loses_giving_back(sent: bytes) -> bool:
        nonlocal losses
        loses = (
            losses < times
            and b"UPDATE lakebed_leases SET holder=" in sent
            and b"RETURNING" not in sent
        )
        losses += loses
        return loses

    with lossy_way(database.port, loses=loses_giving_back) as port:
        far = bench_at(port, database, tmp_path)
        with hold_lease(far.leases, "orders", holder="me", limit=60):
            pass
        far.close()
    assert losses == (1 if times == 1 else 3)
    left = direct.leases.holder("orders")
    assert (left is None) == (times == 1), (
        "asked again, it is given back; otherwise it lapses by itself"
    )
    direct.close()


def test_a_retry_does_not_meet_the_lease_that_its_own_process_could_not_give_back(
    database: Database, tmp_path: Path
) -> None:
    direct = bench_at(database.port, database, tmp_path)
    direct.stores.database.prepare()
    cut = False

    with lossy_way(database.port, loses=lambda _: cut) as port:
        far = bench_at(port, database, tmp_path)
        with hold_lease(far.leases, "orders", holder="run 1 of me", limit=60) as first:
            cut = True
        cut = False
        with pytest.raises(LeaseHeld, match="run 1 of me"):  # other processes cannot know
            direct.leases.acquire("orders", holder="you", limit=60)
        with hold_lease(far.leases, "orders", holder="run 2 of me", limit=60) as second:
            with pytest.raises(LeaseLost):
                far.leases.renew(first.lease)
            with pytest.raises(
                LeaseHeld, match="run 2 of me"
            ):  # another thread, while this one is at work
                far.leases.acquire("orders", holder="run 3 of me", limit=60)
            assert direct.leases.holder("orders") == second.lease
        assert direct.leases.holder("orders") is None
        far.close()
    direct.close()


def test_a_lease_that_passed_on_meanwhile_is_not_taken_from_its_new_holder(
    database: Database, tmp_path: Path
) -> None:
    direct = bench_at(database.port, database, tmp_path)
    direct.stores.database.prepare()
    cut = False
    with lossy_way(database.port, loses=lambda _: cut) as port:
        far = bench_at(port, database, tmp_path)
        with hold_lease(far.leases, "orders", holder="me", limit=0.4):
            cut = True
        cut = False
        until(lambda: direct.leases.holder("orders") is None, seconds=10)
        theirs = direct.leases.acquire("orders", holder="you", limit=60)
        with pytest.raises(LeaseHeld, match="you"):
            far.leases.acquire("orders", holder="me", limit=60)
        assert direct.leases.holder("orders") == theirs
        far.close()
    direct.close()


@pytest.mark.parametrize("fate", ["lose", "silence"])
def test_a_retry_does_not_meet_the_lease_that_its_own_process_took_without_learning_of_it(
    database: Database, tmp_path: Path, fate: Fate
) -> None:
    direct = bench_at(database.port, database, tmp_path)
    direct.stores.database.prepare()
    direct.leases.release(direct.leases.acquire("known", holder="you", limit=60))
    asked: list[str] = []

    def loses_the_commit_of_taking(sent: bytes) -> Fate:
        if b"INSERT INTO lakebed_leases" in sent or (
            b"UPDATE lakebed_leases" in sent and b"known" in sent
        ):
            asked.append("taken")
        if asked == ["taken"] and b"COMMIT" in sent:
            asked.append("lost")
            return fate
        return "carry"

    for name in ("known", "new"):
        asked.clear()
        with faulty_way(database.port, fate=loses_the_commit_of_taking) as port:
            far = bench_at(port, database, tmp_path, timeout=1.0)
            with pytest.raises(CatalogUnreachable):
                far.leases.acquire(name, holder="run 1 of me", limit=60)
            assert asked == ["taken", "lost"]
            with pytest.raises(LeaseHeld, match="run 1 of me"):  # other processes cannot know
                direct.leases.acquire(name, holder="you", limit=60)
            with hold_lease(far.leases, name, holder="run 2 of me", limit=60) as held:
                assert direct.leases.holder(name) == held.lease
            far.close()
    direct.close()
