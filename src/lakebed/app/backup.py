"""`care.backup` and `care.relocation` wired to the lake's database and file stores."""

from pathlib import Path

from lakebed.app.stores import Stores
from lakebed.care.backup import BackupServices
from lakebed.care.fsck import FsckServices
from lakebed.care.relocation import RelocationServices
from lakebed.engines.database.backup import LakeDatabaseArchive
from lakebed.engines.files import FolderFiles, open_files
from lakebed.engines.files.files_by_url import FilesByUrl
from lakebed.engines.iceberg.upkeep.relocation import Relocation
from lakebed.ports import Files
from lakebed.settings import Root, Settings


def backup_services(fsck: FsckServices, stores: Stores, settings: Settings) -> BackupServices:
    """What backups of this lake work with."""

    def open_place(place: str) -> Files:
        is_bucket = place.startswith("s3://")
        return (
            open_files(Root.parse(place), settings.files) if is_bucket else FolderFiles(Path(place))
        )

    database = LakeDatabaseArchive(stores.database)
    return BackupServices(database, fsck, relocation_services(fsck, stores, settings), open_place)


def relocation_services(
    fsck: FsckServices, stores: Stores, settings: Settings
) -> RelocationServices:
    """What a relocation of this lake works with."""

    def relocator(origin: str, only_look: bool) -> Relocation:
        places = FilesByUrl(fsck.root, stores.files, settings.files)
        return Relocation(places, origin=origin, root=fsck.root, only_look=only_look)

    database = LakeDatabaseArchive(stores.database)
    return RelocationServices(fsck, database, relocator)
