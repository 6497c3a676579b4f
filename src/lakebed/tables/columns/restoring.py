"""Whether a table's columns are still as a run left them, so that they can be restored. Pure."""

from collections.abc import Collection

from lakebed.ports import Column, TableMetadata


def schema_to_restore(
    metadata: TableMetadata, former: int | None, *, touched: Collection[str], reshaped: bool = False
) -> int | None:
    """The schema to restore after a run that added or widened the columns `touched`; None if there
    is none.

    If other columns were changed since, nothing is restored: those changes stay, and so do the
    run's new columns, without values. A run that was half published may have `reshaped` the other
    columns itself.
    """
    if former is None or former == metadata.schema or former not in metadata.schemas:
        return None
    own = {name.casefold() for name in touched}
    before, now = _others(metadata.schemas[former], own), _others(metadata.columns, own)
    others = now.keys() - before.keys() if reshaped else before.items() ^ now.items()
    return None if others else former


def _others(columns: Collection[Column], own: Collection[str]) -> dict[int, tuple[str, str]]:
    return {
        column.id: (column.name, column.type)
        for column in columns
        if column.name.casefold() not in own
    }
