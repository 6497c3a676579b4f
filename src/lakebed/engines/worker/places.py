"""Where a user's workers are found: a folder that nobody else can enter."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakebed.errors import WorkerUnavailable

_LONGEST = 100  # characters that the system takes for the path of a socket, with some to spare


@dataclass(frozen=True)
class WorkerPlace:
    """The files of one worker, named by its digest."""

    folder: Path
    digest: str

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.digest}.sock"

    @property
    def about(self) -> Path:
        """What it is for, as JSON."""
        return self.folder / f"{self.digest}.json"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.digest}.log"

    @property
    def lock(self) -> Path:
        """Locked as long as the worker lives."""
        return self.folder / f"{self.digest}.lock"

    def described(self) -> dict[str, Any]:
        """What the worker wrote about itself; empty if there is none."""
        try:
            found = json.loads(self.about.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def runtime_folder(environment: Mapping[str, str]) -> Path:
    """Where this user's workers are, or would be."""
    chosen = environment.get("XDG_RUNTIME_DIR", "")
    if chosen.startswith("/"):
        return Path(chosen, "lakebed")
    return Path(f"/tmp/lakebed-{os.geteuid()}")  # noqa: S108  checked by `private_folder`


def private_folder(environment: Mapping[str, str]) -> Path:
    """The runtime folder, made if absent; `WorkerUnavailable` unless it is ours alone."""
    folder = runtime_folder(environment)
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102  Path.mkdir would follow the umask only
    except FileExistsError:
        pass
    except OSError as error:
        raise WorkerUnavailable(f"its folder cannot be made ({folder}: {error.strerror})") from None
    _require_private(folder)
    if len(str(folder)) + len("/0123456789abcdef.sock") > _LONGEST:
        raise WorkerUnavailable(f"the path of its folder is too long for a socket ({folder})")
    return folder


def _require_private(folder: Path) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise WorkerUnavailable(f"{folder} is a link or a file, not a folder")
    if found.st_uid != os.geteuid():
        raise WorkerUnavailable(f"{folder} belongs to another user")
    if found.st_mode & 0o077:
        raise WorkerUnavailable(f"{folder} is open to other users (chmod 700 closes it)")


def known_places(environment: Mapping[str, str]) -> Iterator[WorkerPlace]:
    """The places of all workers of this user, dead ones included."""
    folder = runtime_folder(environment)
    if folder.is_dir():
        _require_private(folder)
        for about in sorted(folder.glob("*.json")):
            yield WorkerPlace(folder, about.stem)
