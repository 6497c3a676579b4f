"""Where the parts of `.data/` are."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from lakebed.errors import FilesRefused
from lakebed.settings.root import Root
from lakebed.settings.spec import Settings

DATA = ".data"
DATABASE_FILE = f"{DATA}/lake.db"
IN_BUCKET = "bucket"


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder that this user's lakes share, with jars and start-up archives."""
    chosen = environment.get("LAKEBED_CACHE")
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("lakebed")


def logs_folder(settings: Settings, root: Root, environment: Mapping[str, str]) -> Path:
    """Where this machine writes logs; if they are kept in the bucket, they are copied there when
    the lake is closed.
    """
    chosen = settings.places.logs
    return Path(chosen) if chosen and chosen != IN_BUCKET else _own(root, environment) / "logs"


def make_log(file: Path) -> None:
    """Make a log file, if absent. Whatever the umask, others cannot read it: it may quote rows."""
    try:
        file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)  # a JVM's crash report is there
        file.touch(mode=0o640)
    except OSError as error:
        raise FilesRefused(
            str(file.parent), f"a log cannot be written: {error.strerror}."
        ) from error


def staging_place(settings: Settings, root: Root, environment: Mapping[str, str]) -> str:
    """Where payloads wait on their way in: a folder, or below the root of a bucket lake."""
    if settings.places.staging == IN_BUCKET:
        return root.at(f"{DATA}/staging")
    return settings.places.staging or str(_own(root, environment) / "staging")


def _own(root: Root, environment: Mapping[str, str]) -> Path:
    if not root.is_bucket:
        return root.folder / DATA
    return cache_folder(environment) / "lakes" / sha256(root.url.encode()).hexdigest()[:16]
