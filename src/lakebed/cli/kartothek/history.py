"""Commands about former states of Kartothek datasets: kartothek keep, versions."""

from typing import Annotated

import typer

from lakebed.cli.kartothek.arguments import DatasetArgument, datasets_of
from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.kartothek import kept_json, versions_json


def add_to(noun: typer.Typer) -> None:
    """Give the noun `kartothek` these commands."""
    command(noun, "keep", examples=_KEEP)(keep)
    command(noun, "versions", examples=_VERSIONS)(versions)


_KEEP = """
lakebed kartothek keep exports/sales 7
"""


def keep(
    screen: Screen,
    dataset: DatasetArgument,
    days: Annotated[float, typer.Argument(metavar="DAYS", min=0, help="For so many days.")],
) -> None:
    """Keep former states of a Kartothek dataset from now on: they can be read, and garbage
    collection leaves their files.
    """
    datasets_of(screen).keep(dataset, days=days)
    screen.show(
        kept_json(dataset, days=days),
        lambda: screen.say(f"{dataset}: former states are kept for {days:g} days"),
    )


_VERSIONS = """
lakebed kartothek versions exports/sales
lakebed kartothek versions exports/sales --json
"""


def versions(screen: Screen, dataset: DatasetArgument) -> None:
    """List the states of a Kartothek dataset that can be read with query --at."""
    found = datasets_of(screen).versions(dataset)

    def text() -> None:
        rows = [
            (
                one.version,
                format_time(one.since),
                format_time(one.until) if one.until else "",
                str(one.partitions),
            )
            for one in found
        ]
        headings = ("version", "since (UTC)", "until (UTC)", "partitions")
        screen.table(headings, rows, right=("partitions",))

    screen.show(versions_json(found), text)
