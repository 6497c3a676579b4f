"""Where an adopted folder is, and whether it may be adopted: its files must stay the user's."""

from collections.abc import Iterable
from pathlib import Path

from lakebed.errors import UsageError
from lakebed.settings import DATA, Root, normalized_location

_OWN = ("warehouse", "landing", "pipelines")
# signs that engines read as part of a pattern, or as the end of a path
_UNSAFE = "*?[]{}#\\^"


def folder_address(folder: str | Path) -> str:
    """The address of a folder: absolute, without symbolic links and without a slash at its end."""
    text = normalized_location(str(folder))
    if text.startswith("s3://"):
        return text.rstrip("/")
    if "://" in text:
        raise UsageError(
            f"{text!r} is no folder that can be adopted.",
            next="Name a folder, or s3://bucket/path.",
        )
    return str(Path(text).expanduser().resolve())


def store_of(address: str, root: Root) -> tuple[str, str]:
    """The store of a folder as sources name it (empty: the lake's own), and the path in it."""
    if (below := root.relative(address)) is not None:
        return "", below
    if address.startswith("s3://"):
        bucket, _, path = address.removeprefix("s3://").partition("/")
        return f"s3://{bucket}", path
    return "/", address.lstrip("/")


def require_adoptable(address: str, root: Root, tables: Iterable[str], *, rewrite: bool) -> None:
    """Refuse a folder in which Lakebed writes or removes files, or has its own below it.

    `tables` are the locations of all tables.
    """
    below, home = root.relative(address), normalized_location(root.url)
    parts = below.split("/") if below else []
    if address == home or f"{home}/".startswith(f"{address}/"):
        raise _refusal(address, "it contains the lake itself")
    if parts and (parts[0] == DATA or (len(parts) > 1 and parts[1] in _OWN)):
        raise _refusal(address, "Lakebed writes and removes files there")
    for table in tables:
        place = normalized_location(table).rstrip("/")
        if f"{address}/".startswith(f"{place}/") or f"{place}/".startswith(f"{address}/"):
            raise _refusal(address, f"a table is there: {place}")
    if not rewrite and root.is_bucket != address.startswith("s3://"):
        raise UsageError(
            "files in a folder cannot be part of a lake in a bucket, nor the other way round.",
            where=address,
            next="Copy the rows instead: --rewrite.",
        )
    if not rewrite and root.is_bucket and below is None:
        raise UsageError(
            f"the folder is not below {root}, and readers may have keys for that place only.",
            where=address,
            next="Copy the rows instead: --rewrite.",
        )


def unsafe_sign(path: str) -> str:
    """A sign in a path that engines read differently; empty if there is none."""
    return next((sign for sign in path if sign in _UNSAFE), "")


def _refusal(address: str, why: str) -> UsageError:
    return UsageError(
        f"the folder cannot be adopted: {why}.",
        where=address,
        safe="Nothing was changed.",
        next="Move or copy the files to a folder of your own, and adopt that.",
    )
