"""Commands that back up, restore and move a lake: backup, restore, relocate, takeover."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.landing import ledger_summary, show_ledger
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.lake import backup_json, relocated_json, restored_json, takeover_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.care.backup import RestoreReport


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "backup", examples=_BACKUP)(backup)
    command(app, "restore", examples=_RESTORE)(restore)
    command(app, "relocate", examples=_RELOCATE)(relocate)
    command(app, "takeover", examples=_TAKEOVER)(takeover)


_BACKUP = """
lakebed backup ../backups/
lakebed backup lake-2026-11-15.zip
"""


def backup(
    screen: Screen,
    destination: Annotated[
        str, typer.Argument(help="A file, or a folder for one; s3:// works too.")
    ],
) -> None:
    """Back up catalog and state, as of one point in time, to one file."""
    with screen.spinner("backing up catalog and state"):
        made = screen.lake.backup(destination)

    def text() -> None:
        rows = format_count(sum(made.rows.values()))
        screen.say(
            f"{made.path}: {format_count(made.tables)} tables, {rows} rows,"
            f" {format_size(made.bytes)}"
        )
        for missing in made.without:
            screen.say(f"not in it: {missing}")

    screen.show(backup_json(made), text)


_RESTORE = """
lakebed restore ../backups/lakebed-backup-20261115T120000Z.zip
lakebed restore lake.zip --force --newest
"""


def restore(
    screen: Screen,
    source: Annotated[
        str, typer.Argument(metavar="BACKUP", help="A file written by lakebed backup.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a catalog and state that are not empty.")
    ] = False,
    newest: Annotated[
        bool, typer.Option("--newest", help="Keep what tables have committed since the backup.")
    ] = False,
) -> None:
    """Replace the lake's catalog and state with a backup."""
    with screen.spinner("restoring"):
        restored = screen.lake.restore(source, force=force, newest=newest, report=screen.progress)

    def text() -> None:
        screen.say(f"restored {format_count(restored.tables)} tables as of {restored.made_at}")
        for table in restored.newer:
            screen.say(
                f"{table} has newer commits" + (", which are kept" if restored.repointed else "")
            )
        if restored.newer and not restored.repointed:
            screen.say(
                "tables are as of the backup; to keep the newer commits: lakebed restore BACKUP"
                " --force --newest"
            )
        if restored.moved:
            screen.say(f"the lake was at {restored.root} then; {_after_move(restored)}")
        if restored.unknown:
            screen.say(
                f"tables created since: {', '.join(restored.unknown)}; next: lakebed fsck"
                " --rebuild-catalog"
            )
        if restored.repointed:
            show_ledger(screen, restored.ledger)
            screen.say(
                f"{ledger_summary(restored.ledger)}; not restored: records of runs and events since"
                " the backup"
            )

    screen.show(restored_json(restored), text)


def _after_move(restored: "RestoreReport") -> str:
    if restored.repointed:
        return "its tables point to their files here now"
    return f"next: lakebed relocate --from {restored.root}"


_RELOCATE = """
lakebed relocate --dry-run
lakebed relocate
lakebed relocate --moved
lakebed relocate --from /old/place/shop-lake
"""


def relocate(
    screen: Screen,
    origin: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="ROOT", help="Where the lake was. Default: found in the catalog."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
    ] = False,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Skip tables whose metadata cannot be read.")
    ] = False,
    was_moved: Annotated[
        bool,
        typer.Option(
            "--moved",
            help="The lake is no longer where it was, and keeps its id. Default: it is a copy.",
        ),
    ] = False,
) -> None:
    """Make a copied or moved lake a lake of its own: its tables point to their files again."""
    with screen.spinner("rewriting metadata"):
        moved = screen.lake.relocate(
            origin=origin,
            dry_run=dry_run,
            skip_damaged=skip_damaged,
            moved=was_moved,
            report=screen.progress,
        )

    def text() -> None:
        if not moved.tables:
            screen.say("nothing to do: every table points into the lake")
            return
        would = "would be " if dry_run else ""
        screen.say(f"from {moved.origin} to {moved.root}")
        for table in moved.tables:
            screen.say(
                f"{table.name} ({table.kind}): {format_count(table.files)} metadata files"
                f" {would}rewritten"
            )
        if any(table.kind == "unregistered" for table in moved.tables):
            screen.say("not all are in the catalog; next: lakebed fsck --rebuild-catalog")
        for name in moved.lost:
            screen.say(f"{name}: skipped, its metadata cannot be read")
        for name in moved.left:
            screen.say(f"{name}: left alone, it is outside of the lake")

    screen.show(relocated_json(moved), text)


_TAKEOVER = """
lakebed takeover
"""


def takeover(screen: Screen) -> None:
    """Make this database the lake's owner; any other can only read from then on."""
    done = screen.lake.takeover()

    def text() -> None:
        lake = f"the lake {done.now.id}, generation {done.now.generation}"
        screen.say(f"{screen.lake.stores.database.where} owns {lake}")
        if done.before:
            screen.say("processes with any other database can read, and no longer write")

    screen.show(takeover_json(done), text)
