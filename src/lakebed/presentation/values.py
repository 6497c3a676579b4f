"""Any value, and any error, as JSON has it."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from lakebed.errors import LakebedError


def json_ready(value: Any) -> Any:
    """Mappings and dataclasses as dicts, sequences as lists, times in ISO 8601, the rest
    as text.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {key: json_ready(inner) for key, inner in value.items()}
        case list() | tuple():
            return [json_ready(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return fields_of(value)
    return str(value)


def fields_of(instance: "DataclassInstance", **instead: Any) -> dict[str, Any]:
    """A dataclass, field by field; `instead` replaces fields and adds others."""
    own = {field.name: getattr(instance, field.name) for field in fields(instance)}
    return {name: json_ready(value) for name, value in (own | instead).items()}


def error_json(error: "LakebedError") -> dict[str, Any]:
    """An error, with what a caller needs to decide whether to try again."""
    faults = [fault.as_dict() for fault in getattr(error, "faults", ())]
    found = error.as_dict() | {"retryable": error.retryable}
    return {"error": found | ({"faults": faults} if faults else {})}
