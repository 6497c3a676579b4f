"""All tables of a query are of one moment, whatever is published meanwhile."""

import multiprocessing
import threading
import time
from pathlib import Path

import pyarrow as pa

from lakebed.app import Lake
from tests.query.writing import ROWS, publish_together
from tests.support.benches import ids
from tests.support.lakes.query_lakes import add_table, bench_of, make_lake
from tests.support.scale import SCALE

READERS = 8
ASKED = """
SELECT count(*), count(DISTINCT id // 10), (SELECT count(*) FROM right_side), (SELECT max(id) FROM right_side), max(id)
FROM left_side
"""


def test_readers_see_whole_publications_while_a_writer_publishes(tmp_path: Path) -> None:
    """Each round is six commits; see test_lazy for many more of one table."""
    schema = pa.schema([pa.field("id", pa.int64())])
    with make_lake(tmp_path / "lake") as lake:
        bench = bench_of(lake)
        for name in ("left_side", "right_side"):
            add_table(bench, name, [ids(range(ROWS))], schema=schema)
        bench.close()
        rounds = 12 * SCALE
        writer = multiprocessing.get_context("spawn").Process(
            target=publish_together, args=(str(tmp_path / "lake"), rounds)
        )
        errors: list[BaseException] = []
        seen: set[int] = set()
        writer.start()
        readers = [
            threading.Thread(target=_read, args=(lake, writer, errors, seen))
            for _ in range(READERS)
        ]
        for reader in readers:
            reader.start()
        writer.join()
        for reader in readers:
            reader.join()
        assert errors == []
        assert writer.exitcode == 0
        assert len(seen) > 3
        assert lake.query(ASKED).fetchall() == [
            (ROWS * (rounds + 1), rounds + 1, ROWS * (rounds + 1), *2 * [ROWS * (rounds + 1) - 1])
        ]


def _read(
    lake: Lake,
    writer: multiprocessing.process.BaseProcess,
    errors: list[BaseException],
    seen: set[int],
) -> None:
    try:
        while writer.is_alive():
            ((left, batches, right, newest_right, newest_left),) = lake.query(ASKED)
            assert left == right == batches * ROWS
            assert newest_left == newest_right
            seen.add(left)
            time.sleep(0.05)  # the writer needs the processor too
    except BaseException as error:
        errors.append(error)
