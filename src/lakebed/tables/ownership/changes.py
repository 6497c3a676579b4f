"""Changes of a lake's identity: in the root first, by a conditional write, then in the database.

The root decides. Interrupted in between, the database does not own the lake, and the change is
made again.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import uuid4

from lakebed.errors import FileExists, FileReplaced, UsageError
from lakebed.ports import Files, IdentityRow, LakeIdentity
from lakebed.tables.ownership.root_file import (
    IDENTITY_FILE,
    LakeFormat,
    RootIdentity,
    read_root_identity,
)
from lakebed.tables.ownership.standing import Identities


@dataclass(frozen=True)
class Takeover:
    """The lake's identity after a takeover, and the one before it, if there was one."""

    now: LakeIdentity
    before: LakeIdentity | None


def take_over(files: Files, row: IdentityRow, seen: Identities) -> Takeover:
    """Give the lake a generation that only this database has."""
    generations = [one.generation for one in (seen.owner, seen.row) if one]
    identity = LakeIdentity(
        id=seen.owner.id if seen.owner else uuid4().hex,
        address=seen.address,
        generation=max(generations, default=0) + 1,
        fingerprint=seen.fingerprint,
    )
    _store(files, row, seen, identity, copy_of=seen.root.copy_of if seen.root else None)
    return Takeover(identity, seen.owner)


def settle_here(files: Files, row: IdentityRow, seen: Identities, *, keeps_id: bool) -> None:
    """Give a copied lake an id of its own at its present address; a moved one keeps its id."""
    before = seen.owner
    keeps = before if keeps_id else None
    identity = LakeIdentity(
        id=keeps.id if keeps else uuid4().hex,
        address=seen.address,
        generation=keeps.generation + 1 if keeps else 1,
        fingerprint=seen.fingerprint,
    )
    _store(files, row, seen, identity, copy_of=before.id if before and not keeps else None)


def require_own_database(row: IdentityRow, seen: Identities) -> None:
    """Raise if a copy is opened with the original's database. One that is a file of the lake was
    copied with it.
    """
    if not seen.owner or not seen.is_owners_database or row.is_in_root:
        return
    raise UsageError(
        f"the database {row.where} is that of the lake at {seen.owner.address}.",
        where=seen.address,
        next=(
            "Give the copy a database of its own (lakebed restore). If the lake was moved, and is"
            " no longer there: lakebed relocate --moved"
        ),
    )


def raise_format(files: Files, number: LakeFormat) -> None:
    """Raise the lake's format to at least this number, before the first use of what older versions
    of Lakebed would damage: they refuse the lake from then on. A root without an identity has no
    format.
    """
    stored = read_root_identity(files)
    while stored is not None and stored.content.format < number:
        raised = replace(stored.content, format=int(number))
        with suppress(FileReplaced):  # by a takeover, or by another process that raised it
            files.replace(IDENTITY_FILE, raised.as_bytes(), etag=stored.etag)
        stored = read_root_identity(files)


def _store(
    files: Files,
    row: IdentityRow,
    seen: Identities,
    identity: LakeIdentity,
    *,
    copy_of: str | None,
) -> None:
    stored = read_root_identity(files)
    if (stored.content if stored else None) != seen.root:
        raise _overtaken(seen.address)
    try:
        if stored is None:
            files.create(IDENTITY_FILE, RootIdentity(identity, copy_of=copy_of).as_bytes())
        else:
            content = RootIdentity(identity, stored.content.format, copy_of)
            files.replace(IDENTITY_FILE, content.as_bytes(), etag=stored.etag)
    except (FileExists, FileReplaced):
        raise _overtaken(seen.address) from None
    if not row.store(identity, instead_of=seen.row):
        raise _overtaken(seen.address)


def _overtaken(address: str) -> UsageError:
    return UsageError(
        "another process changed the lake's identity at the same moment.",
        where=address,
        next="Look who owns the lake now: lakebed doctor",
    )
