"""Keys that bitmaps can check."""

from lakebed.ports import Field
from lakebed.tables import integer_key
from lakebed.tables.merging.strategies import DeleteInsert, Incremental, SoftDelete

COLUMNS = (Field("Id", "bigint"), Field("day", "date"), Field("small", "tinyint"))


def test_only_one_integer_column_is_counted_in_bitmaps() -> None:
    assert integer_key(Incremental(unique_key=("id",)), COLUMNS) == "Id"
    assert integer_key(SoftDelete(unique_key=("small",)), COLUMNS) == "small"
    assert integer_key(Incremental(unique_key=("day",)), COLUMNS) is None
    assert integer_key(Incremental(unique_key=("id", "small")), COLUMNS) is None
    assert integer_key(DeleteInsert(unique_key=("id",)), COLUMNS) is None
