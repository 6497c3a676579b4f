"""What every catalog promises to first runs, and to whoever takes up after runs that died."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from pyiceberg.exceptions import NamespaceAlreadyExistsError
from sqlalchemy.exc import SQLAlchemyError

from lakebed.errors import Diverged, TableDropped
from lakebed.names import TableName, new_run_id
from lakebed.ports import RemoveRef
from lakebed.tables import PublishRequest, amend, publish
from tests.support.benches import Bench, RealBench
from tests.support.scale import SCALE


def hidden_table(bench: Bench) -> tuple[TableName, TableName]:
    """A table that a first run has filled, and the name it is meant for."""
    hidden = bench.table(f"run_{new_run_id()}")
    bench.write(hidden, [1, 2])
    return hidden, TableName(hidden.namespace, hidden.layer, f"orders_{new_run_id()[:12]}")


def test_first_runs_that_make_a_namespace_at_the_same_time_all_go_on(
    atomic_bench: RealBench,
) -> None:
    """Of a new lake's first pipelines, run in parallel, one made the namespace and others
    failed.
    """
    layers = ("bronze", "silver", "silver", "gold")
    start = threading.Barrier(len(layers) + 1, timeout=30)

    def ours(namespace: str, layer: str) -> None:
        start.wait()
        atomic_bench.catalog.create_namespace(namespace, layer)

    def foreign(namespace: str) -> None:
        start.wait()
        with suppress(
            NamespaceAlreadyExistsError, SQLAlchemyError
        ):  # theirs may fail; ours must not
            atomic_bench.iceberg.create_namespace((namespace,))

    with ThreadPoolExecutor(len(layers) + 1) as pool:
        for number in range(15 * SCALE):
            name = f"{atomic_bench.namespace}_{number}"
            others = [pool.submit(foreign, name)]
            for made in [*(pool.submit(ours, name, layer) for layer in layers), *others]:
                made.result()
            assert set(atomic_bench.iceberg.list_namespaces((name,))) >= {
                (name, layer) for layer in layers
            }


def test_a_first_runs_table_gets_its_name_when_it_is_published(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    assert orders not in bench.catalog.pointers()
    publish(bench.catalog, [PublishRequest(hidden, "main", becomes=orders)], run_id=new_run_id())
    assert bench.rows(orders) == [1, 2]
    assert hidden not in bench.catalog.pointers([hidden, orders])


def test_publishing_a_first_run_twice_is_publishing_it_once(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    run_id = new_run_id()
    first = publish(bench.catalog, [PublishRequest(hidden, "main", becomes=orders)], run_id=run_id)
    assert (
        publish(bench.catalog, [PublishRequest(hidden, "main", becomes=orders)], run_id=run_id)
        == first
    )
    assert bench.rows(orders) == [1, 2]


def test_a_name_that_somebody_took_meanwhile_is_not_overwritten(bench: Bench) -> None:
    hidden, _ = hidden_table(bench)
    taken = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(taken, [9])
    with pytest.raises(Diverged):
        publish(bench.catalog, [PublishRequest(hidden, "main", becomes=taken)], run_id=new_run_id())
    assert bench.rows(taken) == [9]


def test_a_first_run_and_a_later_one_are_published_together(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    customers = bench.table(f"customers_{new_run_id()[:12]}")
    bench.write(customers, [5])
    bench.write(customers, [6], branch="run_1")
    publish(
        bench.catalog,
        [PublishRequest(customers, "run_1"), PublishRequest(hidden, "main", becomes=orders)],
        run_id=new_run_id(),
    )
    assert (bench.rows(orders), bench.rows(customers)) == ([1, 2], [5, 6])


def test_an_unchanged_branch_goes_and_the_ref_stays(bench: Bench) -> None:
    table = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    publish(bench.catalog, [PublishRequest(table, "run_1", unchanged=True)], run_id=new_run_id())
    assert bench.rows(table) == [1]
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    assert set(metadata.refs) == {"main"}


def test_a_publication_may_move_nothing_and_is_still_written_down(bench: Bench) -> None:
    run_id = new_run_id()
    publish(bench.catalog, [], run_id=run_id)
    assert bench.catalog.published(run_id) is not None


def test_tidying_removes_branches_and_leaves_main(bench: Bench) -> None:
    table = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    amend(bench.catalog, table, [RemoveRef("run_1"), RemoveRef("run_never")])
    amend(bench.catalog, table, [RemoveRef("run_1")])
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    assert set(metadata.refs) == {"main"}
    assert bench.rows(table) == [1]


def test_a_dropped_table_is_gone_and_dropping_it_again_is_no_error(bench: Bench) -> None:
    hidden, _ = hidden_table(bench)
    bench.catalog.purge(hidden)
    bench.catalog.purge(hidden)
    assert hidden not in bench.catalog.pointers([hidden])


def test_purging_a_first_runs_table_that_is_published_meanwhile_keeps_the_published_rows(
    atomic_bench: RealBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The COMMIT of a run whose answer was lost lands when whoever takes up after it has just
    looked.
    """
    catalog = atomic_bench.catalog
    hidden, orders = hidden_table(atomic_bench)
    look = catalog.pointers

    def published_after_the_look(*given: Any, **options: Any) -> Any:
        found = look(*given, **options)
        monkeypatch.setattr(catalog, "pointers", look)
        publish(catalog, [PublishRequest(hidden, "main", becomes=orders)], run_id=new_run_id())
        return found

    monkeypatch.setattr(catalog, "pointers", published_after_the_look)
    catalog.purge(hidden)
    assert atomic_bench.rows(orders) == [1, 2]


def test_purging_a_hidden_table_keeps_tables_that_lie_in_its_folder(
    atomic_bench: RealBench,
) -> None:
    hidden, orders = hidden_table(atomic_bench)
    folder = atomic_bench.root.at(hidden.folder)
    schema = atomic_bench.iceberg.load_table(hidden.parts).schema()
    atomic_bench.iceberg.create_table(orders.parts, schema, location=f"{folder}/inside")
    atomic_bench.write(orders, [3])
    dropped = TableName(orders.namespace, orders.layer, f"{orders.name}_dropped")
    atomic_bench.iceberg.create_table(dropped.parts, schema, location=folder)
    atomic_bench.write(dropped, [4])
    gone = atomic_bench.catalog.drop(dropped)
    atomic_bench.catalog.purge(hidden)
    assert hidden not in atomic_bench.catalog.pointers()
    assert gone
    atomic_bench.catalog.restore(gone, dropped)
    assert (atomic_bench.rows(orders), atomic_bench.rows(dropped)) == ([3], [4])


def test_the_newest_value_of_a_column_is_known_from_a_snapshot(bench: Bench) -> None:
    table = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(table, [3, 7])
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    then = metadata.refs["main"].snapshot
    bench.write(table, [11])
    assert bench.catalog.newest_value(table, snapshot=then, column="id") == 7
    bench.catalog.purge(table)
    with pytest.raises(TableDropped):
        bench.catalog.newest_value(table, snapshot=then, column="id")
