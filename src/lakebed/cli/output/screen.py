"""What commands print on: people's text or JSON, colours and bars on a terminal only."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.cli.output.style import Styled, plain, styled_text
from lakebed.errors import LakebedError
from lakebed.presentation.error import error_json

if TYPE_CHECKING:
    from rich.console import Console

    from lakebed.app import Lake


@dataclass(frozen=True)
class Screen:
    """One command's surroundings, as the common options say."""

    lake_path: str | None = None
    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    _opened: ExitStack = field(default_factory=ExitStack, init=False, repr=False, compare=False)

    @cached_property
    def console(self) -> "Console":
        return _console(sys.stdout)

    @cached_property
    def errors(self) -> "Console":
        return _console(sys.stderr)

    @cached_property
    def lake(self) -> "Lake":
        """The lake that the command is about: opened when first used, closed when the command ends."""
        from lakebed.app import open_lake

        return self._opened.enter_context(open_lake(self.lake_path, report=self.progress))

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def is_interactive(self) -> bool:
        """Whether somebody watches: on a terminal, and neither --quiet nor --json."""
        return self.errors.is_terminal and not self.quiet and not self.as_json

    def progress(self, line: str) -> None:
        """Say what takes long, beside the result."""
        if not self.quiet and not self.as_json:
            _print(self.errors, Styled(line, "dim"))

    @contextmanager
    def spinner(self, doing: str) -> Iterator[None]:
        """A spinner while something takes its time; on a terminal only."""
        if self.is_interactive:
            with self.errors.status(styled_text(doing)):
                yield
        else:
            yield

    def show(self, data: Any, text: Callable[[], None]) -> None:
        """The result: as JSON if asked, else as `text` prints it; with --quiet only JSON is printed."""
        if self.as_json:
            sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
        elif not self.quiet:
            text()

    def say(self, *parts: str | Styled) -> None:
        """A line: its parts one after the other, letter for letter; only what is `Marked` has a colour."""
        _print(self.console, *parts)

    def text_limit(self, limit: int) -> int | None:
        """How much of a long text is printed: all of it into a pipe, a part of it on a terminal."""
        return limit if self.console.is_terminal else None

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str | Styled]], *, right: Sequence[str] = ()) -> None:
        """Rows under headings; columns in `right` are numbers. Into a pipe every cell goes whole."""
        from lakebed.cli.output import grid

        aligned = frozenset(number for number, heading in enumerate(headings) if heading in right)
        grid.show(self.console, headings, rows, right=aligned)

    def show_error(self, error: LakebedError) -> None:
        """The one place that turns an error into output."""
        if self.as_json:
            sys.stderr.write(json.dumps(error_json(error), ensure_ascii=False) + "\n")
            return
        where = f"{error.where}: " if error.where else ""
        _print(self.errors, Styled("error:", "bold red"), f" {where}{error.what}")
        for line in (error.safe, error.next):
            if line:
                _print(self.errors, f"  {line}")


def _console(stream: Any) -> "Console":
    """The one place that makes a console: it obeys nothing that a text says, be it markup, emoji names or links."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def _print(console: "Console", *parts: str | Styled) -> None:
    if console.is_terminal:
        console.print(styled_text(*parts), soft_wrap=True)
    else:
        console.file.write("".join(map(plain, parts)) + "\n")  # as it is: a console would turn tabs to spaces
