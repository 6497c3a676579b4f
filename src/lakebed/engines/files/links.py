"""Where symbolic links below a folder lead."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lakebed.ports.files.files import StrayLink


@dataclass(frozen=True)
class LinkedFolder:
    """The folder whose links are followed. `within` are the folders of those that led here."""

    top: Path  # its own links are resolved
    prefix: str  # of the paths in it
    stray: Callable[[StrayLink], None]
    within: tuple[Path, ...] = ()

    def own_path(self, place: Path) -> str:
        """The path of what is at a place below the folder, without any link."""
        return f"{self.prefix}{place.relative_to(self.top).as_posix()}"

    def target(self, link: Path, path: str) -> Path | None:
        """What a link leads to; None if that is not below the folder."""
        try:
            place = Path(os.path.realpath(link, strict=True))
            fault = self._fault(link, place)
        except (FileNotFoundError, NotADirectoryError):
            place = Path(os.path.realpath(link))
            fault = "leads to nothing"
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            place = link
            fault = "leads back to itself"
        if fault:
            self.stray(StrayLink(path, str(place), fault))
            return None
        return place

    def _fault(self, link: Path, place: Path) -> str:
        if not place.is_relative_to(self.top):
            return f"leads out of {self.prefix.rstrip('/') or self.top}"
        # this link lies in that folder, or one does that has led here: following it has no end
        if any(folder.is_relative_to(place) for folder in (*self.within, link.parent)):
            return "leads back to a folder that it is in"
        if not (place.is_file() or place.is_dir()):
            return "leads to what is neither a file nor a folder"
        return ""


def broken_link(place: Path) -> Path | None:
    """The link because of which there is nothing at a place; None if it was never there."""
    while not os.path.lexists(place):
        place = place.parent
    return place if place.is_symlink() and not place.exists() else None
