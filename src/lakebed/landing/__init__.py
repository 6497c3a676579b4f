"""Landing zones: files arrive, are frozen for a run, read with every row accounted for, and archived or set aside."""

from lakebed.landing.archive import archive_files, processed_files, sample_files
from lakebed.landing.bring_back import bring_back_files
from lakebed.landing.checking.check import CheckedFiles
from lakebed.landing.checking.frames import frame_of_some
from lakebed.landing.checking.remembered_types import NOTHING_REMEMBERED, MayWiden, RememberedTypes
from lakebed.landing.known import archived_places, content_digests, locate_files, recognise_files
from lakebed.landing.links import link_files
from lakebed.landing.plan import (
    Move,
    archiving_run,
    data_files,
    is_archived,
    matches_pattern,
    matches_zone_pattern,
    not_consumed,
    path_in_run,
    plan_archive,
)
from lakebed.landing.put import put_file, put_local_file, require_file_name
from lakebed.landing.run import FrozenFiles, ZoneRows, freeze, infer_zone_types, open_zone, require_unchanged
from lakebed.landing.spec import ZONE_FILE, ZoneSpec, load_zone

__all__ = [
    "NOTHING_REMEMBERED",
    "ZONE_FILE",
    "CheckedFiles",
    "FrozenFiles",
    "MayWiden",
    "Move",
    "RememberedTypes",
    "ZoneRows",
    "ZoneSpec",
    "archive_files",
    "archived_places",
    "archiving_run",
    "bring_back_files",
    "content_digests",
    "data_files",
    "frame_of_some",
    "freeze",
    "infer_zone_types",
    "is_archived",
    "link_files",
    "load_zone",
    "locate_files",
    "matches_pattern",
    "matches_zone_pattern",
    "not_consumed",
    "open_zone",
    "path_in_run",
    "plan_archive",
    "processed_files",
    "put_file",
    "put_local_file",
    "recognise_files",
    "require_file_name",
    "require_unchanged",
    "sample_files",
]
