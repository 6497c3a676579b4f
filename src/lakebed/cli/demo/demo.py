"""The demo: a small shop lake, from landing files to gold, and what can be done with it."""

import sys
import time
from pathlib import Path
from shutil import which
from tempfile import mkdtemp

from lakebed.app import create_lake, open_lake
from lakebed.cli.demo.chapters import CHAPTERS, Demo
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.settings import Root


def show(screen: Screen, path: str | None) -> None:
    """Create the lake and go through the chapters."""
    root = Root.parse(path or Path(mkdtemp(prefix="lakebed-demo-")) / "shop-lake")
    create_lake(root, template="shop")
    with open_lake(str(root.folder), report=screen.progress) as lake:
        demo = Demo(screen, lake)
        for number, (title, chapter) in enumerate(CHAPTERS, start=1):
            demo.say(bold(f"\n{number}. {title}"))
            chapter(demo)
        seconds = time.monotonic() - demo.started
    screen.show(
        demo.facts | {"root": str(root), "seconds": round(seconds, 1)},
        lambda: _farewell(screen, root.folder, seconds),
    )


def _farewell(screen: Screen, folder: Path, seconds: float) -> None:
    screen.say(bold(f"\nThat took {seconds:.0f} s."), " The lake is yours to try things on:")
    program = "lakebed" if which("lakebed") else str(Path(sys.argv[0]).absolute())
    for line in (
        f"cd {folder}",
        f"{program} runs",
        f"{program} lineage",
        f"{program} preview gold.revenue",
        f'{program} query "SELECT * FROM gold.revenue"',
        f"{program} sql",
        f"{program} zone show orders",
        f"{program} run state:modified+   # after changing a pipeline",
        f"{program} pipeline release gold.revenue",
        f"{program} table history gold.revenue",
        f"{program} care --dry-run",
        f"{program} doctor",
    ):
        screen.say(f"  {line}")
