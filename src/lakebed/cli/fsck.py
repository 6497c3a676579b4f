"""The command `fsck`."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_count
from lakebed.cli.output.landing import ledger_summary, show_ledger
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.errors import UsageError
from lakebed.presentation.keeping.fsck import fsck_json, rebuilt_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.care.fsck import Finding, FsckReport

_COLOURS = {"problem": "bold red", "warning": "yellow", "info": "dim"}


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "fsck", examples=_FSCK)(fsck)


_FSCK = """
lakebed fsck
lakebed fsck --all --json
lakebed fsck --repair
lakebed fsck --rebuild-catalog
"""


def fsck(
    screen: Screen,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be repaired without losing anything.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            min=0,
            help="How many data files, and metadata files, to read in full. Default: 200.",
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Read every file in full.")] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild-catalog",
            help="Register every table the catalog does not know, from its metadata files.",
        ),
    ] = False,
) -> None:
    """Check that catalog, files, pipelines and state agree."""
    from lakebed.care.fsck import SAMPLE

    if (all and sample is not None) or (rebuild and (all or repair or sample is not None)):
        raise UsageError("these options cannot be combined.", next="See: lakebed fsck --help")
    if rebuild:
        _rebuild(screen)
        return
    limit = None if all else SAMPLE if sample is None else sample
    with screen.spinner("checking the lake"):
        checked = screen.lake.fsck(repair=repair, sample=limit, report=screen.progress)
    screen.show(fsck_json(checked), lambda: _show(screen, checked))
    if checked.problems:
        raise typer.Exit(1)


def _show(screen: Screen, checked: "FsckReport") -> None:
    for outcome in checked.repairs:
        label = "repaired" if outcome.done else "not repaired"
        detail = f" ({outcome.detail})" if outcome.detail else ""
        screen.say(f"{label}: {outcome.repair}{detail}")
    for found in checked.findings:
        severity = Styled(found.severity, _COLOURS[found.severity])
        if found.severity == "info":
            screen.say(severity, f" {found.where}: {found.what}")
            continue
        screen.say(severity, f" {found.what}")
        screen.say(f"    where: {found.where}")
        if remedy := _remedy(found):
            screen.say(f"    next: {remedy}")
    looked = checked.looked
    screen.say(
        f"{format_count(looked.tables)} tables, {format_count(looked.files)} files;"
        f" {format_count(looked.read)} of them ({format_size(looked.bytes)}) read in full;"
        f" problems: {format_count(checked.problems)}"
    )


def _remedy(found: "Finding") -> str:
    return f"--repair: {found.repair}" if found.repair else found.advice


def _rebuild(screen: Screen) -> None:
    with screen.spinner("looking for tables"):
        rebuilt = screen.lake.rebuild_catalog(report=screen.progress)

    def text() -> None:
        for name, location in rebuilt.tables.items():
            screen.say(f"registered {name} from {location}")
        for location, why in rebuilt.skipped.items():
            screen.say(f"skipped {location}: {why}")
        show_ledger(screen, rebuilt.ledger)
        screen.say(
            f"{format_count(len(rebuilt.tables))} tables registered;"
            f" {ledger_summary(rebuilt.ledger)}; not restored: records of runs, events, releases,"
            " views and which tables were dropped"
        )

    screen.show(rebuilt_json(rebuilt), text)
    if rebuilt.elsewhere:
        raise typer.Exit(1)
