"""A folder with a run's files, for code that reads from paths."""

import re
from collections.abc import Iterable
from pathlib import Path

from lakebed.errors import BadFiles
from lakebed.landing.formats.streams import open_stream
from lakebed.ports import FileInfo, Files

_PLAIN = re.compile(r"[^A-Za-z0-9._-]")
_PIECE = 4 * 1024 * 1024


def link_files(files: Files, frozen: Iterable[FileInfo], folder: Path) -> str:
    """Fill a folder with exactly these files and return a glob that matches them.

    Local files are linked, files of a bucket are copied. Names are simplified and numbered, so that
    they contain neither quotes nor wildcards; extensions are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for number, file in enumerate(frozen):
        name = _PLAIN.sub("_", file.path.rpartition("/")[2])[-100:].lstrip(".")
        _bring(files, file, folder / f"{number:06d}-{name}")
    return f"{folder}/*"


def _bring(files: Files, file: FileInfo, to: Path) -> None:
    place = Path(files.where) / file.path
    if place.is_absolute() and place.is_file():
        to.symlink_to(place)
        return
    if files.info(file.path).etag != file.etag:
        raise BadFiles(
            "the file changed after it was read.",
            where=file.path,
            safe="Nothing was published.",
            next="Run it again.",
        )
    with open_stream(files, file, gzipped=False) as stream, to.open("xb") as copy:
        while piece := stream.read(_PIECE):
            copy.write(piece)
