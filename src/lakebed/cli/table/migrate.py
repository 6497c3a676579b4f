"""The command `table migrate`."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.bar import Bar
from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import TableArgument
from lakebed.presentation.table import migration_json, migration_plan_json, undone_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.tables.migration.steps import (
        MigrationListener,
        MigrationPlan,
        MigrationResult,
        MigrationStep,
        MovedRows,
        UndoneMigration,
    )

_SHOWN = 20  # batches of a dry run


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` this command."""
    command(noun, "migrate", examples=_MIGRATE)(migrate)


_MIGRATE = """
lakebed table migrate orders --partition-by "month(at), bucket(16, id)" --dry-run
lakebed table migrate orders --partition-by "month(at), bucket(16, id)"
lakebed table migrate silver.orders
lakebed table migrate orders --undo
"""


def migrate(
    screen: Screen,
    name: TableArgument,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by",
            metavar="FIELDS",
            help="As in config.yaml: month(at), bucket(16, id), country; repeatable. Default: what"
            " the pipeline declares.",
        ),
    ] = None,
    unpartitioned: Annotated[
        bool, typer.Option("--unpartitioned", help="Without any partitions.")
    ] = False,
    batch_size: Annotated[
        str, typer.Option("--batch-size", metavar="SIZE", help="Bytes of files that move at once.")
    ] = "1GiB",
    wait: Annotated[
        float,
        typer.Option("--wait", min=0, help="Seconds to wait for a run that is changing the table."),
    ] = 600.0,
    undo: Annotated[
        bool,
        typer.Option("--undo", help="Go back to the files and partitions from before."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
    ] = False,
) -> None:
    """Move all rows of a table onto other partitions, batch by batch; readers see all of them
    throughout. Interrupted, the same command goes on.
    """
    from lakebed.errors import UsageError

    if sum((bool(partition_by), unpartitioned, undo)) > 1 or (undo and dry_run):
        raise UsageError(
            "--partition-by, --unpartitioned and --undo exclude each other, and --undo has no dry"
            " run."
        )
    tables, fields = screen.lake.tables, () if unpartitioned else partition_by
    if undo:
        undone = tables.undo_migration(name, wait=wait)
        screen.show(undone_json(undone), lambda: _print_undone(screen, undone))
    elif dry_run:
        plan = tables.plan_migration(name, partition_by=fields, batch_size=batch_size)
        screen.show(migration_plan_json(plan), lambda: _print_plan(screen, plan))
    else:
        progress = _Progress(screen)
        with progress.bar.live("looking at the table's files"):
            done = tables.migrate(
                name,
                partition_by=fields,
                batch_size=batch_size,
                wait=wait,
                listener=progress.listener,
            )
        screen.show(migration_json(done), lambda: _print_result(screen, done))


class _Progress:
    """A line for each batch as it ends, and a bar on a terminal."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.bar = screen, Bar(screen)

    @property
    def listener(self) -> "MigrationListener":
        from lakebed.tables.migration.steps import MigrationListener

        return MigrationListener(
            on_start=lambda step: self.bar.start(f"{step.action} {step.subject}"),
            on_progress=self.bar.update,
            on_end=self._end,
        )

    def _end(self, step: "MigrationStep", moved: "MovedRows") -> None:
        if self.screen.as_json or self.screen.quiet:
            return
        counts = (
            f"{format_count(moved.sum.rows)} rows, checksum {moved.sum.checksum}"
            if moved.sum.rows
            else moved.skipped
        )
        with self.bar.paused():
            self.screen.say(f"{step.action} {step.subject}" + (f": {counts}" if counts else ""))


def _print_plan(screen: Screen, plan: "MigrationPlan") -> None:
    to = ", ".join(map(str, plan.wanted)) or "no partitions"
    screen.say(f"{plan.table}: from {', '.join(plan.present) or 'no partitions'} to {to}")
    if plan.goes_on:
        screen.say("  goes on where an interrupted migration stopped")
    rows = [
        (
            str(batch.number),
            batch.label,
            format_count(batch.files),
            format_count(batch.rows),
            format_size(batch.bytes),
        )
        for batch in plan.batches[:_SHOWN]
    ]
    if rows:
        columns = ("batch", "of", "files", "rows", "size")
        screen.table(columns, rows, right=("batch", "files", "rows", "size"))
    screen.say(
        f"{format_count(len(plan.batches))} batches, {format_count(plan.files)} files,"
        f" {format_size(plan.bytes)} (dry run: nothing was changed)"
    )


def _print_result(screen: Screen, done: "MigrationResult") -> None:
    to = ", ".join(done.present) or "no partitions"
    if not done.compared:
        screen.say(f"{done.table} is already partitioned so: {to}")
        return
    screen.say(
        f"{done.table}: {to}; {format_count(done.batches)} batches,"
        f" {format_count(done.files)} files, {format_size(done.bytes)}; {done.compared}"
    )
    screen.say(f"  to undo this: lakebed table migrate {done.table} --undo")


def _print_undone(screen: Screen, undone: "UndoneMigration") -> None:
    to = ", ".join(undone.present) or "no partitions"
    screen.say(f"{undone.table} is as it was before its migration: {to}")
    if undone.note:
        screen.say(f"  {undone.note}")
