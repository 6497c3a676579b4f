"""What commands print on: people's text or JSON, colours and bars on a terminal only."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from rich.console import Console

    from lakebed.app import Lake

_WIDE = 200  # a pipe has no width of its own; nothing should be cut or wrapped there


@dataclass(frozen=True)
class Screen:
    """One command's surroundings, as the common options say."""

    lake_path: str | None = None
    as_json: bool = False
    quiet: bool = False
    debug: bool = False

    @cached_property
    def console(self) -> "Console":
        return _console(sys.stdout)

    @cached_property
    def errors(self) -> "Console":
        return _console(sys.stderr)

    def lake(self) -> "Lake":
        """The lake that was asked for."""
        from lakebed.app import open_lake

        return open_lake(self.lake_path, report=self.progress)

    def progress(self, line: str) -> None:
        """Say what takes long, beside the result."""
        if not self.quiet and not self.as_json:
            self.errors.print(f"[dim]{_plain(line)}[/dim]", highlight=False)

    @contextmanager
    def waiting(self, doing: str) -> Iterator[None]:
        """A spinner while something takes its time; on a terminal only."""
        if self.errors.is_terminal and not self.quiet and not self.as_json:
            with self.errors.status(doing):
                yield
        else:
            yield

    @contextmanager
    def bar(self, doing: str) -> Iterator[Callable[[int, int], None]]:
        """A bar to be told how many of how many tasks are done; on a terminal only."""
        from rich.progress import Progress

        hidden = not self.errors.is_terminal or self.quiet or self.as_json
        with Progress(console=self.errors, transient=True, disable=hidden) as progress:
            task = progress.add_task(doing, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)

    def show(self, data: Any, text: Callable[[], None]) -> None:
        """The result: as JSON if asked, else as `text` prints it; with --quiet only JSON is printed."""
        if self.as_json:
            sys.stdout.write(json.dumps(data, default=_as_json, ensure_ascii=False) + "\n")
        elif not self.quiet:
            text()

    def say(self, line: str) -> None:
        self.console.print(line, highlight=False, soft_wrap=True)

    def table(
        self, headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), marked: Sequence[str] = ()
    ) -> None:
        """Rows under headings; columns in `right` are numbers, those in `marked` hold our own colours."""
        from rich import box
        from rich.table import Table

        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for heading in headings:
            shown.add_column(heading, justify="right" if heading in right else "left", no_wrap=not self.console.is_terminal)
        for row in rows:
            shown.add_row(*(cell if name in marked else _plain(cell) for name, cell in zip(headings, row, strict=True)))
        self.console.print(shown)

    def refuse(self, error: LakebedError) -> None:
        """The one place that turns an error into output."""
        if self.as_json:
            facts = {
                "kind": type(error).__name__,
                "what": error.what,
                "where": error.where,
                "safe": error.safe,
                "next": error.next,
            }
            sys.stderr.write(json.dumps({"error": facts | {"retryable": error.retryable}}, ensure_ascii=False) + "\n")
            return
        where = f"{_plain(error.where)}: " if error.where else ""
        self.errors.print(f"[bold red]error:[/bold red] {where}{_plain(error.what)}", highlight=False, soft_wrap=True)
        for line in (error.safe, error.next):
            if line:
                self.errors.print(f"  {_plain(line)}", highlight=False, soft_wrap=True)


def _console(stream: Any) -> "Console":
    from rich.console import Console

    return Console(file=stream) if stream.isatty() else Console(file=stream, width=_WIDE, no_color=True)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
