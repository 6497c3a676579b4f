"""Opening the store of a root."""

from lakebed.engines.files.folder import FolderFiles
from lakebed.ports.files.files import Files
from lakebed.settings import FilesSettings, Root


def open_files(root: Root, settings: FilesSettings) -> Files:
    """The files below a root. The store is not contacted yet; `probe` does that."""
    if root.is_bucket:
        from lakebed.engines.files.s3 import S3Files  # late: a folder lake must not load obstore

        return S3Files(root, settings)
    return FolderFiles(root.folder)
