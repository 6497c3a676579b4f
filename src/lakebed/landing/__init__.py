"""Landing zones: files arrive, are frozen for a run, read with every row accounted for, then
archived or quarantined.
"""

from lakebed.landing.archive import archive_files, processed_files, sample_files
from lakebed.landing.bring_back import bring_back_files
from lakebed.landing.checking.frames import frame_of_some
from lakebed.landing.checking.outcome import CheckedFiles
from lakebed.landing.checking.remembered_types import NOTHING_REMEMBERED, MayWiden, RememberedTypes
from lakebed.landing.checking.sample import SampleFolder
from lakebed.landing.freeze import FrozenFiles, freeze, list_zone, require_unchanged
from lakebed.landing.known import (
    archived_places,
    content_digests,
    files_still_there,
    locate_files,
    recognise_files,
)
from lakebed.landing.ledger import known_files, record_moves, requeue_files
from lakebed.landing.links import link_files
from lakebed.landing.plan import (
    QUARANTINE,
    Move,
    archiving_run,
    data_files,
    each_once,
    is_archived,
    matches_pattern,
    matches_zone_pattern,
    not_consumed,
    path_in_run,
    plan_archive,
    replaced_files,
)
from lakebed.landing.put import put_file, put_local_file, require_file_name
from lakebed.landing.run import WhenChecked, ZoneRows, infer_zone_types, open_zone, sample_folder
from lakebed.landing.spec import ZONE_FILE, ZoneSpec, parse_zone_spec, read_zone_spec
from lakebed.landing.zone_files import Zone, ZoneColumn, ZoneFile, ZoneReader
from lakebed.landing.zones import Zones, zone_folders

__all__ = [
    "NOTHING_REMEMBERED",
    "QUARANTINE",
    "ZONE_FILE",
    "CheckedFiles",
    "FrozenFiles",
    "MayWiden",
    "Move",
    "RememberedTypes",
    "SampleFolder",
    "WhenChecked",
    "Zone",
    "ZoneColumn",
    "ZoneFile",
    "ZoneReader",
    "ZoneRows",
    "ZoneSpec",
    "Zones",
    "archive_files",
    "archived_places",
    "archiving_run",
    "bring_back_files",
    "content_digests",
    "data_files",
    "each_once",
    "files_still_there",
    "frame_of_some",
    "freeze",
    "infer_zone_types",
    "is_archived",
    "known_files",
    "link_files",
    "list_zone",
    "locate_files",
    "matches_pattern",
    "matches_zone_pattern",
    "not_consumed",
    "open_zone",
    "parse_zone_spec",
    "path_in_run",
    "plan_archive",
    "processed_files",
    "put_file",
    "put_local_file",
    "read_zone_spec",
    "recognise_files",
    "record_moves",
    "replaced_files",
    "requeue_files",
    "require_file_name",
    "require_unchanged",
    "sample_files",
    "sample_folder",
    "zone_folders",
]
