"""Commands about workers: worker status, stop, logs."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.lake import worker_json, worker_log_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.app.spark.workers import Workers, WorkerStatus

AllOption = Annotated[bool, typer.Option("--all", help="Of all lakes, not only of this one.")]
LinesOption = Annotated[int, typer.Option(min=1, help="How many lines of each log.")]


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `worker`."""
    noun = typer.Typer(
        no_args_is_help=True, help="About workers, which keep Spark warm: status, stop, logs."
    )
    command(noun, "status", examples=_STATUS)(status)
    command(noun, "stop", examples=_STOP)(stop)
    command(noun, "logs", examples=_LOGS)(logs)
    app.add_typer(noun, name="worker")


_STATUS = """
lakebed worker status
lakebed worker status --all --json
"""


def status(screen: Screen, every: AllOption = False) -> None:
    """Show the lake's workers: what they run, how much memory they have, when they end."""
    _show(screen, _workers(screen, every=every).status())


_STOP = """
lakebed worker stop
lakebed worker stop --all
"""


def stop(screen: Screen, every: AllOption = False) -> None:
    """Stop the lake's workers, once the commands that they run have ended."""
    _show(screen, _workers(screen, every=every).stop())


_LOGS = """
lakebed worker logs
lakebed worker logs --lines 200
"""


def logs(screen: Screen, every: AllOption = False, lines: LinesOption = 50) -> None:
    """Show the last lines that the lake's workers and their Spark have logged."""
    found = _workers(screen, every=every).logs(lines=lines)

    def text() -> None:
        for log in found:
            screen.say(f"{log.file}:")
            for line in log.lines:
                screen.say(f"  {line}")
        if not found:
            screen.say("no worker is running")

    screen.show([worker_log_json(log) for log in found], text)


def _workers(screen: Screen, *, every: bool) -> "Workers":
    from lakebed.app.spark.workers import Workers

    return Workers(os.environ) if every else screen.lake.workers


def _show(screen: Screen, found: "tuple[WorkerStatus, ...]") -> None:
    def text() -> None:
        rows = [
            (
                worker.lake,
                str(worker.pid),
                _doing(worker),
                format_count(worker.commands),
                format_size(worker.memory),
            )
            for worker in found
        ]
        if not rows:
            screen.say("no worker is running")
            return
        columns = ("lake", "process", "state", "commands so far", "memory")
        screen.table(columns, rows, right=("process", "commands so far", "memory"))

    screen.show([worker_json(worker) for worker in found], text)


def _doing(worker: "WorkerStatus") -> str:
    busy = worker.running or worker.borrowers
    if worker.stopping:
        return "ends after its commands" if busy else "ends"
    return "busy" if busy else f"idle, ends in {worker.idle_seconds_left / 60:.0f} min"
