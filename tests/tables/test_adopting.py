"""Looking at a folder that is to become a table: what it would be, and why it cannot be one."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.engines.files import FolderFiles
from lakebed.errors import BadFiles, LinkRefused, UsageError
from lakebed.names import TableName
from lakebed.ports import AddedFile
from lakebed.settings import Root
from lakebed.tables.adopting.listing import FolderListing
from lakebed.tables.adopting.look import Adoption, look_at
from lakebed.tables.adopting.place import folder_address, require_adoptable

DAY = datetime(2020, 1, 1)  # noqa: DTZ001
TABLE = TableName("shop", "bronze", "income")


def look(folder: Path, *, rewrite: bool = False) -> tuple[Adoption, list[AddedFile]]:
    files, root = FolderFiles(Path("/")), Root("file://")
    path = str(folder).lstrip("/")
    with look_at(files, root, path, table=TABLE, folder=str(folder), rewrite=rewrite) as found:
        return found.adoption, list(found.added())


def put(file: Path, columns: dict[str, Any], **options: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), file, **options)
    return file


def types(adoption: Adoption) -> dict[str, str]:
    return {field.name: field.type for field in adoption.columns}


def test_a_folder_of_duckdb_becomes_columns_and_partitions(tmp_path: Path) -> None:
    folder = tmp_path / "income"
    query = """
        SELECT i AS id, i::SMALLINT AS small, i * 0.5::FLOAT AS share, 'n' || i AS name,
               TIMESTAMP '2020-01-01' AS seen, {'a': i, 'b': [i]} AS inner_,
               '0' || i AS code, DATE '2020-01-01' + i::INTEGER AS day, 3000000000 + i AS big
        FROM range(1, 4) t(i)"""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({query}) TO '{folder}' (FORMAT parquet, PARTITION_BY (code, day, big))"
        )
    (folder / "_SUCCESS").touch()
    (folder / ".x.crc").touch()
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "part.parquet").write_bytes(b"half a file")
    (folder / "README.md").write_text("about")
    (folder / "code=01" / "empty.parquet").touch()
    adoption, files = look(folder)
    assert types(adoption) == {
        "id": "bigint",
        "small": "int",
        "share": "float",
        "name": "string",
        "seen": "timestamp_ntz",
        "inner_": "struct<`a`:bigint,`b`:array<bigint>>",
        "code": "string",  # 01 is text: as a number it would lose its zero
        "day": "date",
        "big": "bigint",
    }
    assert (adoption.files, adoption.rows) == (3, 3)
    assert adoption.bytes == sum(file.stat().st_size for file in folder.glob("*/*/*/*.parquet"))
    assert adoption.partition_by == ("code", "day", "big")
    assert set(adoption.left_out) == {"README.md", "code=01/empty.parquet"}
    assert [file.partition for file in files] == [
        ("01", 18263, 3000000001),
        ("02", 18264, 3000000002),
        ("03", 18265, 3000000003),
    ]


def test_bounds_are_told_only_where_every_row_group_tells_them(tmp_path: Path) -> None:
    nan = float("nan")
    columns = {
        "n": pa.array([1, None, 3, 4], pa.int32()),
        "f": [1.0, nan, 3.0, nan],
        "none": pa.array([None] * 4, pa.string()),
        "s": ["b", "a", "ü", "c"],
        "d": [Decimal("1.50"), Decimal("-2.25"), None, None],
        "ms": pa.array([DAY] * 4, pa.timestamp("ms")),
    }
    put(tmp_path / "x.parquet", columns, row_group_size=2)
    put(tmp_path / "y.parquet", columns, write_statistics=["n"])
    _, (told, silent) = look(tmp_path)
    found = {name: (one.nulls, one.lower, one.upper) for name, one in told.columns.items()}
    assert found == {
        "n": (1, 1, 4),
        "f": (0, 1.0, 3.0),
        "none": (4, None, None),
        "s": (0, "a", "ü"),
        "d": (2, Decimal("-2.25"), Decimal("1.50")),
        "ms": (0, 1577836800000000, 1577836800000000),
    }
    assert silent.columns["s"].lower is None
    assert silent.columns["s"].nulls is None


def test_files_of_differing_schemas_are_united_by_name(tmp_path: Path) -> None:
    put(tmp_path / "a.parquet", {"id": pa.array([1], pa.int32()), "gone": ["x"]})
    put(tmp_path / "b.parquet", {"new": [1.5], "id": pa.array([2], pa.int64())})
    inner = pa.array([{"a": 1, "c": "x"}])
    put(tmp_path / "c.parquet", {"id": pa.array([3], pa.int32()), "inner": inner})
    put(tmp_path / "d.parquet", {"inner": pa.array([{"b": True, "a": 2}])})
    adoption, _ = look(tmp_path)
    assert types(adoption) == {
        "id": "bigint",
        "gone": "string",
        "new": "double",
        "inner": "struct<`a`:bigint,`c`:string,`b`:boolean>",
    }


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pa.array(["x"]), "id is bigint in .*a.parquet and string in .*b.parquet"),
        (pa.array([1], pa.uint32()), "id is uint32"),
        (pa.array([1], pa.time64("us")), "id is time64"),
        (pa.array([[1]], pa.list_(pa.uint8())), r"id\.element is uint8"),
        (pa.array([DAY], pa.timestamp("ns")), "nanoseconds"),
        (pa.array([1], pa.duration("s")), "duration"),
        (pa.array(["x"]).dictionary_encode(), "category"),
    ],
)
def test_what_a_table_cannot_hold_is_refused_with_the_file_and_the_way_out(
    tmp_path: Path, column: pa.Array, said: str
) -> None:
    put(tmp_path / "a.parquet", {"id": [1]})
    file = put(tmp_path / "b.parquet", {"id": column})
    with pytest.raises(BadFiles, match=said) as error:
        look(tmp_path)
    assert "--rewrite" in error.value.next
    assert str(file) == error.value.where


def test_timestamps_of_old_spark_files_and_columns_with_ids_are_refused(tmp_path: Path) -> None:
    column = pa.array([DAY], pa.timestamp("us"))
    file = put(tmp_path / "a.parquet", {"at": column}, use_deprecated_int96_timestamps=True)
    with pytest.raises(BadFiles, match="INT96"):
        look(tmp_path)
    assert look(tmp_path, rewrite=True)[0].rows == 1
    file.unlink()
    schema = pa.schema([pa.field("id", pa.int64(), metadata={b"PARQUET:field_id": b"7"})])
    put(tmp_path / "b.parquet", pa.table({"id": [1]}, schema=schema))
    with pytest.raises(BadFiles, match="field id"):
        look(tmp_path)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    put(tmp_path / "year=2020" / "a.parquet", {"id": [1]})
    cut = put(tmp_path / "year=2021" / "b.parquet", {"id": [2]})
    cut.write_bytes(cut.read_bytes()[:-9])
    with pytest.raises(BadFiles, match="not a complete Parquet file") as error:
        look(tmp_path)
    assert error.value.where.endswith("year=2021/b.parquet")


def test_files_are_known_by_their_content_where_their_names_do_not_tell(tmp_path: Path) -> None:
    put(tmp_path / "000000_0", {"id": [1]})
    (tmp_path / "000001_0").write_text("id\n2\n")
    adoption, _ = look(tmp_path)
    assert (adoption.rows, adoption.left_out) == (1, ("000001_0",))


def test_files_that_are_partitioned_differently_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "year=2020" / "a.parquet", {"id": [1]})
    put(tmp_path / "b.parquet", {"id": [2]})
    with pytest.raises(BadFiles, match=r"partition (none|year=…), and .* has (year=…|none)"):
        look(tmp_path)


def test_a_column_in_file_and_path_must_agree_since_engines_read_either(tmp_path: Path) -> None:
    put(tmp_path / "year=2020" / "a.parquet", {"id": [1, 2], "year": [2020, 2020]})
    adoption, (file,) = look(tmp_path)
    assert (types(adoption)["year"], file.partition) == ("bigint", (2020,))
    put(tmp_path / "year=2021" / "b.parquet", {"id": [3], "year": [2020]})
    with pytest.raises(BadFiles, match="in the file and in its path"):
        look(tmp_path)


def test_a_folder_without_rows_is_refused_with_what_is_in_it(tmp_path: Path) -> None:
    put(tmp_path / "empty.parquet", {"id": pa.array([], pa.int64())})
    (tmp_path / "rows.csv").write_text("id\n1\n")
    with pytest.raises(BadFiles, match=r"no Parquet file with rows") as error:
        look(tmp_path)
    assert {"rows.csv", "empty.parquet"} <= set(
        error.value.what.partition("among ")[2].rstrip(".").split(", ")
    )


@pytest.mark.parametrize(
    "folder",
    [
        "lake",
        ".",
        "lake/shop/warehouse",
        "lake/shop/warehouse/bronze/orders/data",
        "lake/shop/landing/orders",
        "lake/.data",
        "lake/elsewhere",
        "lake/elsewhere/orders/data",
        "link",
    ],
)
def test_a_folder_where_lakebed_writes_or_removes_files_is_not_adopted(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / "lake" / "shop" / "warehouse").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "lake" / "shop" / "warehouse")
    root = Root.parse(tmp_path / "lake")
    tables = [root.at("elsewhere/orders")]
    with pytest.raises(UsageError, match="cannot be adopted"):
        require_adoptable(folder_address(tmp_path / folder), root, tables, rewrite=True)
    for free in ("lake/exports", "lake/elsewhere/other", "data"):
        require_adoptable(folder_address(tmp_path / free), root, tables, rewrite=False)


def test_a_lake_in_a_bucket_takes_only_files_below_its_root_as_they_are() -> None:
    root = Root("s3://lake/shop")
    with pytest.raises(UsageError, match="bucket"):
        require_adoptable("/data/x", root, [], rewrite=False)
    with pytest.raises(UsageError, match="keys for that place only"):
        require_adoptable("s3://lake/archive", root, [], rewrite=False)
    require_adoptable("s3://lake/shop/archive", root, [], rewrite=False)
    for place in ("/data/x", "s3://lake/archive", "s3://other/x"):
        require_adoptable(place, root, [], rewrite=True)


def test_files_behind_links_are_adopted_once_and_links_out_of_the_folder_are_refused(
    tmp_path: Path,
) -> None:
    files = FolderFiles(tmp_path)
    files.write("data/a.parquet", b"1")
    files.write("data/_store/b.parquet", b"2")
    (tmp_path / "data" / "again.parquet").symlink_to("a.parquet")
    (tmp_path / "data" / "b.parquet").symlink_to("_store/b.parquet")
    listed = sorted(info.path for info in FolderListing(files, "data"))
    assert listed == ["data/a.parquet", "data/b.parquet"]
    (tmp_path / "data" / "moved.parquet").symlink_to(tmp_path / "moved.parquet")
    with pytest.raises(LinkRefused, match=r"data/moved.parquet.*leads to nothing"):
        list(FolderListing(files, "data"))
