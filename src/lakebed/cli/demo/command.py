"""The command `demo`."""

from typing import Annotated

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "demo", examples=_DEMO)(demo)


_DEMO = """
lakebed demo
lakebed demo my-first-lake
"""


def demo(
    screen: Screen,
    path: Annotated[
        str | None, typer.Argument(help="Where to create the lake. Default: a temporary folder.")
    ] = None,
) -> None:
    """Create a small shop lake and show what Lakebed can do with it."""
    from lakebed.cli.demo.demo import show

    show(screen, path)
