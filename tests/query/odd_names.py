"""Column names that Avro would not take, at every depth: Iceberg's writers store them in other
letters.
"""

from typing import Any

import pyarrow as pa

NAMES = (
    "my col",
    "a-b",
    "a.b",
    "1st",
    "x$y",
    "count(*)",
    "€",
    "it's",
    "a/b",
    'q"q',
    "b`t",
    "x²",
    "😀",
    "größe",
    "a,b:c",
    " {} ",
)

_INNER = pa.struct([(name, pa.int64()) for name in NAMES])
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        *(pa.field(name, pa.int64()) for name in NAMES),
        pa.field("in-struct", _INNER),
        pa.field("in_list", pa.list_(_INNER)),
        pa.field("in_map", pa.map_(pa.string(), _INNER)),
        pa.field(
            "deep",
            pa.struct([("un it", pa.list_(pa.struct([("m-p", pa.map_(pa.string(), _INNER))])))]),
        ),
    ]
)
FLAT = ("id", *NAMES)  # what can be read by field id alone


def row(number: int) -> dict[str, Any]:
    """Each value tells its row and its column."""
    inner = {name: number * 100 + place for place, name in enumerate(NAMES)}
    nested = {
        "in-struct": inner,
        "in_list": [inner],
        "in_map": [("k", inner)],
        "deep": {"un it": [{"m-p": [("k", inner)]}]},
    }
    return {"id": number} | inner | nested


def rows(*numbers: int) -> pa.Table:
    return pa.Table.from_pylist([row(number) for number in numbers], schema=SCHEMA)


def paths(quoted: str) -> tuple[str, ...]:
    """One name, quoted, at every depth, as SQL of DuckDB."""
    return (
        quoted,
        f'"in-struct".{quoted}',
        f"in_list[1].{quoted}",
        f"in_map['k'].{quoted}",
        f'deep."un it"[1]."m-p"[\'k\'].{quoted}',
    )
