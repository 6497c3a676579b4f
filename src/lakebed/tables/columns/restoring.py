"""Whether a table's columns are as a run has left them, so that they may be set back. Pure."""

from collections.abc import Collection

from lakebed.ports import Column, TableMetadata


def schema_to_restore(
    metadata: TableMetadata, former: int | None, *, touched: Collection[str], reshaped: bool = False
) -> int | None:
    """The schema to set back after a run that added or widened the columns `touched`; None where there is nothing to set back.

    Nor is there where somebody else has changed other columns since: theirs stay, and the run's new ones too, without
    values. A run that was half published may have `reshaped` the others itself.
    """
    if former is None or former == metadata.schema or former not in metadata.schemas:
        return None
    own = {name.casefold() for name in touched}
    before, now = _others(metadata.schemas[former], own), _others(metadata.columns, own)
    others = now.keys() - before.keys() if reshaped else before.items() ^ now.items()
    return None if others else former


def _others(columns: Collection[Column], own: Collection[str]) -> dict[int, tuple[str, str]]:
    return {column.id: (column.name, column.type) for column in columns if column.name.casefold() not in own}
