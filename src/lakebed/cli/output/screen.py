"""Where commands print: text or JSON, with colours and bars on a terminal only."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakebed.cli.output.style import Styled, plain, styled_text
from lakebed.errors import LakebedError
from lakebed.presentation.values import error_json

if TYPE_CHECKING:
    from rich.console import Console

    from lakebed.app import Lake


@dataclass(frozen=True)
class Screen:
    """The output of one command, and its lake, as the shared options say."""

    lake_path: str | None = None
    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    no_worker: bool = False
    _opened: ExitStack = field(default_factory=ExitStack, init=False, repr=False, compare=False)
    _notes: list[Callable[[str], None]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )  # of what is shown now, a bar or a spinner

    @cached_property
    def console(self) -> "Console":
        return _console(sys.stdout)

    @cached_property
    def errors(self) -> "Console":
        return _console(sys.stderr)

    @cached_property
    def lake(self) -> "Lake":
        """The lake that the command is about: opened when first used, closed when the
        command ends.
        """
        from lakebed.app import open_lake

        worker = False if self.no_worker else None
        lake = open_lake(
            self.lake_path, report=self.progress, starting=self.starting_spark, worker=worker
        )
        return self._opened.enter_context(lake)

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def is_interactive(self) -> bool:
        """Whether progress is shown: on a terminal, without --quiet and --json."""
        return self.errors.is_terminal and not self.quiet and not self.as_json

    def progress(self, line: str) -> None:
        """Print a progress message, on standard error."""
        if not self.quiet and not self.as_json:
            _print(self.errors, Styled(line, "dim"))

    @contextmanager
    def spinner(self, doing: str) -> Iterator[None]:
        """A spinner while the block runs, on a terminal only."""
        if not self.is_interactive:
            yield
            return
        with self.errors.status(styled_text(doing)) as status:

            def note(text: str) -> None:
                status.update(styled_text(" · ".join(filter(None, (doing, text)))))

            with self.noted_by(note):
                yield

    @contextmanager
    def noted_by(self, note: Callable[[str], None]) -> Iterator[None]:
        """Let a bar or spinner show what is waited for, while the block runs."""
        self._notes.append(note)
        try:
            yield
        finally:
            self._notes.remove(note)

    @contextmanager
    def starting_spark(self) -> Iterator[None]:
        """Say so where progress is shown, while the block runs."""
        for note in self._notes:
            note("starting Spark")
        try:
            yield
        finally:
            for note in self._notes:
                note("")

    def show(self, data: Any, text: Callable[[], None]) -> None:
        """Print the result: `data` as JSON with --json, otherwise call `text`, unless --quiet."""
        if self.as_json:
            sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")
        elif not self.quiet:
            text()

    def say(self, *parts: str | Styled) -> None:
        """Print a line: its parts as they are, one after another; only `Styled` parts have a
        colour.
        """
        _print(self.console, *parts)

    def text_limit(self, limit: int) -> int | None:
        """How many characters of a long text are printed: `limit` on a terminal, all (None) into a
        pipe.
        """
        return limit if self.console.is_terminal else None

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str | Styled]],
        *,
        right: Sequence[str] = (),
    ) -> None:
        """Print rows under headings; columns in `right` are right-aligned."""
        from lakebed.cli.output import grid

        aligned = frozenset(number for number, heading in enumerate(headings) if heading in right)
        grid.show(self.console, headings, rows, right=aligned)

    def show_error(self, error: LakebedError) -> None:
        """Print an error. Nothing else in the command line does."""
        if self.as_json:
            sys.stderr.write(json.dumps(error_json(error), ensure_ascii=False) + "\n")
            return
        where = f"{error.where}: " if error.where else ""
        _print(self.errors, Styled("error:", "bold red"), f" {where}{error.what}")
        for line in (error.safe, error.next):
            if line:
                _print(self.errors, f"  {line}")


def _console(stream: Any) -> "Console":
    """A console that takes text literally: no markup, emoji names or links."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def _print(console: "Console", *parts: str | Styled) -> None:
    if console.is_terminal:
        console.print(styled_text(*parts), soft_wrap=True)
    else:
        console.file.write(
            "".join(map(plain, parts)) + "\n"
        )  # as it is: a console would turn tabs to spaces
