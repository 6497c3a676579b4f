"""File stores: a folder, or a bucket."""

from lakebed.engines.files.folder import FolderFiles
from lakebed.engines.files.open import open_files

__all__ = ["FolderFiles", "open_files"]
