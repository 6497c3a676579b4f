"""Which tables the pipeline folders build, whether or not every folder can be read."""

from collections.abc import Mapping

from lakebed.errors import LakebedError
from lakebed.names import TableName
from lakebed.pipelines.definition.load import decode_files, is_source, read_folders, read_pipeline
from lakebed.pipelines.definition.naming import require_known_layer, tables_of_folders
from lakebed.ports import Files
from lakebed.settings import Settings


def inspect_folders(
    files: Files, settings: Settings
) -> tuple[frozenset[TableName], Mapping[str, str]]:
    """The tables that pipeline folders build, and why folders cannot be read. A folder that cannot
    be read still claims the table it is named after.
    """
    tables: set[TableName] = set()
    unreadable: dict[str, str] = {}
    folders = read_folders(files)
    known = tables_of_folders(folders)
    for folder, contents in folders.items():
        if not _is_pipeline(contents):
            continue
        try:
            require_known_layer(folder, settings)
            tables.add(read_pipeline(folder, decode_files(folder, contents), known=known).table)
        except LakebedError as error:
            unreadable[folder] = error.what
            tables |= tables_of_folders([folder])
    return frozenset(tables), unreadable


def _is_pipeline(contents: Mapping[str, bytes]) -> bool:
    return "config.yaml" in contents or any(map(is_source, contents))
