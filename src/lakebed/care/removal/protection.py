"""Who needs the files of a table or of snapshots that are about to go. Pure."""

from collections.abc import Collection, Iterable

from lakebed.care.all_tables import Member, Stock
from lakebed.ports import SnapshotProtection


def protected_by(going: Collection[int], kept: Iterable[SnapshotProtection], stock: Stock) -> str:
    """Who protects one of these snapshots, which no longer belong to a table; empty: nobody.

    A clone has snapshots of its source. What is protected of a table that still has it is not
    counted: that table keeps its files.
    """
    return next((one.holder for one in kept if one.snapshot in going and not _has(stock, one)), "")


def table_protected_by(member: Member, kept: Collection[SnapshotProtection], stock: Stock) -> str:
    """Who protects a snapshot of a table that is to go with all its files; empty: nobody."""
    own = member.dropped.hidden_name if member.dropped else member.pointer.table
    holder = next((one.holder for one in kept if one.table == own), "")
    return holder or protected_by(member.metadata.snapshots if member.metadata else (), kept, stock)


def _has(stock: Stock, protection: SnapshotProtection) -> bool:
    named = stock.tables.get(protection.table)
    return bool(named and named.metadata and protection.snapshot in named.metadata.snapshots)
