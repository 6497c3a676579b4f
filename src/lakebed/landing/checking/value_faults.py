"""Values that clearly do not fit their column's type, and the zone setting that would help."""

from decimal import Decimal

from lakebed.landing.spec import ZoneSpec
from lakebed.ports import Field
from lakebed.types import INTEGER_BITS, parse_type
from lakebed.types.spelling import infer_type, is_number, reads_as

_NO_TEXT = {*INTEGER_BITS, "float", "double", "boolean"}  # in a JSON record "1" is not a number
_LIKE_NULL = {
    "na",
    "n/a",
    "#n/a",
    "null",
    "none",
    "nil",
    "nan",
    "-",
    "--",
    "?",
    ".",
    "\\n",
    "unknown",
    "missing",
}


def does_not_fit(value: object, type_: str, spec: ZoneSpec, *, json: bool = False) -> bool:
    """Whether a CSV field or a JSON value certainly does not have this type."""
    if value is None or (value == "" and not json) or type_ == "string":
        return False
    if isinstance(value, str) and json and type_ in _NO_TEXT:
        return True
    if isinstance(value, str):
        return (json or value not in spec.nulls) and _text_misfits(value, type_, spec)
    if isinstance(value, bool):
        return type_ != "boolean"
    if isinstance(value, int | float | Decimal):
        return type_ == "boolean" or not reads_as(str(value), parse_type(type_))
    return not type_.startswith(("struct", "array", "map"))


def loses_digits(value: object, type_: str) -> bool:
    """Whether a number does not fit its column because it has too many digits."""
    numeric = type_ in {"float", "double"} or type_.startswith("decimal")
    return numeric and not isinstance(value, bool) and is_number(str(value))


def _text_misfits(text: str, type_: str, spec: ZoneSpec) -> bool:
    if type_.startswith(("struct", "array", "map")):
        return False
    if type_ == "date" and spec.date_format is not None:
        return False
    if type_.startswith("timestamp") and spec.timestamp_format is not None:
        return False
    return not reads_as(text, parse_type(type_))


def advice(column: Field, value: object, spec: ZoneSpec) -> str:
    """What to set so that the value fits."""
    if spec.expected_schema:
        return "expected_schema in zone.yaml says so"
    other = f"to read the column otherwise, {spec.how_to_type(column.name, _wider(value))}"
    if spec.takes_nulls and isinstance(value, str) and value.strip().casefold() in _LIKE_NULL:
        nulls = ", ".join(f'"{text}"' for text in (value, *spec.nulls))
        return f"if it means NULL, {spec.how_to_set('nulls', f'[{nulls}]')}; {other}"
    return other


def _wider(value: object) -> str:
    """The type that would hold a value; a whole number may have larger ones beside it."""
    shown = infer_type([str(value)])
    if isinstance(value, bool) or shown.name not in {"int", "bigint", "decimal", "double"}:
        return "string"
    return "bigint" if shown.name == "int" else str(shown)
