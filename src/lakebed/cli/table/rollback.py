"""The command `table rollback`."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.presentation.table import rollback_json

if TYPE_CHECKING:
    from lakebed.tables import Rollback, UndoneFiles


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "rollback", examples=_ROLLBACK)(rollback)


_ROLLBACK = """
lakebed table rollback orders --to 2026-11-01T08:00
lakebed table rollback orders --to before_migration --hold
lakebed table rollback orders --to 01a1dfe2 --requeue --dry-run
"""


def rollback(
    screen: Screen,
    name: TableArgument,
    to: Annotated[str, typer.Option("--to", metavar="POINT", help="A snapshot, tag, run or time.")],
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Queue files of undone runs again for the next run.")
    ] = False,
    hold: Annotated[
        bool, typer.Option("--hold", help="Exclude files of undone runs: no run reads them.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option("--wait", min=0, help="Seconds to wait for a run that is changing the table."),
    ] = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
    ] = False,
) -> None:
    """Roll a table back to an earlier snapshot. Nothing is lost: roll forward the same way."""
    from lakebed.errors import UsageError

    if requeue and hold:
        raise UsageError(
            "files are either requeued or excluded, not both.", next="Choose --requeue or --hold."
        )
    files: UndoneFiles | None = "requeue" if requeue else "exclude" if hold else None
    tables = screen.lake.tables
    plan = (
        tables.plan_rollback(name, to, files=files)
        if dry_run
        else tables.rollback(name, to, files=files, wait=wait)
    )
    screen.show(
        rollback_json(plan, done=not dry_run), lambda: _print_rollback(screen, plan, dry_run)
    )


def _print_rollback(screen: Screen, plan: "Rollback", dry_run: bool) -> None:
    if plan.changes_nothing:
        screen.say(f"{plan.table} is already at snapshot {plan.to.id}")
        return
    verb = "would be" if dry_run else "is now"
    screen.say(f"{plan.table} {verb} at snapshot {plan.to.id}, of {format_time(plan.to.at)} UTC")
    for label, runs in (("undone", plan.undone), ("redone", plan.redone)):
        if runs:
            screen.say(f"  {label}: {', '.join(run[:16] for run in runs)}")
    if plan.files:
        screen.say(f"  files queued again: {len({file.path for file in plan.files})}")
    if not dry_run:
        screen.say(f"  to undo this: lakebed table rollback {plan.table} --to {plan.base}")
