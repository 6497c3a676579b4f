"""What every catalog promises to first runs, and to whoever takes up after runs that died."""

import pytest

from lakebed.errors import Diverged
from lakebed.names import TableName, new_run_id
from lakebed.ports import RemoveRef
from lakebed.tables import Ask, amend, publish
from tests.contracts.benches import Bench


def hidden_table(bench: Bench) -> tuple[TableName, TableName]:
    """A table that a first run has filled, and the name it is meant for."""
    hidden = bench.table(f"run_{new_run_id()}")
    bench.write(hidden, [1, 2])
    return hidden, TableName(hidden.namespace, hidden.layer, f"orders_{new_run_id()[:12]}")


def test_a_first_runs_table_gets_its_name_when_it_is_published(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    assert orders not in bench.catalog.pointers()
    publish(bench.catalog, [Ask(hidden, "main", becomes=orders)], run_id=new_run_id())
    assert bench.rows(orders) == [1, 2]
    assert hidden not in bench.catalog.pointers([hidden, orders])


def test_publishing_a_first_run_twice_is_publishing_it_once(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    run_id = new_run_id()
    first = publish(bench.catalog, [Ask(hidden, "main", becomes=orders)], run_id=run_id)
    assert publish(bench.catalog, [Ask(hidden, "main", becomes=orders)], run_id=run_id) == first
    assert bench.rows(orders) == [1, 2]


def test_a_name_that_somebody_took_meanwhile_is_not_overwritten(bench: Bench) -> None:
    hidden, _ = hidden_table(bench)
    taken = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(taken, [9])
    with pytest.raises(Diverged):
        publish(bench.catalog, [Ask(hidden, "main", becomes=taken)], run_id=new_run_id())
    assert bench.rows(taken) == [9]


def test_a_first_run_and_a_later_one_are_published_together(bench: Bench) -> None:
    hidden, orders = hidden_table(bench)
    customers = bench.table(f"customers_{new_run_id()[:12]}")
    bench.write(customers, [5])
    bench.write(customers, [6], branch="run_1")
    publish(bench.catalog, [Ask(customers, "run_1"), Ask(hidden, "main", becomes=orders)], run_id=new_run_id())
    assert (bench.rows(orders), bench.rows(customers)) == ([1, 2], [5, 6])


def test_an_unchanged_branch_goes_and_the_ref_stays(bench: Bench) -> None:
    table = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(table, [1])
    bench.write(table, [2], branch="run_1")
    publish(bench.catalog, [Ask(table, "run_1", unchanged=True)], run_id=new_run_id())
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


def test_the_newest_value_of_a_column_is_known_from_a_snapshot(bench: Bench) -> None:
    table = bench.table(f"orders_{new_run_id()[:12]}")
    bench.write(table, [3, 7])
    metadata = bench.catalog.metadata(bench.catalog.pointers([table]).values())[table]
    then = metadata.refs["main"].snapshot
    bench.write(table, [11])
    assert bench.catalog.newest_value(table, snapshot=then, column="id") == 7
