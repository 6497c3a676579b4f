"""Commands about past runs: runs ls, runs show."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.run_text import (
    batch_lines,
    failed_gate,
    retry_advice,
    run_details,
    run_source,
)
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_runs, known_tables
from lakebed.errors import UnknownName
from lakebed.presentation.run import (
    cost_warnings,
    run_json,
    run_label,
    run_seconds,
    run_with_log_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lakebed.ports import RunRecord

_STATES = ("running", "success", "failed", "skipped")
_SHORT = 16  # digits of an id: twelve are the time, and several runs may start in one millisecond


class _ListsByDefault(TyperGroup):
    """`lakebed runs --state failed` is `lakebed runs ls --state failed`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        asks = args and (not args[0].startswith("-") or args[0] in {"-h", "--help"})
        return super().parse_args(ctx, args if asks else ["ls", *args])


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `runs`."""
    noun = typer.Typer(cls=_ListsByDefault, help="About runs: ls (the default), show.")
    command(noun, "ls", examples=_LS)(ls)
    command(noun, "show", examples=_SHOW)(show)
    app.add_typer(noun, name="runs")


_LS = """
lakebed runs
lakebed runs --state failed --limit 5
lakebed runs --table silver.orders --json
"""


def ls(
    screen: Screen,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="TABLE", help="Only runs of this table.", autocompletion=known_tables
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option("--state", help=f"Only runs in this state: {', '.join(_STATES)}.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=10_000, help="How many runs to show.")
    ] = 50,
) -> None:
    """List runs, newest first."""
    if state is not None and state not in _STATES:
        raise UnknownName("state of a run", state, _STATES)
    records = screen.lake.runs.list(table=table, state=state, limit=limit)  # type: ignore[arg-type]

    def text() -> None:
        if not records:
            screen.say("nothing has run" + (" that matches" if table or state else " yet"))
            return
        rows = [
            (
                record.run_id[:_SHORT],
                str(record.table),
                record.state,
                run_source(record),
                format_time(record.started_at),
                f"{run_seconds(record):.1f}",
                format_count(record.rows.get("result")),
                _message(record),
            )
            for record in records
        ]
        screen.table(
            ("run", "table", "state", "of", "started (UTC)", "seconds", "rows", "message"),
            rows,
            right=("seconds", "rows"),
        )

    screen.show([run_json(record) for record in records], text)


def _message(record: "RunRecord") -> str:
    message = record.error.get("what", "") or record.message
    return message.splitlines()[0] if message else ""


_SHOW = """
lakebed runs show last
lakebed runs show 019a5c3e2f10 --logs
"""


def show(
    screen: Screen,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="An id, the start of one, or last.", autocompletion=known_runs
        ),
    ] = "last",
    logs: Annotated[bool, typer.Option("--logs", help="Include the run's log.")] = False,
) -> None:
    """Show a run: phases, rows, inputs and files, gates with bad rows, and the error."""
    lake = screen.lake
    record = lake.runs.show(run)
    log = lake.runs.log(record.run_id) if logs else None

    def text() -> None:
        screen.say(bold(record.table), f" {run_label(record)} [{run_details(record)}]")
        for line in (
            *_summary_lines(record),
            *_error(record),
            *_gates(record),
            *(log or "").splitlines(),
        ):
            screen.say(f"  {line}")

    screen.show(run_with_log_json(record, log), text)


def _summary_lines(record: "RunRecord") -> "Iterator[str]":
    yield f"run {record.run_id}, attempt {record.attempt}, build {record.invocation}"
    yield f"started {format_time(record.started_at)} UTC" + (
        f", ended {format_time(record.ended_at)}" if record.ended_at else ""
    )
    if record.release:
        yield f"{run_source(record)} ({record.release[:12]})"
    if record.rows:
        yield "rows " + ", ".join(
            f"{name} {format_count(count)}" for name, count in record.rows.items()
        )
    yield f"snapshot {record.snapshot} on {record.ref}" if record.snapshot else "no new snapshot"
    for pin in record.inputs:
        yield (
            f"read {pin.table} at {pin.snapshot}"
            if pin.snapshot
            else f"read {pin.table} (no rows yet)"
        )
    for zone, count in record.files.items():
        yield f"read {count} {'file' if count == 1 else 'files'} of {zone}"
    for file in record.set_aside:
        place = f" as {file.moved_to}" if file.moved_to else ""
        yield f"set aside {file.path}{place}: {file.reason}"
    yield from retry_advice(record)
    warnings = (*record.warnings, *cost_warnings(record))
    yield from (f"warning: {warning}" for warning in warnings)
    for phase in record.phases:
        yield f"{phase.seconds:8.2f} s  {phase.name}"
    yield from batch_lines(record)


def _error(record: "RunRecord") -> "Iterator[str]":
    error = record.error
    if error:
        where = f"{error['where']}: " if error.get("where") else ""
        yield from f"error: {where}{error.get('what', '')}".rstrip().splitlines()
        yield from filter(None, (error.get("safe"), error.get("next")))


def _gates(record: "RunRecord") -> "Iterator[str]":
    for verdict in record.verdicts:
        if verdict.passed:
            yield f"gate {verdict.gate}, {verdict.severity}: passed in {verdict.seconds:.2f} s"
        else:
            yield from failed_gate(verdict, limit=len(verdict.sample))
