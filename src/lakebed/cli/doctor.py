"""The command `doctor`."""

import os

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.presentation.lake import doctor_json

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "bold red"}


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "doctor", examples=_DOCTOR)(doctor)


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
