"""Tables that were written otherwise before: refused where rows would be falsified, on real Spark
and Iceberg.
"""

from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import BadBatch
from lakebed.ports import OWN_COLUMNS
from tests.pipelines.test_promises import UPSERT, query
from tests.support.lakes.pipeline_lake import TestLake

pytestmark = pytest.mark.spark

HISTORY = "merge_strategy: scd2\nunique_key: id\nwatermark_column: amount"
FOLLOWING = "on_schema_change: append"


def frame(**columns: list[Any]) -> pa.Table:
    types = {"id": pa.int32(), "amount": pa.int32()}
    return pa.table(
        {
            name: pa.array(values, types.get(name, pa.timestamp("us", "UTC")))
            for name, values in columns.items()
        }
    )


def refused(shop: TestLake, values: str, config: str) -> str:
    """A run that must fail and leave the table as it was; why it did."""
    before, columns = shop.rows("silver.a"), list(shop.rows("silver.a")[0])
    shop.pipeline("silver.a", query(values), config)
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error.get("kind")) == ("failed", "BadBatch")
    assert shop.rows("silver.a") == before
    assert list(shop.rows("silver.a")[0]) == columns
    return str(record.error["what"])


def ran(shop: TestLake, values: str, config: str, **options: bool) -> dict[str, int]:
    shop.pipeline("silver.a", query(values), config)
    return dict(shop.run_one("silver.a", **options).rows)


def versions(shop: TestLake) -> list[tuple[int, int, bool, bool]]:
    """By id and amount: since when is known, and whether it is closed."""
    return sorted(
        (row["id"], row["amount"], row["valid_from"] is not None, row["valid_to"] is not None)
        for row in shop.rows("silver.a")
    )


def test_a_table_becomes_a_history_only_if_columns_may_come_and_no_row_is_without_its_beginning(
    shop: TestLake,
) -> None:
    ran(shop, "(1, 1), (2, 2)", UPSERT)
    shop.lake.write("silver.a", frame(id=[2, 3], amount=[3, 3]))
    assert "several rows" in refused(shop, "(2, 9), (4, 9)", UPSERT)
    assert "valid_from and valid_to" in refused(shop, "(1, 7)", HISTORY)
    assert "open versions" in refused(shop, "(2, 9)", f"{HISTORY}\n{FOLLOWING}")
    shop.lake.execute("DELETE FROM silver.a WHERE id = 2 AND amount = 3")

    changed = shop.lake.tables.describe(shop.table("silver.a")).head()
    assert ran(shop, "(1, 7), (4, 4)", f"{HISTORY}\n{FOLLOWING}")["late"] == 0
    assert versions(shop) == [
        (1, 1, True, True),
        (1, 7, True, False),
        (2, 2, True, False),
        (3, 3, True, False),
        (4, 4, True, False),
    ]
    assert changed is not None
    since = {
        row["valid_from"]
        for row in shop.rows("silver.a")
        if row["id"] in {2, 3} or row["amount"] == 1
    }
    assert [at.replace(microsecond=0) for at in since] == [changed.at.replace(microsecond=0)]

    before = shop.rows("silver.a")
    times = {
        name: [row[name] for row in before if row["amount"] == 1]
        for name in ("valid_from", "valid_to")
    }
    edited = frame(id=[1], amount=[1], **times)
    for mode in ("merge", "delete_insert"):
        with pytest.raises(BadBatch, match="valid_from and valid_to"):
            shop.lake.write("silver.a", edited, mode=mode, key="id", on_schema_change="append")
    assert shop.rows("silver.a") == before
    assert "valid_from" in refused(shop, "(1, 8)", f"{UPSERT}\n{FOLLOWING}")

    shop.lake.write("silver.a", edited)  # a version with times of its own may be added
    assert len(shop.rows("silver.a")) == len(before) + 1
    ran(shop, "(1, 8)", f"{UPSERT}\non_schema_change: sync", full_refresh=True)
    assert shop.rows("silver.a") == [{"id": 1, "amount": 8}]
    ran(shop, "(1, 9)", UPSERT)
    head = shop.lake.tables.describe(shop.table("silver.a")).head()
    assert head is not None
    assert head.summary[OWN_COLUMNS] == "[]"


def test_an_empty_extract_closes_and_deletes_nothing_unless_that_is_said(shop: TestLake) -> None:
    closing, nothing = (
        f"{HISTORY}\nscd_close_absent: true",
        "SELECT * FROM VALUES (1, 1) AS t(id, amount) WHERE id > 1",
    )
    ran(shop, "(1, 1), (2, 2)", closing)
    shop.pipeline("silver.a", nothing, closing)
    record = shop.run("silver.a")["silver.a"]
    assert (record.state, record.error.get("what")) == ("failed", "the result has no row.")
    assert [closed for *_, closed in versions(shop)] == [False, False]
    shop.pipeline("silver.a", nothing, f"{closing}\non_empty: write")
    shop.run_one("silver.a")
    assert [closed for *_, closed in versions(shop)] == [True, True]

    shop.lake.write("shop.silver.b", frame(id=[1], amount=[1]), mode="soft_delete", key="id")
    with pytest.raises(BadBatch, match="no row"):
        shop.lake.write("shop.silver.b", frame(id=[], amount=[]), mode="soft_delete", key="id")
    assert [row["_deleted_at"] for row in shop.rows("silver.b")] == [None]


def test_empty_texts_and_infinite_numbers_of_a_csv_file_are_read_as_the_docs_say(
    shop: TestLake,
) -> None:
    config = "merge_strategy: incremental\nunique_key: code\nwatermark_column: at"
    shop.pipeline("silver.a", "SELECT * FROM {{ landing_zone('z') }}", config)
    shop.land("z", "1.csv", 'code,at,n,m\n"",1.5,1,2\na,Inf,2,nan\nb,-Infinity,3,1\nc,NaN,,1\n')
    record = shop.run("silver.a")["silver.a"]
    assert record.state == "failed"
    assert "1 row has NULL in unique_key" in record.error["what"]
    shop.land("z", "zone.yaml", "null_value: none")
    shop.run_one("silver.a")
    assert [
        (row["code"], repr(row["at"]), row["n"], row["m"]) for row in shop.rows("silver.a")
    ] == [
        ("", "1.5", 1, "2"),
        ("a", "inf", 2, "nan"),  # spelt so it is a text, and the column with it
        ("b", "-inf", 3, "1"),
        ("c", "nan", None, "1"),
    ]
    shop.land("z", "2.csv", "code,at,n,m\n,2.5,1,a\n")
    record = shop.run("silver.a")["silver.a"]
    assert record.state == "failed"
    assert "NULL in unique_key" in record.error["what"]
