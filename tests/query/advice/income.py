"""The regional income of `benchmarks/layouts.py`, small: each file of a year and a line has rows of
every county.
"""

import json
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, IntegerType, NestedField, StringType

from lakebed.app import Lake
from lakebed.names import TableName

INCOME = TableName("bea", "gold", "income")
COUNTIES = [f"{state:02}{county:03}" for state in range(1, 11) for county in range(4)]
_SCHEMA = Schema(
    NestedField(1, "year", IntegerType()),
    NestedField(2, "line_code", IntegerType()),
    NestedField(3, "geo_fips", StringType()),
    NestedField(4, "value", DoubleType()),
)


def make_income(lake: Lake, *, years: int = 10, lines: int = 10) -> Any:
    """The table, written without Spark: a file for each year and line."""
    lake.stores.catalog.create_namespace(INCOME.namespace, INCOME.layer)
    by = (("year", 1), ("line_code", 2))
    fields = [PartitionField(id_, 1000 + id_, IdentityTransform(), name) for name, id_ in by]
    table = lake.iceberg.create_table(
        INCOME.parts,
        _SCHEMA,
        location=lake.root.at(INCOME.folder),
        partition_spec=PartitionSpec(*fields),
    )
    rows = [
        {"year": 2010 + year, "line_code": line, "geo_fips": county, "value": float(place)}
        for year in range(years)
        for line in range(lines)
        for place, county in enumerate(COUNTIES)
    ]
    table.append(pa.Table.from_pylist(rows, schema=_SCHEMA.as_arrow()))
    return table


def log_half_of_it_yesterday(lake: Lake) -> None:
    """Every second query of the log was asked a day before."""
    (today,) = lake.query_log.folder.glob("*.jsonl")
    lines = [json.loads(line) for line in today.read_text().splitlines()]
    for line in lines[::2]:
        line["ts"] = (datetime.fromisoformat(line["ts"]) - timedelta(days=1)).isoformat()
    before = today.with_stem(lines[0]["ts"][:10])
    for file, part in ((before, lines[::2]), (today, lines[1::2])):
        file.write_text("".join(json.dumps(line) + "\n" for line in part))
