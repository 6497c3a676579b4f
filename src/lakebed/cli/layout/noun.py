"""The noun `layout`, with its commands."""

import typer

from lakebed.cli.layout import build, change, ls


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `layout`."""
    noun = typer.Typer(
        no_args_is_help=True,
        help="About layouts, further arrangements of a table: ls, add, build, verify, drop.",
    )
    for commands in (ls, change, build):
        commands.add_to(noun)
    app.add_typer(noun, name="layout")
