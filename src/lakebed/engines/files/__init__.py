"""File stores: a folder, or a bucket."""

from lakebed.engines.files.files_by_url import open_files
from lakebed.engines.files.folder import FolderFiles

__all__ = ["FolderFiles", "open_files"]
