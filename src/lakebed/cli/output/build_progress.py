"""A build while it runs: a line for each pipeline as it ends, and a bar on a terminal."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed.cli.output.bar import Bar
from lakebed.cli.output.run_text import run_details, run_problems
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.presentation.run import run_label

if TYPE_CHECKING:
    from lakebed.batches.changes import BatchProgress
    from lakebed.errors import LakebedError
    from lakebed.names import TableName
    from lakebed.pipelines import RunListener
    from lakebed.ports import RunRecord

_COLOURS = {
    "OK": "green",
    "PASS": "green",
    "WARN": "yellow",
    "ERROR": "bold red",
    "FAIL": "bold red",
    "SKIP": "dim",
    "NOOP": "dim",
}
_LONGEST = 160  # characters of a bad row, on a terminal


class BuildProgress:
    """Prints a build while it runs.

    Pipelines end in several threads, so a lock keeps lines whole.
    """

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.total = self.done = 0
        self.seconds = 0.0
        self._running: list[str] = []
        self._batches: dict[str, BatchProgress] = {}  # of sources that are running
        self._lock = threading.Lock()
        self._bar = Bar(screen)

    @property
    def row_limit(self) -> int | None:
        """How many characters of a bad row are shown."""
        return self.screen.text_limit(_LONGEST)

    @property
    def listener(self) -> "RunListener":
        """Callbacks for the build."""
        from lakebed.pipelines import RunListener

        return RunListener(
            on_select=self._select,
            on_start=self._start,
            on_end=self._end,
            on_wait=self._wait,
            on_batch=self._batch,
        )

    @contextmanager
    def live(self) -> Iterator[None]:
        """A bar with the pipelines that are running, on a terminal only; measures `seconds`."""
        began = time.monotonic()
        with self._bar.live():
            yield
        self.seconds = time.monotonic() - began

    def _select(self, tables: "tuple[TableName, ...]") -> None:
        self.total = len(tables)
        self._redraw()

    def _start(self, table: "TableName") -> None:
        with self._lock:
            self._running.append(str(table))
            self._redraw()

    def _end(self, record: "RunRecord") -> None:
        name = str(record.table)
        with self._lock:
            self._batches.pop(name, None)
            if name in self._running:
                self._running.remove(name)
            self.line(
                run_label(record),
                name,
                run_details(record),
                run_problems(record, longest=self.row_limit),
            )

    def _batch(self, table: "TableName", progress: "BatchProgress") -> None:
        with self._lock:
            self._batches[str(table)] = progress
            self._redraw()

    def _wait(self, _: "TableName", held: "LakebedError") -> None:
        with self._lock:
            self.screen.progress(f"waiting: {held.what}")

    def line(self, label: str, name: str, details: str, below: Iterator[str]) -> None:
        """Print the next line, and `below` it what went wrong."""
        self.done += 1
        if self.screen.as_json or self.screen.quiet:
            return
        number = f"{self.done:>{len(str(self.total))}} of {self.total}"
        with self._bar.paused():
            self.screen.say(
                f"{number} ", Styled(f"{label:<5}", _COLOURS.get(label, "")), f" {name} [{details}]"
            )
            for text in below:
                self.screen.say(f"    {text}")
            self._redraw()

    def _redraw(self) -> None:
        """The bar moves with every batch of a source, too."""
        share = sum(progress.share for progress in self._batches.values())
        self._bar.update(self.done + share, self.total, self.text)

    @property
    def text(self) -> str:
        """What is running."""
        return ", ".join(map(self._shown, self._running))

    def _shown(self, name: str) -> str:
        found = self._batches.get(name)
        return f"{name} ({found})" if found else name
