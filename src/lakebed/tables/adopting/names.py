"""The names by which columns of adopted files are found. Pure.

They are those of the day of the adoption: the files never change, and later files have field ids.
Iceberg gives the name of a former column to a new one of that name. Values of the files would then
be shown in the new column, and be gone from the one that was renamed.
"""

from lakebed.ports import ADOPTED_NAMES, NAME_MAPPING, SetProperties, TableMetadata


def names_to_restore(metadata: TableMetadata) -> tuple[SetProperties, ...]:
    """Set the mapping back if somebody changed it; nothing for tables without adopted files."""
    kept = metadata.properties.get(ADOPTED_NAMES)
    if kept is None or metadata.properties.get(NAME_MAPPING) == kept:
        return ()
    return (SetProperties({NAME_MAPPING: kept}),)
