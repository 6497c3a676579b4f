"""Why a folder cannot become a table of this name."""

from lakebed.errors import NameTaken
from lakebed.names import TableName


def already_there(table: TableName) -> NameTaken:
    """A folder becomes a new table, never part of one."""
    return NameTaken(
        f"{table} exists already, and a folder becomes a new table.",
        where=str(table),
        safe="Nothing was changed.",
        next=f"Choose another name, or drop it first: lakebed table drop {table}. New files of a"
        " folder are added by lakebed table write.",
    )
