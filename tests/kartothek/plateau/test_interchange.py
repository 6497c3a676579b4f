"""Datasets between Lakebed and plateau: each reads what the other wrote, or both did.

Lakebed's answers are compared with plain Python for every operator. plateau's are compared where it
has none of its known defects: it drops rows that lack a value in an indexed column, and raises for
`not in`, `is distinct from`, and the order of text that is missing in some rows.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plateau.io.eager as eager
import pytest
from minimalkv import get_store_from_url
from plateau.core.factory import DatasetFactory
from plateau.io_components.update import update_dataset_from_partitions

from lakebed import kartothek
from lakebed.engines.files import FolderFiles
from lakebed.kartothek import DatasetOptions, MetadataFormat
from tests.kartothek.predicate_cases import OPERATORS, satisfies

DATASET = "d"
TEXTS = ["a", "", "ü/日本", "z=1&%20", None]
COLUMNS: dict[str, list[Any]] = {
    "int": [-1, 0, 2**53 + 1],
    "uint": [0, 1, 2**63],
    "float": [0.5, -0.5, np.nan],
    "text": TEXTS,
    "bool": [True, False],
    "date": [date(2024, 2, 29), date(1969, 12, 31)],
    "time": [pd.Timestamp("2024-02-29 01:02:03.000004"), pd.NaT],
}
WHOLE = ["int", "uint", "bool", "date"]  # no value of these is missing
KEYS: list[tuple[str, ...]] = [(), ("key",), ("int",), ("date", "key")]
KEY_TEXTS = ["a", "ü 日本", "1=2"]  # plateau itself leaves a slash as it is


def frame(first: int, count: int = 7) -> Any:
    numbers = range(first, first + count)
    rows = {name: [values[n % len(values)] for n in numbers] for name, values in COLUMNS.items()}
    typed = pd.DataFrame({"row": list(numbers), "key": [KEY_TEXTS[n % 3] for n in numbers], **rows})
    return typed.astype({"uint": "uint64", "time": "datetime64[ns]"})


class Place:
    """A folder as a location of Lakebed, and as a store of plateau."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.files = FolderFiles(folder)
        self.store = partial(get_store_from_url, f"hfs://{folder}")

    def ours(self, frames: Any, keys: Any, indexed: Any) -> None:
        options = DatasetOptions(tuple(keys), tuple(indexed))
        kartothek.store(self.files, DATASET, frames, options=options)

    def theirs(self, frames: Any, keys: Any, indexed: Any) -> None:
        eager.store_dataframes_as_dataset(
            store=self.store,
            dataset_uuid=DATASET,
            dfs=frames,
            partition_on=list(keys),
            secondary_indices=list(indexed),
        )

    def ours_more(self, rows: Any) -> None:
        kartothek.update(self.files, DATASET, rows)

    def theirs_more(self, rows: Any) -> None:
        eager.update_dataset_from_dataframes([rows], store=self.store, dataset_uuid=DATASET)


def ours(place: Place, keys: Any, indexed: Any) -> None:
    place.ours([frame(0), frame(7)], keys, indexed)


def theirs(place: Place, keys: Any, indexed: Any) -> None:
    place.theirs([frame(0), frame(7)], keys, indexed)


def theirs_after_ours(place: Place, keys: Any, indexed: Any) -> None:
    place.ours([frame(0)], keys, indexed)
    place.theirs_more(frame(7))


def ours_after_theirs(place: Place, keys: Any, indexed: Any) -> None:
    place.theirs([frame(0)], keys, indexed)
    place.ours_more(frame(7))


def in_turns(place: Place, keys: Any, indexed: Any) -> None:
    place.ours([frame(0, 3)], keys, indexed)
    place.theirs_more(frame(3, 4))
    place.ours_more(frame(7, 3))
    place.theirs_more(frame(10, 4))


def segmented(place: Place, keys: Any, indexed: Any) -> None:
    """Appends to indices in segments, which plateau drops with its own commit."""
    options = DatasetOptions(tuple(keys), tuple(indexed), index_segments=True)
    kartothek.store(place.files, DATASET, [frame(0, 3)], options=options)
    place.ours_more(frame(3, 4))
    place.theirs_more(frame(7, 3))
    place.ours_more(frame(10, 4))


