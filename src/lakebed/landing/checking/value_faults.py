"""Values that clearly do not fit their column's type, and the zone setting that would help."""

import re
from decimal import Decimal, InvalidOperation

from lakebed.landing.spec import ZoneSpec
from lakebed.ports import Field
from lakebed.types import INTEGER_BITS

_NO_TEXT = {*INTEGER_BITS, "float", "double", "boolean"}  # in a JSON record "1" is not a number
_WHOLE = re.compile(r"[+-]?\d+")
_DAY = re.compile(r"\d{4}-\d\d?-\d\d?")
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
    if isinstance(value, int | float):
        whole = isinstance(value, int)
        return type_ == "boolean" or (
            type_ in INTEGER_BITS and not (whole and _in_range(str(value), type_))
        )
    return not type_.startswith(("struct", "array", "map"))


def _text_misfits(text: str, type_: str, spec: ZoneSpec) -> bool:
    if type_ in INTEGER_BITS:
        return not _in_range(text, type_)
    if type_ in {"float", "double"} or type_.startswith("decimal"):
        return not _is_number(text)
    if type_ == "boolean":
        return text.casefold() not in {"true", "false"}
    if type_ == "date":
        return spec.date_format is None and not _DAY.fullmatch(text)
    return type_.startswith("timestamp") and not any(sign.isdigit() for sign in text)


def _in_range(text: str, type_: str) -> bool:
    half = 1 << (INTEGER_BITS[type_] - 1)
    return bool(_WHOLE.fullmatch(text)) and -half <= int(text) < half


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return text == text.strip() and "_" not in text


def advice(column: Field, value: object, spec: ZoneSpec) -> str:
    """What to set so that the value fits."""
    if spec.expected_schema:
        return "expected_schema in zone.yaml says so"
    other = f"to read the column otherwise, {spec.how_to_type(column.name, _wider(value))}"
    if spec.takes_nulls and isinstance(value, str) and value.strip().casefold() in _LIKE_NULL:
        nulls = ", ".join(f'"{text}"' for text in (value, *spec.nulls))
        return f"if it means NULL, set nulls: [{nulls}] in zone.yaml; {other}"
    return other


def _wider(value: object) -> str:
    text = str(value)
    if _WHOLE.fullmatch(text) and _in_range(text, "bigint"):
        return "bigint"
    return "double" if not isinstance(value, bool) and _is_number(text) else "string"
