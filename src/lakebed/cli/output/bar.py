"""A progress bar, on a terminal only."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import description, plain

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Shows what is being done and how far along it is, if the screen is interactive."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._doing = self._note = ""

    @contextmanager
    def live(self, doing: str = "") -> Iterator[None]:
        """Show the bar while the block runs."""
        if not self._screen.is_interactive:
            yield
            return
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TimeElapsedColumn,
        )

        columns = (
            SpinnerColumn(),
            MofNCompleteColumn(),
            BarColumn(20),
            description(),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=self._screen.errors, transient=True)
        self._doing = doing
        self._task = self._progress.add_task(self._description, total=None)
        with self._progress, self._screen.noted_by(self._noted):
            yield

    @property
    def _description(self) -> str:
        return plain(" · ".join(filter(None, (self._doing, self._note))))

    def _noted(self, note: str) -> None:
        self._note = note
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=self._description, refresh=True)

    def start(self, doing: str) -> None:
        """Begin the next thing, with its own clock."""
        self._doing = doing
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task, description=self._description)

    def update(self, done: float, total: int, doing: str | None = None) -> None:
        """Say how much is done."""
        self._doing = self._doing if doing is None else doing
        if self._progress is not None and self._task is not None:
            text = self._description
            self._progress.update(self._task, completed=done, total=total, description=text)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the bar away while lines are printed; otherwise they would share its line."""
        if self._progress:
            self._progress.stop()
        yield
        if self._progress:
            self._progress.start()