def segmented_alone(place: Place, keys: Any, indexed: Any) -> None:
    options = DatasetOptions(tuple(keys), tuple(indexed), index_segments=True)
    kartothek.store(place.files, DATASET, [frame(0, 3)], options=options)
    place.ours_more(frame(3, 4))
    place.ours_more(frame(7))


WAYS = [ours, theirs, theirs_after_ours, ours_after_theirs, in_turns, segmented, segmented_alone]
Way = Callable[[Place, Any, Any], None]


def expected_rows() -> list[dict[str, Any]]:
    rows = pd.concat([frame(0), frame(7)]).to_dict("records")
    return [
        {name: None if name == "time" and value is pd.NaT else value for name, value in row.items()}
        for row in rows
    ]


def queries() -> list[list[list[tuple[str, str, Any]]]]:
    found: list[list[list[tuple[str, str, Any]]]] = []
    for name, values in COLUMNS.items():
        present = [value for value in values if not pd.isnull(value)]
        for number, operator in enumerate(OPERATORS):
            found.append([[(name, operator, _value(operator, present[number % len(present)]))]])
        found += [[[(name, operator, None)]] for operator in ("==", "!=")]
        found += [[[(name, operator, [None, present[0]])]] for operator in ("in", "not in")]
    found.append([[("key", "==", "a"), ("int", ">", -1)], [("text", "==", "")]])
    return found


def _value(operator: str, value: Any) -> Any:
    return [value] if operator in {"in", "not in"} else value


def cases(ways: list[Way]) -> list[Any]:
    """Each way with and without indices, the partition keys in turn."""
    return [
        pytest.param(way, KEYS[(number + turn) % 4], index, id=f"{way.__name__}-{index}")
        for number, way in enumerate(ways)
        for turn, index in enumerate([True, False])
    ]


@pytest.mark.parametrize(("way", "keys", "index"), cases(WAYS))
def test_we_find_exactly_the_rows_of_every_query(
    tmp_path: Path, way: Way, keys: tuple[str, ...], index: bool
) -> None:
    place = Place(tmp_path / "store")
    way(place, keys, [name for name in COLUMNS if name not in keys] if index else [])
    rows = expected_rows()
    for predicates in [None, *queries()]:
        found = kartothek.read_table(place.files, DATASET, columns=["row"], predicates=predicates)
        expected = sorted(row["row"] for row in rows if satisfies(row, predicates))
        assert sorted(found["row"].to_pylist()) == expected, predicates


@pytest.mark.parametrize(
    ("way", "keys", "index"), cases([ours, in_turns, segmented, segmented_alone])
)
def test_plateau_finds_the_rows_in_what_we_wrote(
    tmp_path: Path, way: Way, keys: tuple[str, ...], index: bool
) -> None:
    place = Place(tmp_path / "store")
    way(place, keys, [name for name in COLUMNS if name not in keys] if index else [])
    whole = eager.read_table(DATASET, place.store, dates_as_object=True)
    by_row = whole.set_index("row").sort_index()
    expected = pd.concat([frame(0), frame(7)]).set_index("row").sort_index()
    pd.testing.assert_frame_equal(by_row[expected.columns], expected, check_dtype=False)
    rows = expected_rows()
    for predicates in queries():
        if not all(_is_right(*condition) for part in predicates for condition in part):
            continue
        found = eager.read_table(DATASET, place.store, predicates=predicates, dates_as_object=True)
        assert sorted(found["row"]) == sorted(
            row["row"] for row in rows if satisfies(row, predicates)
        ), predicates


