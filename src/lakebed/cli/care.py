"""The command `care`: what is due, what was done about it, and by which settings."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.care_progress import CareProgress, counts_text
from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.completion import known_tables
from lakebed.presentation.keeping.care import care_entry_json, care_json, care_settings_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.care.settings_view import CareView


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
        typer.Argument(
            metavar="TABLES",
            help="Names or patterns. Default: all tables.",
            autocompletion=known_tables,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is due, and change nothing.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ACTION", help="Only this action; repeatable."),
    ] = None,
    orphans: Annotated[
        bool,
        typer.Option("--orphans", help="Remove orphan files; otherwise they are only reported."),
    ] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="Show these tables' settings, and where each is set.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Show what care has done so far.")
    ] = False,
) -> None:
    """Maintain the lake: expire snapshots, compact files, remove and purge what is due."""
    if settings:
        _show_settings(screen, tables or [])
    elif history:
        _show_history(screen)
    else:
        _take_care(screen, tables or [], dry_run=dry_run, only=only or [], orphans=orphans)


def _take_care(
    screen: Screen, tables: list[str], *, dry_run: bool, only: list[str], orphans: bool
) -> None:
    progress = CareProgress(screen)
    with progress.live():
        result = screen.lake.care(
            *tables, dry_run=dry_run, only=only, orphans=orphans, listener=progress.listener
        )

    def text() -> None:
        if not result.entries:
            screen.say("nothing is due")
            return
        size = sum(entry.bytes for entry in result.entries if entry.state in ("done", "reported"))
        states = [entry.state for entry in result.entries]
        counts = ", ".join(
            f"{states.count(state)} {state}"
            for state in ("done", "reported", "skipped", "failed")
            if state in states
        )
        screen.say(
            f"{counts}; {format_size(size)}"
            + (" (dry run: nothing was changed)" if dry_run else "")
        )

    screen.show(care_json(result, dry_run=dry_run), text)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _show_settings(screen: Screen, names: list[str]) -> None:
    lake = screen.lake
    views = [lake.care_settings(name) for name in names or map(str, lake.tables.list())]

    def text() -> None:
        for view in views:
            _show_view(screen, view)

    screen.show([care_settings_json(view) for view in views], text)


def _show_view(screen: Screen, view: "CareView") -> None:
    screen.say(bold(view.table))
    set_by = {
        key: (level, value) for level, own in view.overrides.items() for key, value in own.items()
    }
    rows = [
        (key, str(value), str(view.system[key]), f"{set_by[key][0]}" if key in set_by else "")
        for key, value in view.effective.items()
    ]
    screen.table(("setting", "effective", "default", "set by"), rows)


def _show_history(screen: Screen) -> None:
    entries = screen.lake.care_history()

    def text() -> None:
        if not entries:
            screen.say("care has done nothing yet")
            return
        rows = [
            (
                format_time(entry.at),
                entry.action,
                entry.subject,
                entry.state,
                counts_text(entry),
                format_size(entry.bytes),
                f"{entry.seconds:.1f}",
            )
            for entry in entries
        ]
        screen.table(
            ("at (UTC)", "action", "of", "state", "what", "size", "seconds"),
            rows,
            right=("size", "seconds"),
        )

    screen.show([care_entry_json(entry) for entry in entries], text)
