"""Commands for tags, branches and clones: table tag, untag, clone."""

from typing import Annotated

import typer

from lakebed.cli.output.screen import Screen
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import AtOption, TableArgument
from lakebed.errors import UsageError
from lakebed.presentation.table import clone_json, removed_ref_json, tag_json


def add_to(noun: typer.Typer) -> None:
    """Give the noun `table` these commands."""
    command(noun, "tag", examples=_TAG)(tag)
    command(noun, "untag", examples=_UNTAG)(untag)
    command(noun, "clone", examples=_CLONE)(clone)


_TAG = """
lakebed table tag orders before_migration
lakebed table tag orders q3 --at 2026-09-30T23:59
"""


def tag(
    screen: Screen,
    name: TableArgument,
    tag: Annotated[str, typer.Argument(help="The tag's name.")],
    at: AtOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Move the tag if it exists.")] = False,
) -> None:
    """Tag a snapshot of a table. Tagged snapshots do not expire."""
    snapshot = screen.lake.tables.tag(name, tag, at=at, replace=replace)
    screen.show(
        tag_json(tag, snapshot), lambda: screen.say(f"tagged snapshot {snapshot.id} as {tag}")
    )


_UNTAG = """
lakebed table untag orders before_migration
"""


def untag(
    screen: Screen,
    name: TableArgument,
    ref: Annotated[str, typer.Argument(help="A tag or branch.")],
) -> None:
    """Remove a tag or a branch. Snapshots that only it kept may expire."""
    screen.lake.tables.untag(name, ref)
    screen.show(removed_ref_json(ref), lambda: screen.say(f"removed {ref}"))


_CLONE = """
lakebed table clone orders shop.silver.orders_dev
lakebed table clone orders shop.silver.orders_then --at 2026-11-01
lakebed table clone orders --branch experiment
"""


def clone(
    screen: Screen,
    name: TableArgument,
    to: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="The new table: namespace.layer.name.")
    ] = None,
    at: AtOption = None,
    branch: Annotated[
        str | None,
        typer.Option("--branch", metavar="NAME", help="Make a branch of the table instead."),
    ] = None,
) -> None:
    """Make a new table or branch from a table. No files are copied; neither affects the other."""
    if (to is None) == (branch is None):
        raise UsageError(
            "a clone is a new table or a branch.", next="Give a table's name, or --branch NAME."
        )
    lake = screen.lake
    if branch:
        made = (
            f"{lake.tables.find(name)} branch {branch} at snapshot"
            f" {lake.tables.branch(name, branch, at=at).id}"
        )
    else:
        made = str(lake.tables.clone(name, to or "", at=at))
    screen.show(clone_json(made), lambda: screen.say(f"made {made}"))
