"""The noun `table`, with its commands."""

import typer

from lakebed.cli.table import adopt, describe, diff, drop, history, migrate, refs, rollback, write


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `table`."""
    noun = typer.Typer(
        no_args_is_help=True,
        help="About one table: describe, history, diff, rollback, migrate, tag, clone, drop …",
    )
    for commands in (describe, history, diff, rollback, migrate, refs, drop, write, adopt):
        commands.add_to(noun)
    app.add_typer(noun, name="table")
