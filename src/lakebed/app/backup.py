"""`care.backup` and `care.relocation` wired to the lake's database and file stores."""

from pathlib import Path

from lakebed.app.fsck import fsck_services
from lakebed.app.lake import Lake
from lakebed.care.backup import BackupServices
from lakebed.care.fsck import Report, quiet
from lakebed.care.relocation import RelocationServices
from lakebed.engines.database.backup import LakeDatabaseArchive
from lakebed.engines.files import FolderFiles, open_files
from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.upkeep.relocation import Relocation
from lakebed.ports import Files
from lakebed.settings import Root


def backup_services(lake: Lake, *, report: Report = quiet) -> BackupServices:
    """What backups of this lake work with."""

    def open_place(place: str) -> Files:
        is_bucket = place.startswith("s3://")
        return (
            open_files(Root.parse(place), lake.settings.files)
            if is_bucket
            else FolderFiles(Path(place))
        )

    database = LakeDatabaseArchive(lake.stores.database)
    return BackupServices(database, fsck_services(lake, report=report), open_place)


def relocation_services(lake: Lake, *, report: Report = quiet) -> RelocationServices:
    """What a relocation of this lake works with."""

    def relocator(origin: str, only_look: bool) -> Relocation:
        places = FilesByUrl(lake.root, lake.stores.files, lake.settings.files)
        return Relocation(places, origin=origin, root=lake.root, only_look=only_look)

    database = LakeDatabaseArchive(lake.stores.database)
    return RelocationServices(fsck_services(lake, report=report), database, relocator)
