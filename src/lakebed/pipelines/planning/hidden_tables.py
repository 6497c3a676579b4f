"""Names of the hidden tables that a run works in. Pure."""

from lakebed.names import TableName


def hidden_table(table: TableName, run_id: str) -> TableName:
    """Where a first run writes, until it is published."""
    return TableName(table.namespace, table.layer, f"run_{run_id}")


def staged_table(table: TableName, run_id: str) -> TableName:
    """Where a run keeps its result until it is merged."""
    return TableName(table.namespace, table.layer, f"stage_{run_id}")


def replay_table(table: TableName, run_id: str) -> TableName:
    """Where a run rebuilds a table, batch by batch."""
    return TableName(table.namespace, table.layer, f"replay_{run_id}")
