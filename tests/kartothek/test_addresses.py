"""Locations by address, and what `lake.kartothek` says of the datasets in them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakebed
from lakebed.engines.files.cloud import open_location
from lakebed.errors import BadName, BadQuery, UnknownName, UsageError
from lakebed.kartothek import (
    DatasetOptions,
    Datasets,
    collect_garbage,
    read_table,
    store,
    to_pandas,
    update,
    verify,
)
from lakebed.kartothek.format.addresses import split_address
from lakebed.ports.files.files import Files
from lakebed.settings import FilesSettings, KartothekSettings, kartothek_settings
from tests.kartothek.locations import CountedFiles
from tests.servers.azurite import AzuriteServer

SALES = pa.table({"country": ["DE", "DE", "FR"], "item": [1, 2, 3], "qty": [1.0, None, 2.5]})


@pytest.fixture
def datasets() -> Datasets:
    return lakebed.open_datasets({})


@pytest.fixture
def files(tmp_path: Path, datasets: Datasets) -> Files:
    found = datasets.files(str(tmp_path))
    store(found, "sales", SALES, options=DatasetOptions(("country",), ("item",)))
    return found


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("s3://bucket/exports/sales", ("s3://bucket/exports", "sales")),
        ("gs://bucket/sales/", ("gs://bucket", "sales")),
        ("exports/sales", ("exports", "sales")),
        ("/sales", ("/", "sales")),
        ("sales", (".", "sales")),
        ("exports/sales.by-dataset-metadata.json", ("exports", "sales")),
    ],
)
def test_the_last_part_of_an_address_is_the_dataset(
    address: str, expected: tuple[str, str]
) -> None:
    assert split_address(address) == expected


@pytest.mark.parametrize(
    ("address", "error"), [("s3://bucket", UsageError), ("/", UsageError), ("a/b.c", BadName)]
)
def test_an_address_without_a_dataset_is_refused(address: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        split_address(address)


@pytest.mark.parametrize("url", ["abfs://container/x", "http://host/x", "az://"])
def test_a_location_that_cannot_be_opened_says_which_can(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_location(url, FilesSettings(), KartothekSettings())
    assert refused.value.where == url


def test_a_location_has_credentials_of_its_own_and_the_rest_from_the_lake() -> None:
    lake = FilesSettings.model_validate(
        {"endpoint": "http://lake", "region": "eu-1", "session_token": "t", "access_key_id": "a"}
    )
    own = kartothek_settings(
        {"LAKEBED_KARTOTHEK_ACCESS_KEY_ID": "b", "LAKEBED_KARTOTHEK_REGION": "us-9", "OTHER": "x"}
    )
    found = lake.with_location(own)
    assert (found.endpoint, found.region, found.session_token) == ("http://lake", "us-9", None)
    assert found.access_key_id
    assert found.access_key_id.get_secret_value() == "b"
    assert lake.with_location(KartothekSettings()) == lake


def test_a_dataset_in_a_folder_is_listed_shown_and_queried(
    files: Files, datasets: Datasets
) -> None:
    (Path(files.where) / "broken").mkdir()
    files.write("broken.by-dataset-metadata.json", b"{")
    broken, sales = datasets.list(files.where)
    assert (broken.dataset, sales.dataset) == ("broken", "sales")
    assert "valid json" in broken.error
    assert (sales.partitions, sales.partition_keys, sales.indices) == (2, ("country",), ("item",))
    shown = datasets.show(f"{files.where}/sales")
    assert shown.tables["table"][1] == ("item", "int64")
    sql = "SELECT country, sum(item) AS items FROM sales GROUP BY 1 ORDER BY 1"
    with datasets.query(f"{files.where}/sales", sql) as result:
        assert list(result) == [("DE", 3), ("FR", 3)]


def test_an_unknown_dataset_suggests_a_near_one(files: Files, datasets: Datasets) -> None:
    with pytest.raises(UnknownName, match="sales"):
        datasets.show(f"{files.where}/sale")
    with pytest.raises(UnknownName, match="sales"):
        datasets.query(f"{files.where}/sales", "SELECT * FROM sale")
    with pytest.raises(BadQuery):
        datasets.query(f"{files.where}/sales", "SELECT nothing FROM sales")
    with pytest.raises(BadQuery):
        datasets.query(f"{files.where}/sales", "DROP TABLE sales")


@pytest.mark.parametrize(
    ("where", "partitions"),
    [
        ("country = 'FR'", 1),
        ("item = 1", 1),
        ("item IN (1, 3)", 2),
        ("item = 9", 0),
        ("item >= 3 AND country = 'FR' AND qty > 0", 1),
        ("country = 'FR' OR item = 1", 2),
        ("item + 1 = 2", 2),
        ("qty > 2", 2),
        ("item = 1.5", 2),
    ],
)
def test_a_condition_of_sql_leaves_out_partitions_and_no_row(
    files: Files, where: str, partitions: int
) -> None:
    update(
        files,
        "sales",
        pa.table({"country": ["FR"], "item": [3], "qty": [float("nan")]}),
        delete_scope=[{"country": "FR"}],
    )
    counted = CountedFiles(files)
    found = Datasets(lambda _: counted, _run).query("x/sales", f"SELECT * FROM sales WHERE {where}")
    oracle = [row for row in _rows(files) if _holds(row, where)]
    assert sorted(map(repr, found)) == sorted(map(repr, oracle))
    assert counted.calls["read"] - 1 - (1 if "item" in where else 0) <= partitions


def _run(query: object) -> list[tuple[object, ...]]:
    from lakebed.app.kartothek import _query_alone

    with _query_alone(query) as result:  # type: ignore[arg-type]
        return list(result)


def _rows(files: Files) -> list[tuple[object, ...]]:
    from lakebed.kartothek import read_table

    return [tuple(row.values()) for row in read_table(files, "sales").to_pylist()]


def _holds(row: tuple[object, ...], where: str) -> bool:
    import duckdb

    values = dict(zip(("country", "item", "qty"), row, strict=True))
    sql = f"SELECT {where} FROM (SELECT $country AS country, $item AS item, $qty::DOUBLE AS qty)"
    return bool(duckdb.execute(sql, values).fetchall()[0][0])


def test_a_dataset_can_be_joined_with_itself(files: Files, datasets: Datasets) -> None:
    sql = "SELECT count(*) FROM sales a JOIN sales b ON a.country = b.country WHERE a.item = 1"
    with datasets.query(f"{files.where}/sales", sql) as result:
        assert list(result) == [(2,)]
        assert list(result) == [(2,)]


def test_a_sound_dataset_verifies_and_each_damage_is_named(files: Files) -> None:
    assert verify(files, "sales", full=True) == ()
    paths = [info.path for info in files.list("sales")]
    data = next(path for path in paths if "country=FR" in path)
    index = next(path for path in paths if "/indices/" in path)
    kept, schema = files.read(index), files.read("sales/table/_common_metadata")

    files.delete(data)
    files.write("sales/table/extra.parquet", b"x")
    assert [one.level for one in verify(files, "sales")] == ["problem", "info"]
    files.write(data, b"not parquet")
    files.delete("sales/table/extra.parquet")
    assert "cannot be read" in verify(files, "sales")[0].what
    pq.write_table(pa.table({"item": [3], "qty": [1.0], "odd": [1]}), Path(files.where) / data)
    assert "'odd'" in verify(files, "sales")[0].what
    pq.write_table(pa.table({"item": [77], "qty": [1.0]}), Path(files.where) / data)
    assert not verify(files, "sales")
    assert "lacks values" in verify(files, "sales", full=True)[0].what
    files.delete(index)
    assert "index on 'item' is missing" in verify(files, "sales")[0].what
    files.write(index, kept)
    files.delete("sales/table/_common_metadata")
    assert "schema is missing" in verify(files, "sales")[0].what
    files.write("sales/table/_common_metadata", schema)
    files.write("sales.by-dataset-metadata.json", b"{")
    assert "not valid json" in verify(files, "sales")[0].what
    with pytest.raises(UnknownName):
        verify(files, "other")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("FR", "does not name the partition key 'country'"),
        ("country=%FF", "the value b'\\xff' of the partition key 'country' is not of type"),
        ("country=FR//x", "empty parts"),
        ("country=FR/x", "plateau reads the value up to it only"),
    ],
)
def test_labels_that_readers_refuse_or_misread_are_named(
    files: Files, label: str, said: str
) -> None:
    path = "sales.by-dataset-metadata.json"
    files.write(path, files.read(path).replace(b"country=FR", label.encode()))
    assert any(said in one.what for one in verify(files, "sales"))
    if "//" in label:  # the file is there, under another spelling
        with pytest.raises(BadName):
            collect_garbage(files, "sales", older_than=timedelta(0))


def test_times_that_plateau_cannot_count_are_named_and_read_by_us(files: Files) -> None:
    late = datetime(3000, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    store(files, "late", pa.table({"at": [late, None], "day": [late.date(), None], "x": [1, 2]}))
    assert "plateau cannot read 'at'" in verify(files, "late")[0].what
    found = to_pandas(read_table(files, "late"), dates_as_object=False)
    assert (found["at"][0], found["day"][0]) == (late, late)


def test_columns_that_plateau_misreads_are_named(files: Files) -> None:
    from decimal import Decimal

    frame = pa.table(
        {
            "flag": [True, False],
            "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2),
            "price": pa.array([Decimal("1.5")] * 2),
            "nested": [{"a": 1}, {"a": 2}],
        }
    )
    store(files, "odd", frame, options=DatasetOptions(("flag",)))
    said = " ".join(one.what for one in verify(files, "odd") if one.level == "warning")
    assert all(name in said for name in ("'flag'", "'at'", "'price'", "'nested'"))


@pytest.mark.s3
def test_a_dataset_lives_in_azure(azure: AzuriteServer) -> None:
    files = open_location(azure.fresh_prefix(), FilesSettings(), azure.settings)
    store(files, "sales", SALES, options=DatasetOptions(("country",), ("item",)))
    update(files, "sales", SALES.slice(0, 1), delete_scope=[{"item": 3}])
    found = Datasets(lambda _: files, _run)
    assert found.list("az://x")[0].partitions == 2
    assert found.query("az://x/sales", "SELECT count(*) FROM sales") == [(3,)]
    assert verify(files, "sales", full=True)[-1].level == "info"
    files.probe()
