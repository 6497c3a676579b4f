"""`.data/lake.json`: the lake's identity, as its root stores it."""

import json
from dataclasses import asdict, dataclass
from enum import IntEnum

from lakebed.errors import DamagedIdentity, FileMissing, NewerLake
from lakebed.ports import Files, LakeIdentity
from lakebed.settings import DATA

IDENTITY_FILE = f"{DATA}/lake.json"


class LakeFormat(IntEnum):
    """What a lake has come to use that older versions of Lakebed would damage."""

    IDENTITY = 1
    LEDGER_DECISIONS = 2


@dataclass(frozen=True)
class RootIdentity:
    """What the root stores: the identity, the lake's format, and the id of the lake that this one
    is a copy of.
    """

    identity: LakeIdentity
    format: int = LakeFormat.IDENTITY
    copy_of: str | None = None

    def as_bytes(self) -> bytes:
        document = {"format": self.format, **asdict(self.identity), "copy_of": self.copy_of}
        return json.dumps(document, indent=2).encode() + b"\n"


@dataclass(frozen=True)
class StoredRootIdentity:
    """A root's identity, and the etag by which it can be replaced."""

    content: RootIdentity
    etag: str


def read_root_identity(files: Files) -> StoredRootIdentity | None:
    """The identity of a root; None before the first writer.

    `NewerLake` if the lake has a format that this version of Lakebed does not know.
    """
    try:
        # the etag first: if the file is replaced in between, the etag is the one that is outdated
        etag = files.info(IDENTITY_FILE).etag
        data = files.read(IDENTITY_FILE)
    except FileMissing:
        return None
    return StoredRootIdentity(_parsed(data, files), etag)


def peek_root_identity(files: Files) -> RootIdentity | None:
    """The same in one request, for who replaces nothing."""
    try:
        return _parsed(files.read(IDENTITY_FILE), files)
    except FileMissing:
        return None


def _parsed(data: bytes, files: Files) -> RootIdentity:
    where = f"{files.where}/{IDENTITY_FILE}"
    try:
        document = json.loads(data)
        number = int(document["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedIdentity(where, str(error)) from None
    if number > max(LakeFormat):
        raise NewerLake(number, max(LakeFormat), what="the lake has format")
    try:
        identity = LakeIdentity(
            id=str(document["id"]),
            address=str(document["address"]),
            generation=int(document["generation"]),
            fingerprint=str(document["fingerprint"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedIdentity(where, str(error)) from None
    return RootIdentity(identity, number, document.get("copy_of"))
