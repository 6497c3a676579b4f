"""Commands that look after an installation: doctor, upgrade."""

import os
from typing import Annotated

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.presentation.lake import doctor_json, upgrade_json

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def add_to(app: typer.Typer) -> None:
    """Give the app these commands."""
    command(app, "doctor", examples=_DOCTOR)(doctor)
    command(app, "upgrade", examples=_UPGRADE)(upgrade)


_DOCTOR = """
lakebed doctor
lakebed doctor --lake shop-lake --json
"""


def doctor(screen: Screen) -> None:
    """Check this machine and the lake, and say how to fix what is wrong."""
    from lakebed.app import examine
    from lakebed.errors import NoLake

    try:
        lake = screen.lake
    except NoLake:
        if screen.lake_path:
            raise
        lake = None
    findings = examine(lake, os.environ)

    def text() -> None:
        rows = [
            (
                Styled(found.state, _COLOURS[found.state]),
                found.component,
                found.version,
                found.detail,
            )
            for found in findings
        ]
        screen.table(("", "component", "version", "found"), rows)
        for found in findings:
            if found.fix:
                screen.say(f"{found.component}: {found.fix}")

    screen.show(doctor_json(findings), text)
    if any(found.state == "problem" for found in findings):
        raise typer.Exit(1)


_UPGRADE = """
lakebed upgrade --check
lakebed upgrade
"""


def upgrade(
    screen: Screen,
    check: Annotated[
        bool, typer.Option("--check", help="Say whether it is due (then 1), and change nothing.")
    ] = False,
) -> None:
    """Bring the lake's database to the version that this Lakebed needs, as its owner."""
    upgraded = screen.lake.upgrade(check=check)

    def text() -> None:
        versions = f"version {upgraded.before}; this Lakebed needs {upgraded.needed}"
        if upgraded.is_due:
            screen.say(f"{upgraded.database} is of {versions}: lakebed upgrade")
        elif upgraded.done:
            screen.say(f"{upgraded.database} was of {versions}, and is of that version now")
        else:
            screen.say(f"{upgraded.database} is of version {upgraded.needed}: nothing to do")

    screen.show(upgrade_json(upgraded), text)
    if upgraded.is_due:
        raise typer.Exit(1)
