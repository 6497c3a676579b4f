"""The noun `pipeline`, with its commands."""

import typer

from lakebed.cli.pipeline import drafts, releases


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `pipeline`."""
    about = (
        "About one pipeline: ls, release, releases, diff, rollback, save, drafts, restore, delete."
    )
    noun = typer.Typer(no_args_is_help=True, help=about)
    releases.add_to(noun)
    drafts.add_to(noun)
    app.add_typer(noun, name="pipeline")
