"""Why a lake cannot be written to, or read, with a database: in words."""

from lakebed.errors import CopiedLake, LakebedError, NotOwner, WrongDatabase
from lakebed.ports import IdentityRow
from lakebed.settings import Root
from lakebed.tables.ownership.standing import Identities, Standing, standing_of

_FILL = (
    "Check catalog.url in lakebed.yaml and LAKEBED_CATALOG_*. If the lake's database is lost:"
    " lakebed restore BACKUP --newest; without a backup: lakebed fsck --rebuild-catalog"
)


def refusal(root: Root, row: IdentityRow, seen: Identities) -> LakebedError:
    """The error for a standing that does not allow what was asked for."""
    standing = standing_of(seen)
    if standing is Standing.OTHER_LAKE:
        return _other_lake(root, row, seen)
    if standing is Standing.ELSEWHERE:
        return CopiedLake(str(root), _other_address(seen))
    return NotOwner(str(root), row.where, _why_not(seen))


def _other_lake(root: Root, row: IdentityRow, seen: Identities) -> LakebedError:
    address = seen.row.address if seen.row else ""
    return WrongDatabase(str(root), row.where, f"it belongs to the lake at {address}.")


def _other_address(seen: Identities) -> str:
    addresses = (identity.address for identity in (seen.owner, seen.row) if identity)
    return next((address for address in addresses if not seen.is_here(address)), "")


def _why_not(seen: Identities) -> str:
    if seen.root is None:
        return "the root has lost its identity."
    if seen.row is None or not seen.is_owners_database:
        return "another one does, of which this may be a copy."
    return (
        f"it has generation {seen.row.generation} of the lake, and another database has taken over"
        f" with generation {seen.root.identity.generation}."
    )


def empty_database(root: Root, row: IdentityRow) -> WrongDatabase:
    """The error for a database without a table, beside a root that has some."""
    return WrongDatabase(str(root), row.where, "it is empty, and the lake is not.", next=_FILL)


def tables_elsewhere(root: Root, row: IdentityRow) -> WrongDatabase:
    """The error for a database none of whose tables lies in the root."""
    why = "none of its tables lies here."
    return WrongDatabase(
        str(root),
        row.where,
        why,
        next=f"{_FILL}. If the lake was copied or moved: lakebed relocate",
    )


def holds_a_lake(root: Root, row: IdentityRow) -> WrongDatabase:
    """The error for a new lake's database that is in use."""
    return WrongDatabase(
        str(root),
        row.where,
        "it holds a lake already.",
        next="Give each lake a database of its own: catalog.url",
    )
