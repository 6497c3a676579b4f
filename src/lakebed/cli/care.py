"""The command `care`: what is due, what was done about it, and by which settings."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakebed.cli.output.marks import Marked, bold, description, plain
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, sized, timed
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_tables
from lakebed.presentation.care import care_entry_json, care_json, care_settings_json

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from lakebed.app.care import CareView
    from lakebed.care import CareListener, CareStep
    from lakebed.ports import CareEntry

_SINGULAR = {"branches": "branch", "entries": "entry"}
_COLOURS = {"done": "green", "reported": "cyan", "skipped": "yellow", "failed": "bold red"}


def add_to(app: typer.Typer) -> None:
    """Give the app the command."""
    command(app, "care", examples=_CARE)(care)


_CARE = """
lakebed care --dry-run
lakebed care
lakebed care silver.orders --only expire_snapshots
lakebed care --orphans
lakebed care --settings silver.orders
lakebed care --history
"""


def care(
    screen: Screen,
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="TABLES", help="Names or patterns; the whole lake unless given.", autocompletion=known_tables),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is due, and do nothing.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="ACTION", help="Only this action; repeatable.")] = None,
    orphans: Annotated[bool, typer.Option("--orphans", help="Remove orphans, too; otherwise they are reported.")] = False,
    settings: Annotated[bool, typer.Option("--settings", help="How these tables are cared for, and who says so.")] = False,
    history: Annotated[bool, typer.Option("--history", help="What care did before.")] = False,
) -> None:
    """Keep the lake small and healthy: expire, rewrite, remove and purge what is due."""
    if settings:
        _show_settings(screen, tables or [])
    elif history:
        _show_history(screen)
    else:
        _take_care(screen, tables or [], dry_run=dry_run, only=only or [], orphans=orphans)


def _take_care(screen: Screen, tables: list[str], *, dry_run: bool, only: list[str], orphans: bool) -> None:
    showing = _Showing(screen)
    with showing.live():
        result = screen.lake.care(*tables, dry_run=dry_run, only=only, orphans=orphans, listener=showing.listener)

    def text() -> None:
        if not result.entries:
            screen.say("nothing is due")
            return
        size = sum(entry.bytes for entry in result.entries if entry.state in ("done", "reported"))
        states = [entry.state for entry in result.entries]
        told = ", ".join(
            f"{states.count(state)} {state}" for state in ("done", "reported", "skipped", "failed") if state in states
        )
        screen.say(f"{told}; {sized(size)}" + (" (dry run: nothing was changed)" if dry_run else ""))

    screen.show(care_json(result, dry_run=dry_run), text)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _show_settings(screen: Screen, names: list[str]) -> None:
    lake = screen.lake
    views = [lake.caring.settings_of(name) for name in names or map(str, lake.tables())]

    def text() -> None:
        for view in views:
            _show_view(screen, view)

    screen.show([care_settings_json(view) for view in views], text)


def _show_view(screen: Screen, view: "CareView") -> None:
    screen.say(bold(view.table))
    said = {key: (level, value) for level, own in view.overrides.items() for key, value in own.items()}
    rows = [
        (key, str(value), str(view.system[key]), f"{said[key][0]}" if key in said else "")
        for key, value in view.effective.items()
    ]
    screen.table(("setting", "effective", "default", "set by"), rows)


def _show_history(screen: Screen) -> None:
    entries = screen.lake.caring.history()

    def text() -> None:
        if not entries:
            screen.say("care has done nothing yet")
            return
        rows = [
            (
                timed(entry.at),
                entry.action,
                entry.subject,
                entry.state,
                _counts(entry),
                sized(entry.bytes),
                f"{entry.seconds:.1f}",
            )
            for entry in entries
        ]
        screen.table(("at (UTC)", "action", "of", "state", "what", "size", "seconds"), rows, right=("size", "seconds"))

    screen.show([care_entry_json(entry) for entry in entries], text)


def _counts(entry: "CareEntry") -> str:
    return ", ".join(f"{counted(count)} {_one(name) if count == 1 else name}" for name, count in entry.counts.items())


def _one(name: str) -> str:
    """The singular of what is counted."""
    return _SINGULAR.get(name, name.removesuffix("s"))


class _Showing:
    """Prints care while it goes on: a line an action, and a bar on a terminal."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._lock = threading.Lock()

    @property
    def listener(self) -> "CareListener":
        from lakebed.care import CareListener

        return CareListener(on_start=self._start, on_progress=self._progress, on_end=self._end)

    @contextmanager
    def live(self) -> Iterator[None]:
        """A bar of what is done now, on a terminal only."""
        if not self.screen.errors.is_terminal or self.screen.quiet or self.screen.as_json:
            yield
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TimeElapsedColumn

        columns: tuple[Any, ...] = (
            SpinnerColumn(),
            description(),
            BarColumn(20),
            MofNCompleteColumn(),
        )
        self._bar = Progress(*columns, TimeElapsedColumn(), console=self.screen.errors, transient=True)
        self._task = self._bar.add_task("looking what is due", total=None)
        with self._bar:
            yield

    def _start(self, step: "CareStep") -> None:
        if self._bar and self._task is not None:
            self._bar.reset(self._task, description=plain(f"{step.action} {step.subject}"), total=None)

    def _progress(self, done: int, total: int) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def _end(self, _: "CareStep", entry: "CareEntry") -> None:
        if self.screen.as_json or self.screen.quiet:
            return
        with self._lock:
            parts = (_counts(entry), sized(entry.bytes) if entry.bytes else "", entry.message)
            told = "; ".join(part for part in parts if part)
            state = Marked(f"{entry.state:<8}", _COLOURS[entry.state])
            self.screen.say(state, f" {entry.action} {entry.subject}: {told}")
