"""Deleting a dataset, and only that one."""

from lakebed.errors import FileMissing, UnknownName
from lakebed.kartothek.format.names import (
    MetadataFormat,
    is_dataset_file,
    metadata_path,
    require_uuid,
)
from lakebed.ports.files.files import Files


def delete(files: Files, uuid: str) -> None:
    """Delete a dataset with all files in its folder; `UnknownName` if there is none.

    The metadata file goes first: from then on the dataset does not exist. What a writer or a
    deletion left that was interrupted can be deleted too, if nothing else is in the folder; so can
    a damaged dataset.
    """
    require_uuid(uuid)
    metadata = [metadata_path(uuid, format) for format in MetadataFormat]
    if not any(_is_there(files, path) for path in metadata):
        paths = [info.path for info in files.list(uuid)]
        if not paths or not all(is_dataset_file(path) for path in paths):
            raise UnknownName("dataset", uuid, files.folders())
    for path in metadata:
        files.delete(path)
    files.clear(uuid)


def datasets(files: Files) -> tuple[str, ...]:
    """The names of the datasets in a location, in order; one or two calls for each folder in it."""
    return tuple(name for name in files.folders() if _is_dataset(files, name))


def _is_there(files: Files, path: str) -> bool:
    try:
        files.info(path)
    except FileMissing:
        return False
    return True


def _is_dataset(files: Files, name: str) -> bool:
    return any(_is_there(files, metadata_path(name, format)) for format in MetadataFormat)
