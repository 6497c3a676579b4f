"""Commands about a pipeline's releases: pipeline release, releases, diff, rollback."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import format_time
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled, bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import PipelineArgument, VarsOption
from lakebed.cli.parsing.variables import variables
from lakebed.presentation.pipeline import made_release_json, pipeline_diff_json, release_json

if TYPE_CHECKING:
    from lakebed.pipelines.releases import FileChanges, ReleaseResult

MessageOption = Annotated[str, typer.Option("-m", "--message", metavar="TEXT", help="Why.")]


def add_to(noun: typer.Typer) -> None:
    """Give the noun `pipeline` these commands."""
    command(noun, "release", examples=_RELEASE)(release)
    command(noun, "releases", examples=_RELEASES)(releases)
    command(noun, "diff", examples=_DIFF)(diff)
    command(noun, "rollback", examples=_ROLLBACK)(rollback)


_RELEASE = """
lakebed pipeline release silver.orders -m "late orders count"
lakebed pipeline release silver.orders --vars day=2026-10-01
"""


def release(
    screen: Screen, name: PipelineArgument, message: MessageOption = "", vars: VarsOption = None
) -> None:
    """Check the draft and make it the next release, unless it is the same as the last one."""
    made = screen.lake.pipelines.release(name, message=message, vars=variables(vars))
    _show_made(screen, made)


def _show_made(screen: Screen, made: "ReleaseResult") -> None:
    def text() -> None:
        table, version = made.release.table, made.release.version
        if not made.new:
            screen.say(bold(table), f" is already release {version}: no release was made")
            return
        screen.say(bold(table), f" release {version} ({made.changes.summary})")
        for line in _in_short(made.changes):
            screen.say(f"  {line}")
        if made.dropped:
            screen.say(
                f"  removed, because of max_versions: {', '.join(map(str, sorted(made.dropped)))}"
            )

    screen.show(made_release_json(made), text)


def _in_short(changes: "FileChanges") -> list[str]:
    from lakebed.pipelines.releases import summary_lines

    return list(summary_lines(changes))


_RELEASES = """
lakebed pipeline releases silver.orders
lakebed pipeline releases orders --json
"""


def releases(screen: Screen, name: PipelineArgument) -> None:
    """List the releases of a pipeline that are kept, newest first."""
    found = screen.lake.pipelines.releases(name)

    def text() -> None:
        if not found:
            screen.say("no releases yet: make one with lakebed pipeline release")
            return
        rows = [
            (
                str(one.version),
                format_time(one.at),
                one.who,
                str(len(one.files)),
                one.digest[:12],
                one.message.split("\n")[0],
            )
            for one in found
        ]
        screen.table(
            ("release", "at (UTC)", "who", "files", "digest", "message"),
            rows,
            right=("release", "files"),
        )

    screen.show([release_json(one) for one in found], text)


_DIFF = """
lakebed pipeline diff silver.orders 2
lakebed pipeline diff silver.orders 1 3
lakebed pipeline diff silver.orders draft 3
"""


def diff(
    screen: Screen,
    name: PipelineArgument,
    one: Annotated[
        str, typer.Argument(metavar="FROM", help="A release, a saved draft's digest, or draft.")
    ],
    other: Annotated[
        str, typer.Argument(metavar="[TO]", help="Likewise. Default: the draft.")
    ] = "draft",
) -> None:
    """Compare two releases or drafts of a pipeline, as a unified diff."""
    found = screen.lake.pipelines.diff(name, one, other)

    def text() -> None:
        for line in found.changes.text.splitlines():
            screen.say(_coloured(line))
        screen.say(f"from {found.names[0]} to {found.names[1]}: {found.changes.summary}")

    screen.show(pipeline_diff_json(found), text)


def _coloured(line: str) -> Styled:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return Styled(line, "" if line.startswith(("+++", "---")) else colours.get(line[:1], ""))


_ROLLBACK = """
lakebed pipeline rollback silver.orders 2
lakebed pipeline rollback silver.orders 2 -m "3 lost rows"
"""


def rollback(
    screen: Screen,
    name: PipelineArgument,
    version: Annotated[
        int, typer.Argument(metavar="RELEASE", min=1, help="The release to go back to.")
    ],
    message: MessageOption = "",
) -> None:
    """Make a new release with the files of an earlier one. The draft does not change."""
    _show_made(screen, screen.lake.pipelines.rollback(name, version, message=message))
