"""Landing zones: files arrive, are frozen for a run, read with every row accounted for, and archived or set aside."""

from lakebed.landing.archive import archive, processed, samples
from lakebed.landing.known import archived_places, digests, locate, recognise
from lakebed.landing.links import links
from lakebed.landing.parts import frame_of_some
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
from lakebed.landing.reader import Reader
from lakebed.landing.requeue import requeue
from lakebed.landing.run import Frozen, Landed, freeze, open_zone, recheck
from lakebed.landing.spec import ZONE_FILE, ZoneSpec, load_zone

__all__ = [
    "ZONE_FILE",
    "Frozen",
    "Landed",
    "Move",
    "Reader",
    "ZoneSpec",
    "archivable",
    "archive",
    "archived_places",
    "archiving_run",
    "below_run",
    "checked_name",
    "digests",
    "fits_pattern",
    "fits_zone_pattern",
    "frame_of_some",
    "freeze",
    "fresh",
    "is_archived",
    "links",
    "load_zone",
    "locate",
    "open_zone",
    "processed",
    "put",
    "put_path",
    "recheck",
    "recognise",
    "requeue",
    "samples",
    "waiting",
]