def _is_right(name: str, operator: str, value: Any) -> bool:
    """Whether plateau answers a condition correctly."""
    if operator in {"not in", "is distinct from"}:
        return False
    if name in WHOLE:
        return value is not None and value != [None, COLUMNS[name][0]]
    return operator in {"==", "in"} and value is not None and None not in _list(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_values_of_every_type_come_back_from_plateau(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.theirs([frame(0)], ("date",), ("text",))
    found = kartothek.read_table(place.files, DATASET)
    got = sorted(kartothek.to_pandas(found).to_dict("records"), key=lambda row: row["row"])
    for mine, expected in zip(got, frame(0).to_dict("records"), strict=True):
        for name, value in expected.items():
            assert (pd.isnull(mine[name]) and pd.isnull(value)) or mine[name] == value, name


def test_integers_beside_missing_values_are_not_rounded(tmp_path: Path) -> None:
    large = 2**53 + 1
    parts = [[1, None], [large, None], [large]]
    for first, more in [("ours", "theirs_more"), ("theirs", "ours_more"), ("ours", "ours_more")]:
        place = Place(tmp_path / f"{first} {more}")
        frames = [pd.DataFrame({"x": pd.array(values, "Int64")}) for values in parts]
        getattr(place, first)(frames[:1], (), ())
        for part in frames[1:]:
            getattr(place, more)(part)
        mine = kartothek.to_pandas(kartothek.read_table(place.files, DATASET))
        for found in (mine, eager.read_table(DATASET, place.store)):
            assert sorted(found["x"].dropna().tolist()) == [1, large, large]
            assert found["x"].isna().sum() == 2


def test_bytes_and_times_with_a_zone_go_both_ways(tmp_path: Path) -> None:
    moment = pd.Timestamp("2024-02-29 01:02:03.000004", tz="UTC")
    rows = pd.DataFrame({"row": [1, 2], "bytes": [b"\xff\x00", None], "zoned": [moment, pd.NaT]})
    typed = rows.astype({"zoned": "datetime64[us, UTC]"})
    expected = [(row, bytes_, moment) for row, bytes_ in [(1, b"\xff\x00"), (4, b"\xff\x00")]]
    for first, more in [("ours", "theirs_more"), ("theirs", "ours_more")]:
        place = Place(tmp_path / first)
        getattr(place, first)([typed], (), ("row",))
        getattr(place, more)(typed.assign(row=[4, 5]))
        mine = kartothek.to_pandas(kartothek.read_table(place.files, DATASET))
        for found in (mine, eager.read_table(DATASET, place.store)):
            ordered = found.sort_values("row")
            assert ordered["bytes"].isna().tolist() == [False, True, False, True]
            assert ordered["zoned"].isna().tolist() == [False, True, False, True]
            whole = ordered.dropna()[["row", "bytes", "zoned"]]
            assert list(whole.itertuples(index=False, name=None)) == expected


def test_a_slash_in_a_key_survives_where_we_write_it(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.ours([pd.DataFrame({"k": ["a/b", "a"], "x": [1, 2]})], ("k",), ("x",))
    back = eager.read_table(DATASET, place.store).sort_values("x")
    assert back["k"].tolist() == ["a/b", "a"]
    place.theirs_more(pd.DataFrame({"k": ["c"], "x": [3]}))
    found = kartothek.read_table(place.files, DATASET, predicates=[[("k", "==", "a/b")]])
    assert found["x"].to_pylist() == [1]


@pytest.mark.parametrize("value", ["a/b", "/b", "a/c=d"])
def test_a_slash_in_a_key_that_plateau_wrote_is_read_by_us(tmp_path: Path, value: str) -> None:
    place = Place(tmp_path / "store")
    place.theirs([pd.DataFrame({"k": [value, "a"], "x": [1, 2]})], ("k",), ("x",))
    found = kartothek.read_table(place.files, DATASET, predicates=[[("k", "==", value)]])
    assert found["x"].to_pylist() == [1]
    assert "plateau reads" in kartothek.verify(place.files, DATASET, full=True)[0].what


def test_we_read_whole_states_while_plateau_writes(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.theirs([frame(0)], (), ("int",))

    def append() -> None:
        for number in range(1, 9):
            place.theirs_more(frame(7 * number))

    with ThreadPoolExecutor(1) as threads:
        writing, seen = threads.submit(append), 0
        while not writing.done():
            found = kartothek.read_table(place.files, DATASET).num_rows
            assert found >= seen
            seen = found
        writing.result()
    assert kartothek.read_table(place.files, DATASET).num_rows == 63


def test_an_empty_partition_is_read_by_both(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.ours([frame(0).head(0), frame(0)], (), ("int",))
    assert len(eager.read_table(DATASET, place.store)) == 7
    other = Place(tmp_path / "other")
    other.theirs([frame(0).head(0), frame(0)], (), ("int",))
    assert kartothek.read_table(other.files, DATASET).num_rows == 7


def test_plateau_reads_our_msgpack(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    options = DatasetOptions(("int",), ("text",), format=MetadataFormat.MSGPACK)
    kartothek.store(place.files, DATASET, frame(0), options=options)
    assert len(eager.read_table(DATASET, place.store)) == 7
    assert len(eager.read_table(DATASET, place.store, predicates=[[("text", "==", "a")]])) == 2


def test_we_read_the_msgpack_of_plateau(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    eager.store_dataframes_as_dataset(
        store=place.store,
        dataset_uuid=DATASET,
        dfs=[frame(0)],
        metadata_storage_format="msgpack",
    )
    assert kartothek.read_table(place.files, DATASET).num_rows == 7
    place.ours_more(frame(7))
    assert len(eager.read_table(DATASET, place.store)) == 14


def test_plateau_updates_deletes_and_collects_garbage_of_ours(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.ours([frame(0)], ("bool",), ("int",))
    eager.build_dataset_indices(place.store, DATASET, ["text"])
    eager.garbage_collect_dataset(DATASET, place.store)
    found = kartothek.read_table(place.files, DATASET, predicates=[[("text", "==", "a")]])
    assert found.num_rows == 2
    eager.delete_dataset(DATASET, place.store)
    assert list(place.files.list()) == []


def test_a_commit_of_ours_that_plateau_undoes_is_reported(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.ours([frame(0)], (), ("int",))
    place.ours_more(frame(7))
    before = DatasetFactory(DATASET, place.store).load_all_indices()
    assert before.partitions  # plateau has read the state; its commit will replace it
    place.ours_more(frame(14))
    update_dataset_from_partitions(
        eager.write_single_partition(place.store, DATASET, frame(21)),
        store_factory=place.store,
        dataset_uuid=DATASET,
        ds_factory=before,
        delete_scope=[],
        metadata=None,
        metadata_merger=None,
    )
    rows = kartothek.read_table(place.files, DATASET)["row"].to_pylist()
    assert sorted(rows) == [*range(14), *range(21, 28)]
    assert _reported(place) == ["our commit"]
    place.ours_more(frame(28))
    assert _reported(place) == ["our commit"]


def test_a_creation_of_ours_that_plateau_undoes_is_reported(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    place.theirs([frame(0)], (), ())
    assert _reported(place) == []
    other = Place(tmp_path / "other")
    other.ours([frame(0)], (), ())
    eager.store_dataframes_as_dataset(
        store=other.store, dataset_uuid=DATASET, dfs=[frame(7)], overwrite=True
    )
    assert _reported(other) == ["the dataset is another writer's"]
    other.theirs_more(frame(14))
    assert kartothek.read_table(other.files, DATASET).num_rows == 14


def _reported(place: Place) -> list[str]:
    warnings = [one for one in kartothek.verify(place.files, DATASET) if one.level == "warning"]
    starts = ("our commit", "the dataset is another writer's")
    return [start for one in warnings for start in starts if one.what.startswith(start)]


def test_our_indices_are_those_that_plateau_loads(tmp_path: Path) -> None:
    place = Place(tmp_path / "store")
    names = [name for name in COLUMNS if name != "bool"]
    place.ours([frame(0), frame(7)], (), names)
    other = Place(tmp_path / "other")
    other.theirs([frame(0), frame(7)], (), names)
    loaded = [
        eager.DatasetMetadata.load_from_store(DATASET, one.store(), load_all_indices=True)
        for one in (place, other)
    ]
    for name in names:
        mine, expected = (one.indices[name] for one in loaded)
        assert mine.dtype == expected.dtype, name
        assert set(mine.index_dct) == set(expected.index_dct), name
        for value, labels in expected.index_dct.items():
            assert len(mine.index_dct[value]) == len(labels), (name, value)
