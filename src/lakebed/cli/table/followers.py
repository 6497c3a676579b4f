"""Commands about followers: follower ls, remove."""

from typing import Annotated

import typer

from lakebed.cli.output.formats import format_count, format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.presentation.follower import follower_json


def add_to(app: typer.Typer) -> None:
    """Give the app the noun `follower`."""
    noun = typer.Typer(no_args_is_help=True, help="About followers of tables: ls, remove.")
    command(noun, "ls", examples=_LS)(ls)
    command(noun, "remove", examples=_REMOVE)(remove)
    app.add_typer(noun, name="follower")


_LS = """
lakebed follower ls
lakebed follower ls --json
"""


def ls(screen: Screen) -> None:
    """List followers: when each last looked, since when events wait, and what it protects."""
    found = screen.lake.followers.list()

    def text() -> None:
        if not found:
            screen.say("nobody follows this lake")
            return
        rows = [
            (
                one.name,
                "" if one.registered else "not registered",
                format_time(one.looked_at) if one.looked_at else "",
                format_time(one.waiting_since) if one.waiting_since else "",
                format_count(one.protected_snapshots),
            )
            for one in found
        ]
        columns = ("follower", "", "last look", "events wait since", "protected snapshots")
        screen.table(columns, rows, right=("protected snapshots",))

    screen.show([follower_json(one) for one in found], text)


_REMOVE = """
lakebed follower remove mirror
"""


def remove(
    screen: Screen,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As follower ls shows it.")],
) -> None:
    """Remove a follower that is gone for good; what it protected may expire."""
    gone = screen.lake.followers.remove(name)
    screen.show(
        follower_json(gone),
        lambda: screen.say(
            f"removed {gone.name}: {format_count(gone.protected_snapshots)} snapshots are no"
            " longer protected"
        ),
    )
