"""Landing zones: files arrive, are frozen for a run, read with every row accounted for, and archived or set aside."""

from lakebed.landing.archive import archive, processed, samples
from lakebed.landing.checking.check import CheckedFiles
from lakebed.landing.checking.parts import frame_of_some
from lakebed.landing.checking.reader import Reader
from lakebed.landing.checking.remembered_types import NOTHING_REMEMBERED, Follows, RememberedTypes
from lakebed.landing.known import archived_places, digests, locate, recognise
from lakebed.landing.links import links
from lakebed.landing.plan import (
    Move,
    archivable,
    archiving_run,
    below_run,
    fits_pattern,
    fits_zone_pattern,
    fresh,
    is_archived,
    waiting,
)
from lakebed.landing.put import checked_name, put, put_path
from lakebed.landing.requeue import requeue
from lakebed.landing.run import Frozen, Landed, first_look, freeze, open_zone, recheck
from lakebed.landing.spec import ZONE_FILE, ZoneSpec, load_zone
from lakebed.landing.type_text import parse_type
from lakebed.landing.types import Type, join_types

__all__ = [
    "NOTHING_REMEMBERED",
    "ZONE_FILE",
    "CheckedFiles",
    "Follows",
    "Frozen",
    "Landed",
    "Move",
    "Reader",
    "RememberedTypes",
    "Type",
    "ZoneSpec",
    "archivable",
    "archive",
    "archived_places",
    "archiving_run",
    "below_run",
    "checked_name",
    "digests",
    "first_look",
    "fits_pattern",
    "fits_zone_pattern",
    "frame_of_some",
    "freeze",
    "fresh",
    "is_archived",
    "join_types",
    "links",
    "load_zone",
    "locate",
    "open_zone",
    "parse_type",
    "processed",
    "put",
    "put_path",
    "recheck",
    "recognise",
    "requeue",
    "samples",
    "waiting",
]
