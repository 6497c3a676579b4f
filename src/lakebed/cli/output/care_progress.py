"""Care while it runs: a line for each action as it ends, and a bar on a terminal."""

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from lakebed.cli.output.bar import Bar
from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.care import CareListener, CareStep
    from lakebed.ports import CareEntry

_SINGULAR = {"branches": "branch", "entries": "entry"}
_COLOURS = {"done": "green", "reported": "cyan", "skipped": "yellow", "failed": "bold red"}


class CareProgress:
    """Prints care while it runs. Actions end in several threads, so a lock keeps lines whole."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._bar = Bar(screen)
        self._lock = threading.Lock()

    @property
    def listener(self) -> "CareListener":
        """Callbacks for care."""
        from lakebed.care import CareListener

        return CareListener(on_start=self._start, on_progress=self._progress, on_end=self._end)

    def live(self) -> AbstractContextManager[None]:
        """A bar with the current action, on a terminal only."""
        return self._bar.live("checking what is due")

    def _start(self, step: "CareStep") -> None:
        self._bar.start(f"{step.action} {step.subject}")

    def _progress(self, done: int, total: int) -> None:
        self._bar.update(done, total)

    def _end(self, _: "CareStep", entry: "CareEntry") -> None:
        if self.screen.as_json or self.screen.quiet:
            return
        parts = (counts_text(entry), format_size(entry.bytes) if entry.bytes else "", entry.message)
        details = "; ".join(part for part in parts if part)
        state = Styled(f"{entry.state:<8}", _COLOURS[entry.state])
        with self._lock, self._bar.paused():
            self.screen.say(state, f" {entry.action} {entry.subject}: {details}")


def counts_text(entry: "CareEntry") -> str:
    """`12 files, 1 branch`."""
    return ", ".join(
        f"{format_count(count)} {_noun(name, count)}" for name, count in entry.counts.items()
    )


def _noun(plural: str, count: int) -> str:
    return _SINGULAR.get(plural, plural.removesuffix("s")) if count == 1 else plural
