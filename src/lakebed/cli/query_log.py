"""The command `query-log`. It reads plain files, so it works even if catalog and state are down."""

from itertools import islice
from typing import Annotated

import typer

from lakebed.cli.output.formats import shorten
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.query import logged_query_json

_LONGEST = 80  # characters of a query, on a terminal


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "query-log", examples=_LOG)(query_log)


_LOG = """
lakebed query-log
lakebed query-log --failed --limit 5
lakebed query-log --json
lakebed query "SELECT principal, count(*) FROM system.query_log GROUP BY ALL"
"""


def query_log(
    screen: Screen,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many queries to show.")] = 20,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only queries that were refused, stopped or failed.")
    ] = False,
) -> None:
    """Show the last queries, newest first."""
    entries = screen.lake.query_log.entries(newest_first=True)
    found = list(islice((entry for entry in entries if not failed or entry.status != "ok"), limit))

    def text() -> None:
        rows = [
            (
                f"{one.ts:%Y-%m-%d %H:%M:%S}",
                one.status,
                str(one.rows),
                f"{one.ms:.0f}",
                one.route,
                one.principal,
                shorten(" ".join(one.sql.split()), screen.text_limit(_LONGEST)),
            )
            for one in found
        ]
        screen.table(
            ["when (UTC)", "status", "rows", "ms", "route", "who", "query"],
            rows,
            right=("rows", "ms"),
        )

    screen.show([logged_query_json(entry) for entry in found], text)
