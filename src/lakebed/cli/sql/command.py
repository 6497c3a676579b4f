"""The command `sql`."""

import os
import sys
from typing import Annotated, Literal

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import AtOption, NamespaceOption


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "sql", examples=_SQL)(sql)


_SQL = """
lakebed sql
lakebed sql --at 2026-11-01
echo "SELECT count(*) FROM silver.orders;" | lakebed sql --mode csv
"""


def sql(
    screen: Screen,
    at: AtOption = None,
    mode: Annotated[
        Literal["table", "csv", "json"], typer.Option("--mode", help="How results are shown.")
    ] = "table",
    namespace: NamespaceOption = None,
) -> None:
    """An SQL shell on the lake's tables, in DuckDB's dialect; also for piped statements."""
    from lakebed.cli.sql.shell import Shell, run_interactively, run_script

    shell = Shell(
        screen, screen.lake, mode="json" if screen.as_json else mode, at=at, namespace=namespace
    )
    if not sys.stdin.isatty():
        shell.timer = False
        run_script(shell, sys.stdin)
        return
    from lakebed.cli.sql.prompt import prompted
    from lakebed.settings import cache_folder

    screen.say(
        Styled("DuckDB's SQL on the lake's tables. Type .help for help, .quit to quit.", "dim")
    )
    run_interactively(shell, prompted(shell, cache_folder(os.environ) / "sql_history"))
