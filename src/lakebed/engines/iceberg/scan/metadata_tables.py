"""Metadata tables that need manifests: files and partitions, as Arrow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakebed.ports import Pointer

if TYPE_CHECKING:
    import pyarrow as pa


def metadata_rows(
    pointer: Pointer, snapshot: int | None, about: str, properties: Mapping[str, str]
) -> "pa.Table":
    """`files` or `partitions` of a table at a snapshot, with the columns of Iceberg's metadata
    tables.
    """
    from lakebed.engines.iceberg.metadata.documents import static_table

    table = static_table(pointer.location, properties)
    found = (
        table.inspect.files(snapshot) if about == "files" else table.inspect.partitions(snapshot)
    )
    return _without_empty(found if snapshot is not None else found.slice(0, 0))


def _without_empty(table: "pa.Table") -> "pa.Table":
    """Without empty structs, such as the partition of an unpartitioned table: not every engine has
    them.
    """
    import pyarrow as pa

    empty = [
        field.name
        for field in table.schema
        if pa.types.is_struct(field.type) and field.type.num_fields == 0
    ]
    return table.drop_columns(empty)
