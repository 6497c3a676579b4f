"""Opening a location by its address."""

from pathlib import Path
from urllib.parse import urlsplit

from lakebed.engines.files.folder import FolderFiles
from lakebed.errors import UsageError, near, suggestion
from lakebed.ports.files.files import Files
from lakebed.settings import FilesSettings, KartothekSettings, Root, normalized_location

_S3 = ("s3", "s3a", "s3n")
_CLOUDS = ("az", "gs")
_SCHEMES = (*_S3, *_CLOUDS, "file")


def open_location(url: str, files: FilesSettings, settings: KartothekSettings) -> Files:
    """The files of a location: a folder, `s3://`, `az://` or `gs://`. Nothing is contacted yet.

    `files` is how the lake's bucket is reached, which holds for `s3://` too where `settings` says
    nothing else.
    """
    scheme, found, _ = url.partition("://")
    place = normalized_location(url if url.endswith("://") else url.rstrip("/") or "/")
    if not found or scheme == "file":
        return FolderFiles(Path(place).expanduser())
    if scheme in _S3:
        from lakebed.engines.files.s3 import S3Files  # late: a folder must not load obstore

        return S3Files(Root.parse(place), files.with_location(settings))
    if scheme in _CLOUDS and urlsplit(place).netloc:
        from lakebed.engines.files.cloud.cloud_files import AzureFiles, GoogleFiles

        return (AzureFiles if scheme == "az" else GoogleFiles)(place, settings)
    if scheme in _CLOUDS:
        raise UsageError("the address names no container or bucket.", where=url)
    raise UsageError(
        f"there are no locations with {scheme}://.",
        where=url,
        next=suggestion(tuple(f"{one}://" for one in near(scheme, _SCHEMES)))
        or "Locations are folders, s3://, az:// and gs:// addresses.",
    )
