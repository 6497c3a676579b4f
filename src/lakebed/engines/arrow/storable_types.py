"""The types in which tables store frames, and rows cast to them.

A cast that would lose a value raises, naming the column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakebed.engines.arrow.columns import arrow_type
from lakebed.engines.arrow.types import cast_array
from lakebed.errors import BadBatch
from lakebed.types import Array, ColumnType, Map, Primitive, Struct, is_storable

_ROWS = 65_536
_BYTES = 16 * 1024 * 1024
_DIGITS = 38
_EXTENSIONS = {
    pa.UuidType: pa.large_string(),
    pa.JsonType: pa.large_string(),
    pa.Bool8Type: pa.bool_(),
}
_PLAIN = {
    pa.bool_(): pa.bool_(),
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()), pa.int32()),
    **dict.fromkeys((pa.int64(), pa.uint32()), pa.int64()),
    pa.uint64(): pa.decimal128(20, 0),
    **dict.fromkeys((pa.float16(), pa.float32()), pa.float32()),
    pa.float64(): pa.float64(),
    **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), pa.large_string()),
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view()), pa.large_binary()),
    **dict.fromkeys((pa.date32(), pa.date64()), pa.date32()),
}


def storable_schema(schema: Any, known: Mapping[str, ColumnType]) -> Any:
    """The columns as a table stores them.

    One without values takes its type from `known`: the table's types by folded name.
    """
    _refuse_names([field.name for field in schema], "")
    return pa.schema(
        [
            pa.field(field.name, _kept(field.type, field.name, known.get(field.name.casefold())))
            for field in schema
        ]
    )


def as_storable(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The same rows with exactly these types, in batches of some megabytes."""
    for batch in batches:
        for part in _parts(batch):
            arrays = [
                _values(array, field) for array, field in zip(part.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _parts(batch: Any) -> Iterator[Any]:
    rows = max(1, min(_ROWS, batch.num_rows * _BYTES // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _values(array: Any, field: Any) -> Any:
    try:
        found = cast_array(array, field.type)
        if "decimal" in str(field.type):
            found.validate(
                full=True
            )  # Arrow itself accepts numbers with more digits than the type has
    except pa.ArrowInvalid as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise _unfit(
            f"a value of the column {field.name!r} cannot be stored: {reason}", _LOSSY
        ) from error
    return found


_LOSSY = "Tables store microseconds and numbers of 38 digits: round or cast it in the frame."


def _kept(type_: Any, path: str, known: ColumnType | None) -> Any:
    if type_ in _PLAIN:
        return _PLAIN[type_]
    if type(type_) in _EXTENSIONS:
        return _EXTENSIONS[type(type_)]
    if pa.types.is_decimal(type_):
        return _decimal(type_, path)
    if pa.types.is_timestamp(type_):
        return pa.timestamp("us", tz="UTC" if type_.tz else None)
    if pa.types.is_fixed_size_binary(type_):
        return pa.large_binary()
    if pa.types.is_dictionary(type_):
        return _kept(type_.value_type, path, known)
    if pa.types.is_null(type_):
        return _known(known, path)
    return _nested(type_, path, known)


def _nested(type_: Any, path: str, known: ColumnType | None) -> Any:
    if (
        pa.types.is_list(type_)
        or pa.types.is_large_list(type_)
        or pa.types.is_fixed_size_list(type_)
    ):
        return pa.large_list(
            _kept(
                type_.value_type,
                f"{path}.element",
                known.element if isinstance(known, Array) else None,
            )
        )
    if pa.types.is_map(type_):
        key, value = (known.key, known.value) if isinstance(known, Map) else (None, None)
        return pa.map_(
            _kept(type_.key_type, f"{path}.key", key),
            _kept(type_.item_type, f"{path}.value", value),
        )
    if pa.types.is_struct(type_) and type_.num_fields:
        _refuse_names([field.name for field in type_], f" of {path!r}")
        parts = (
            {name.casefold(): part for name, part in known.fields}
            if isinstance(known, Struct)
            else {}
        )
        return pa.struct(
            [
                (
                    field.name,
                    _kept(field.type, f"{path}.{field.name}", parts.get(field.name.casefold())),
                )
                for field in type_
            ]
        )
    raise _unfit(
        f"the column {path!r} is of Arrow's type {type_}, which tables cannot store",
        _cast_to(type_),
    )


def _cast_to(type_: Any) -> str:
    if pa.types.is_duration(type_) or pa.types.is_interval(type_):
        return "Convert it to a number of seconds, for example, or to text."
    if pa.types.is_time(type_):
        return "Spark has no type for Iceberg's time: convert it to text, a timestamp or a number."
    return "Cast it in the frame."


def _decimal(type_: Any, path: str) -> Any:
    scale = max(type_.scale, 0)
    digits = max(type_.precision - min(type_.scale, 0), scale)
    if digits > _DIGITS:
        raise _unfit(
            f"the column {path!r} is of Arrow's type {type_}, and tables store {_DIGITS} digits",
            "Cast it in the frame.",
        )
    return pa.decimal128(digits, scale)


def _known(known: ColumnType | None, path: str) -> Any:
    if known is None or not is_storable(known) or known == Primitive("variant"):
        what = (
            f"the column {path!r} holds no value, and neither the frame nor the table gives it a"
            " type"
        )
        raise _unfit(what, "Give it a type in the frame, or leave it out.")
    return arrow_type(known)


def _refuse_names(names: Sequence[str], inside: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if other := seen.get(name.casefold()):
            raise _unfit(
                f"the columns {other!r} and {name!r}{inside} have the same name",
                "Rename one of them.",
            )
        seen[name.casefold()] = name


def _unfit(what: str, next: str) -> BadBatch:
    return BadBatch(f"{what}.", safe="Nothing was written.", next=next)
