"""Tables with a past: written by PyIceberg through every transform, with columns of every type that
changed meanwhile.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pyarrow as pa
from pyiceberg import transforms as t
from pyiceberg.table import Table
from pyiceberg.types import DecimalType, DoubleType, IcebergType, LongType

from lakebed.names import TableName
from lakebed.ports import Pointer
from tests.support.benches import RealBench

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - values without a zone count from there
_TEXTS = [
    "",
    "a",
    "ab",
    "abc",
    "abcdefghijklmnop",
    "abcdefghijklmnopq",
    "abcdefghijklmnopr",
    "z" * 20,
    "é",
    "ß" * 17,
    "\U0001f600" * 18,
    "~",
]
ARROW = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("n", pa.int32()),
        pa.field("f", pa.float32()),
        pa.field("d", pa.float64()),
        pa.field("m", pa.decimal128(9, 2)),
        pa.field("s", pa.string()),
        pa.field("b", pa.binary()),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us")),
        pa.field("atz", pa.timestamp("us", tz="UTC")),
        pa.field("u", pa.uuid()),
        pa.field("clock", pa.time64("us")),
        pa.field("flag", pa.bool_()),
    ]
)
TRANSFORMS: list[tuple[str, Callable[[], t.Transform[Any, Any]]]] = [
    *(
        (name, t.IdentityTransform)
        for name in ("id", "n", "d", "m", "s", "b", "day", "at", "atz", "flag")
    ),
    *(
        (name, lambda: t.BucketTransform(5))
        for name in ("id", "n", "m", "s", "b", "day", "at", "atz")
    ),
    *((name, lambda: t.TruncateTransform(3)) for name in ("id", "n", "m", "s", "b")),
    *(
        (name, kind)
        for name in ("day", "at", "atz")
        for kind in (t.YearTransform, t.MonthTransform, t.DayTransform)
    ),
    *((name, t.HourTransform) for name in ("at", "atz")),
]


def value(rng: random.Random, type_: pa.DataType) -> Any:  # noqa: C901 - one line a type
    """A value of a type, near its edges or where others are."""
    whole = rng.choice([0, 1, -1, 7, 100, -100, rng.randint(-50, 50)])
    moment = _EPOCH + timedelta(
        seconds=rng.choice([0, -1, 1, 86_399, rng.randint(-(10**8), 10**9)]),
        microseconds=rng.randint(0, 1),
    )
    match str(type_):
        case "int32" | "int64":
            edge = 2 ** (type_.bit_width - 1)
            return rng.choice(
                [whole, whole, whole, edge - 1, 6 - edge]
            )  # a truncated one must fit too
        case "float" | "double":
            return rng.choice(
                [float(whole), whole / 10, 0.1, -0.0, float("nan"), float("inf"), float("-inf")]
            )
        case "string" | "large_string":
            return rng.choice(_TEXTS)
        case "binary" | "large_binary":
            return rng.choice(
                [b"", b"\x00", b"\xff" * 20, b"abc", bytes([rng.randint(0, 255)] * 17)]
            )
        case "date32[day]":
            return moment.date()
        case "time64[us]":
            return time(rng.randint(0, 23), 0, 0, rng.randint(0, 1))
        case "timestamp[us]":
            return moment
        case "timestamp[us, tz=UTC]":
            return moment.replace(tzinfo=UTC)
        case "bool":
            return rng.random() < 0.5
        case "extension<arrow.uuid>" | "fixed_size_binary[16]":
            return UUID(int=rng.choice([0, 1, 2**127, 2**128 - 1, rng.getrandbits(128)]))
    return Decimal(rng.choice([whole * 100, whole, 1, 9_999_999])).scaleb(-2)


def rows(rng: random.Random, schema: pa.Schema, count: int) -> pa.Table:
    """Rows that lie close together in some columns, so that bounds tell files apart; some columns
    are all NULL.
    """
    columns = []
    for field in schema:
        nulls = rng.choice([0, 0, 0.3, 1])
        pool = [value(rng, field.type) for _ in range(rng.choice([1, 2, 5]))]
        if pa.types.is_float64(field.type) or pa.types.is_float32(field.type):
            pool = [one for one in pool if one == one or rng.random() < 0.3] or [0.0]
        picked = [None if rng.random() < nulls else rng.choice(pool) for _ in range(count)]
        columns.append(
            pa.array([one.bytes if isinstance(one, UUID) else one for one in picked], field.type)
        )
    return pa.Table.from_arrays(columns, schema=schema)


def grow(rng: random.Random, bench: RealBench, name: str) -> tuple[Pointer, Table]:
    """A table after some appends under several specs, with changes of its columns in between."""
    name_ = TableName(bench.namespace, "silver", name)
    bench.catalog.create_namespace(name_.namespace, name_.layer)
    table = bench.iceberg.create_table(name_.parts, ARROW, location=bench.root.at(name_.folder))
    changes = rng.sample(list(_CHANGES), k=rng.randint(0, 4))
    for step in range(rng.randint(2, 4)):
        with transforming():
            if rng.random() < 0.8:
                _partition(rng, table)
            for _ in range(rng.randint(1, 2)):
                table.append(rows(rng, table.schema().as_arrow(), rng.randint(1, 4)))
        if step < len(changes):
            _CHANGES[changes[step]](table)
    return Pointer(name_, table.metadata_location), table


def _partition(rng: random.Random, table: Table) -> None:
    named = {field.name for field in table.schema().fields}
    for field in table.spec().fields:
        with table.update_spec() as update:
            update.remove_field(field.name)
    for column, transform in dict(rng.sample(TRANSFORMS, k=rng.randint(1, 2))).items():
        if column in named:
            with table.update_spec() as update:
                update.add_field(column, transform(), f"p_{rng.getrandbits(32):x}")


def _rename(table: Table) -> None:
    with table.update_schema() as update:
        update.rename_column("s", "renamed")


def _widen(table: Table) -> None:
    wider: dict[str, IcebergType] = {"n": LongType(), "f": DoubleType(), "m": DecimalType(18, 2)}
    with table.update_schema() as update:
        for name, type_ in wider.items():
            update.update_column(name, type_)


def _replace(table: Table) -> None:
    """Another column under the name of one that went."""
    for field in table.spec().fields:
        if table.schema().find_field(field.source_id).name == "id":
            with table.update_spec() as update:
                update.remove_field(field.name)
    with table.update_schema() as update:
        update.delete_column("id")
    with table.update_schema() as update:
        update.add_column("id", LongType())


def _add(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column("fresh", LongType())


_CHANGES: dict[str, Callable[[Table], None]] = {
    "rename": _rename,
    "widen": _widen,
    "replace": _replace,
    "add": _add,
}


@contextmanager
def transforming() -> Iterator[None]:
    """PyIceberg writes through transforms with a package of its own that we do not need; its own
    scalar ones do as well.
    """

    def in_python(
        self: t.Transform[Any, Any], source: IcebergType
    ) -> Callable[[pa.Array], pa.Array]:
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        one = self.transform(source)
        result = schema_to_pyarrow(source) if isinstance(self, t.TruncateTransform) else pa.int32()
        return lambda values: pa.array(
            [one(_internal(value)) for value in values.to_pylist()], result
        )

    kinds = (
        t.BucketTransform,
        t.TruncateTransform,
        t.YearTransform,
        t.MonthTransform,
        t.DayTransform,
        t.HourTransform,
    )
    patches = [patch.object(kind, "pyarrow_transform", in_python) for kind in kinds]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def _internal(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    if isinstance(value, time):
        return (
            (value.hour * 60 + value.minute) * 60 + value.second
        ) * 1_000_000 + value.microsecond
    return value
