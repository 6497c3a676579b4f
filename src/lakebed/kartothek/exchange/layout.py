"""How a table becomes a dataset: keys, indices and types."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakebed.errors import BadBatch
from lakebed.kartothek.format.column_types import StringProfile
from lakebed.kartothek.format.state import DatasetState
from lakebed.kartothek.writing.options import DatasetOptions


@dataclass(frozen=True)
class ExportOptions:
    """How a table becomes a dataset; None: as the dataset is, or without."""

    partition_keys: tuple[str, ...] | None = None
    indexed: tuple[str, ...] | None = None
    strings: StringProfile = StringProfile.LARGE_STRING
    anew: bool = False


def chosen_layout(options: ExportOptions, state: DatasetState | None) -> DatasetOptions:
    keys, indexed = options.partition_keys, options.indexed
    own_keys: Sequence[str] = state.partition_keys if state else ()
    own_indices: Sequence[str] = state.indexed if state else ()
    return DatasetOptions(
        tuple(own_keys if keys is None else keys),
        tuple(own_indices if indexed is None else indexed),
        strings=options.strings,
    )


def storable(schema: Any) -> Any:
    """The schema itself; `BadBatch` names a column of a type that datasets do not have."""
    for field in schema:
        if "extension" in str(field.type) or "fixed_size_binary" in str(field.type):
            raise BadBatch(
                f"the column {field.name!r} is of type {field.type}, which plateau cannot read.",
                safe="Nothing was exported.",
                next="Export a table in which it is text.",
            )
    return schema
