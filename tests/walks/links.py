"""Landing files that are replaced by symbolic links to them, inside the zone and outside."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from lakebed.errors import LinkRefused
from lakebed.settings import Settings
from tests.walks.feed import Feed
from tests.walks.place import Place, new_place
from tests.walks.walk import Walk


@dataclass
class LinkWalk(Walk):
    """One lake. While a link leads out of the zone, steps may be refused; rows never go missing."""

    targets: dict[Path, Path] = field(default_factory=dict)  # of links, by where the links are
    outside: set[Path] = field(default_factory=set)  # links that lead out of the zone

    def may_refuse(self, place: Place) -> bool:
        return bool(self.outside) or super().may_refuse(place)

    def link_inside(self, place: Place) -> None:
        self._link(place, place.feed.landing / "_moved")

    def link_outside(self, place: Place) -> None:
        if link := self._link(place, self.folder / "outside"):
            self.outside.add(link)

    def _link(self, place: Place, folder: Path) -> Path | None:
        files = sorted(file for file in place.feed.landing.glob("*.csv") if not file.is_symlink())
        if not files:
            return None
        file = self.chance.choice(files)
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / file.name
        shutil.move(file, target)
        file.symlink_to(target)
        self.targets[file] = target
        return file

    def put_back(self, place: Place) -> None:
        """Links that lead out of the zone become files again."""
        for link in sorted(self.outside):
            if link.is_symlink():
                link.unlink()
                shutil.move(self.targets.pop(link), link)
        self.outside.clear()

    def check(self) -> None:
        for target in self.targets.values():
            assert target.exists(), f"{target} was moved away from where its link leads"
        try:
            super().check()
        except LinkRefused:
            assert self.outside

    def end(self) -> None:
        for place in self.places:
            self.put_back(place)
        super().end()


def walk_with_links(folder: Path, seed: int) -> LinkWalk:
    """Tables that append files, or are made of all of them."""
    strategy = "full_refresh" if seed % 2 else "append_only"
    place = new_place(
        folder / "lake",
        Settings(),
        lambda kept: Feed(kept, archive=seed % 4 == 2, strategy=strategy),
    )
    return LinkWalk(folder, [place])
