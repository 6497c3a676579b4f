"""Whether rows that were appended to an earlier state of a table can be appended to the present one
as they are. Pure.
"""

from lakebed.ports import TableMetadata

_FORMAT = 2  # the one whose snapshots are written out of files that exist


def can_rebase(former: TableMetadata, present: TableMetadata, *, base: int, ref: str) -> bool:
    """Whether a ref has gained only appends since the snapshot `base`, and the table still has the
    columns and the partitioning that it had.
    """
    return (
        present.format_version == _FORMAT
        and _shape(former) == _shape(present)
        and _only_appends(present, since=base, ref=ref)
    )


def _shape(metadata: TableMetadata) -> tuple[str, int, int]:
    return metadata.uuid, metadata.schema, metadata.spec


def _only_appends(metadata: TableMetadata, *, since: int, ref: str) -> bool:
    head = metadata.refs.get(ref)
    for snapshot in metadata.ancestry(head.snapshot if head else None):
        if snapshot.id == since:
            return True
        appends = snapshot.operation == "append" and not snapshot.count("added-delete-files")
        if not appends or metadata.schema_at(snapshot) != metadata.schema:
            return False
    return False  # the base has expired, or was rolled back
