"""A build as it goes: one line a pipeline, what failed and why, a bar on a terminal, a summary."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakebed.cli.output.marks import Marked, description
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.wording import counted, shortened
from lakebed.presentation.run import run_label, run_seconds

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from lakebed.app.pipelines import BuildListener
    from lakebed.errors import LakebedError
    from lakebed.names import TableName
    from lakebed.ports import RunRecord, Verdict

_COLOURS = {
    "OK": "green",
    "PASS": "green",
    "WARN": "yellow",
    "ERROR": "bold red",
    "FAIL": "bold red",
    "SKIP": "dim",
    "NOOP": "dim",
}
_ROWS, _LONGEST = 3, 160  # bad rows under a line, and characters of each on a terminal


def details(record: "RunRecord") -> str:
    """`draft: incremental, 12 rows, 2 gates passed in 4.1 s`."""
    if run_label(record) in {"SKIP", "NOOP"}:
        return f"{ran(record)}: {record.message}" if run_label(record) == "NOOP" else record.message
    parts = [record.strategy] if record.strategy else []
    if record.message:
        parts.append(record.message)
    elif "result" in record.rows:
        parts.append(amount(record.rows["result"], "row"))
    if record.set_aside:
        parts.append(f"{amount(len(record.set_aside), 'file')} set aside")
    if record.verdicts:
        passed = sum(verdict.passed for verdict in record.verdicts)
        all_passed = passed == len(record.verdicts)
        parts.append(f"{amount(passed, 'gate')} passed" if all_passed else f"{passed} of {len(record.verdicts)} gates passed")
    if record.attempt > 1:
        parts.append(f"attempt {record.attempt}")
    return f"{': '.join(filter(None, (ran(record), ', '.join(parts))))} in {run_seconds(record):.1f} s"


def ran(record: "RunRecord") -> str:
    """`release 3`, or `draft`."""
    return "draft" if record.version is None else f"release {record.version}"


def amount(number: int, noun: str) -> str:
    """`1 row`, `12 rows`."""
    return f"{counted(number)} {noun}{'' if number == 1 else 's'}"


def trouble(record: "RunRecord", *, longest: int | None = None) -> Iterator[str]:
    """What stands under a line: the error, whether data is safe, what next; gates that did not pass."""
    error = record.error
    if error:
        where = f"{error['where']}: " if error.get("where") else ""
        yield from f"{where}{error.get('what', '')}".rstrip().splitlines()
        yield from filter(None, (error.get("safe"), error.get("next")))
    for verdict in record.verdicts:
        if not verdict.passed:
            yield from bad_rows(verdict, longest=longest)
    for file in record.set_aside:
        yield f"set aside: {file.path}: {file.reason}"


def bad_rows(verdict: "Verdict", *, limit: int = _ROWS, longest: int | None = None) -> Iterator[str]:
    """A gate that did not pass, and some of the rows it found."""
    found = verdict.error or amount(verdict.bad_rows, "bad row")
    about = f" ({verdict.description})" if verdict.description else ""
    yield f"gate {verdict.gate}, {verdict.severity}: {found}{about}"
    for row in verdict.sample[:limit]:
        shown = ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in row.items())
        yield f"  {shortened(shown, longest)}"
    if verdict.bad_rows > limit:
        yield f"  … and {counted(verdict.bad_rows - limit)} more"
    if verdict.remediation:
        yield f"  {verdict.remediation}"


def summary(labels: Sequence[str], took: float) -> str:
    """`Done. PASS=3 WARN=0 ERROR=1 SKIP=1 TOTAL=5 in 12.3 s`; what had nothing to do is told apart where there is some."""
    count = Counter({"OK": "PASS", "FAIL": "ERROR"}.get(one, one) for one in labels)
    names = ["PASS", "WARN", "ERROR", "SKIP", *(["NOOP"] if count["NOOP"] else [])]
    return f"Done. {' '.join(f'{name}={count[name]}' for name in names)} TOTAL={len(labels)} in {took:.1f} s"


class Showing:
    """Prints a build while it goes on. Pipelines end in several threads; lines stay whole."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.total = self.done = 0
        self._running: list[str] = []
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    @property
    def longest(self) -> int | None:
        """How much of a bad row is shown."""
        return self.screen.longest(_LONGEST)

    @property
    def onlooker(self) -> "BuildListener":
        from lakebed.app.pipelines import BuildListener

        return BuildListener(on_select=self._select, on_start=self._start, on_end=self._end, on_wait=self._wait)

    @contextmanager
    def live(self) -> Iterator[None]:
        """A bar of what runs now, on a terminal only."""
        if not self.screen.errors.is_terminal or self.screen.quiet or self.screen.as_json:
            yield
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            MofNCompleteColumn(),
            BarColumn(20),
            description(),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=self.screen.errors, transient=True)
        self._task = self._bar.add_task("", total=None)
        with self._bar:
            yield

    def _select(self, tables: "tuple[TableName, ...]") -> None:
        self.total = len(tables)
        self._redraw()

    def _start(self, table: "TableName") -> None:
        with self._lock:
            self._running.append(str(table))
            self._redraw()

    def _end(self, record: "RunRecord") -> None:
        with self._lock:
            if str(record.table) in self._running:
                self._running.remove(str(record.table))
            self.line(run_label(record), str(record.table), details(record), trouble(record, longest=self.longest))

    def _wait(self, _: "TableName", held: "LakebedError") -> None:
        with self._lock:
            self.screen.progress(f"waiting: {held.what}")

    def line(self, kind: str, name: str, said: str, below: Iterator[str]) -> None:
        """The next line, and what stands under it."""
        self.done += 1
        if self.screen.as_json or self.screen.quiet:
            return
        if self._bar:
            self._bar.stop()  # or its line and ours would stand in one
        number = f"{self.done:>{len(str(self.total))}} of {self.total}"
        self.screen.say(f"{number} ", Marked(f"{kind:<5}", _COLOURS.get(kind, "")), f" {name} [{said}]")
        for text in below:
            self.screen.say(f"    {text}")
        self._redraw()
        if self._bar:
            self._bar.start()

    def _redraw(self) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, total=self.total, completed=self.done, description=", ".join(self._running))
