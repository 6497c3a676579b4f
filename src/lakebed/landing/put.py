"""Putting a file into a zone, under a name that stays in the zone and will be read."""

from pathlib import Path

from lakebed.errors import BadName, FileExists
from lakebed.landing.plan import SAMPLES, is_data
from lakebed.landing.spec import ZONE_FILE
from lakebed.names import ZoneName
from lakebed.ports import FileInfo, Files
from lakebed.ports.files.file_content import Content

_UNPRINTABLE = {*map(chr, range(32)), "\x7f", "\\"}


def put_file(
    files: Files,
    zone: ZoneName,
    name: str,
    data: Content,
    *,
    replace: bool = False,
    sample: bool = False,
) -> FileInfo:
    """Put a file into a zone or its samples; `FileExists` if the name is taken, unless it may be
    replaced.
    """
    folder = f"{zone.folder}/{SAMPLES}" if sample else zone.folder
    path = f"{folder}/{require_file_name(name)}"
    try:
        return files.write(path, data) if replace else files.create(path, data)
    except FileExists as error:
        error.next = "Choose another name, or replace it: --replace."
        raise


def put_local_file(
    files: Files,
    zone: ZoneName,
    path: Path,
    *,
    name: str | None = None,
    replace: bool = False,
    sample: bool = False,
) -> FileInfo:
    """Put a local file into a zone, by default under its own name."""
    with path.open("rb") as file:
        return put_file(files, zone, name or path.name, file, replace=replace, sample=sample)


def require_file_name(name: str) -> str:
    """The name, if a file of that name would be read; `BadName` with the reason otherwise.

    It may contain folders.
    """
    parts = name.split("/")
    if not all(part not in {"", ".", ".."} for part in parts):
        raise BadName(
            "file in a zone",
            name,
            "'.', '..', empty parts and a slash at its start would lead out of the zone",
        )
    if sign := next((sign for sign in name if sign in _UNPRINTABLE), None):
        raise BadName("file in a zone", name, f"the character {sign!r} is not allowed in it")
    if any(part.startswith(("_", ".")) for part in parts):
        raise BadName("file in a zone", name, "names that begin with '_' or '.' are not read")
    if name == ZONE_FILE:
        raise BadName("file in a zone", name, "that is where the zone's settings are")
    if not is_data(name):
        raise BadName("file in a zone", name, "such names mark files that are still being written")
    return name
