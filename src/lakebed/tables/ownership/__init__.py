"""Which database owns a lake: only a process of that database may write to the lake's files."""

from lakebed.tables.ownership.changes import Takeover, raise_format
from lakebed.tables.ownership.guards import OwnedFiles, OwnedLeases
from lakebed.tables.ownership.owner import Ownership
from lakebed.tables.ownership.root_file import IDENTITY_FILE, LakeFormat, RootIdentity
from lakebed.tables.ownership.standing import Standing, standing_of

__all__ = [
    "IDENTITY_FILE",
    "LakeFormat",
    "OwnedFiles",
    "OwnedLeases",
    "Ownership",
    "RootIdentity",
    "Standing",
    "Takeover",
    "raise_format",
    "standing_of",
]
