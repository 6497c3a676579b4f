"""Datasets in a bucket: the same promises as in a folder."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pyarrow as pa
import pytest

from lakebed.engines.files import open_files
from lakebed.kartothek import (
    DatasetOptions,
    collect_garbage,
    copy,
    datasets,
    delete,
    load_state,
    plan_read,
    read_table,
    store,
    update,
)
from lakebed.ports.files.files import Files
from lakebed.testing.files import MemoryFiles
from tests.kartothek.locations import paths
from tests.servers.s3 import S3Server
from tests.support.scale import SCALE

pytestmark = pytest.mark.s3
WRITERS = 4
COMMITS = 100 if SCALE > 1 else 3  # of each writer


@pytest.fixture
def files(seaweed: S3Server) -> Files:
    place = seaweed.fresh_prefix()
    return open_files(place.root, place.settings)


def test_no_commit_of_several_writers_is_lost(files: Files) -> None:
    store(files, "d", pa.table({"x": [-1]}), options=DatasetOptions(indexed=("x",)))

    def append(writer: int) -> None:
        for number in range(COMMITS):
            update(files, "d", pa.table({"x": [writer * 1000 + number]}))

    with ThreadPoolExecutor(WRITERS) as threads:
        writers = [threads.submit(append, number) for number in range(WRITERS)]
        rows = 1
        while not all(writer.done() for writer in writers):
            found = read_table(files, "d").num_rows
            assert found >= rows
            rows = found
        for writer in writers:
            writer.result()
    expected = sorted(w * 1000 + n for w in range(WRITERS) for n in range(COMMITS))
    assert sorted(read_table(files, "d")["x"].to_pylist()) == [-1, *expected]
    assert read_table(files, "d", predicates=[[("x", "in", expected)]]).num_rows == len(expected)


def test_a_dataset_lives_and_goes_in_a_bucket(files: Files) -> None:
    frame = pa.table({"k": ["a/b", "ü", "1=2"], "x": [1, 2, 3]})
    store(files, "d", frame, options=DatasetOptions(("k",), ("x",)))
    found = read_table(files, "d", predicates=[[("k", "==", "a/b")], [("x", "==", 2)]])
    assert sorted(found["k"].to_pylist()) == ["a/b", "ü"]
    update(files, "d", delete_scope=[{"x": 3}])
    assert len(collect_garbage(files, "d", older_than=timedelta(0))) == 2
    assert load_state(files, "d").files <= paths(files)
    copy(files, "d", to=MemoryFiles())
    copy(files, "d", to=files, as_uuid="twin")
    delete(files, "d")
    assert datasets(files) == ("twin",)
    assert len(plan_read(files, "twin", predicates=[[("x", "==", 1)]]).partitions) == 1
