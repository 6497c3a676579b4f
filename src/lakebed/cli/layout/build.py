"""Commands that write and compare the rows of layouts: layout build, verify."""

from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.layout.arguments import AnyTableArgument, NameOption
from lakebed.cli.output.bar import Bar
from lakebed.cli.output.formats import format_count
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.presentation.layout import builds_json, checks_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lakebed.derived.building.steps import LayoutBuild, LayoutListener
    from lakebed.derived.verify import LayoutCheck

_PROBLEMS = 1  # exit code


def add_to(noun: typer.Typer) -> None:
    """Give the noun `layout` these commands."""
    command(noun, "build", examples=_BUILD)(build)
    command(noun, "verify", examples=_VERIFY)(verify)


_BUILD = """
lakebed layout build
lakebed layout build income --name by_geo_fips
lakebed layout build income --force
"""


def build(
    screen: Screen,
    table: AnyTableArgument = None,
    name: NameOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write all batches again, also those that are fresh.")
    ] = False,
) -> None:
    """Bring layouts up to date: batches that have changed in the table are written again.

    Interrupted, the same command goes on. The exit code is 1 if a layout could not be built.
    """
    bar = Bar(screen)
    with bar.live("looking at layouts"):
        done = screen.lake.layouts.build(table, name=name, force=force, listener=_listener(bar))
    screen.show(builds_json(done), lambda: _print_builds(screen, done))
    if any(one.error for one in done):
        raise typer.Exit(_PROBLEMS)


def _listener(bar: Bar) -> "LayoutListener":
    from lakebed.derived.building.steps import LayoutListener

    return LayoutListener(
        on_start=lambda step: bar.start(f"{step.action} {step.subject}"), on_progress=bar.update
    )


def _print_builds(screen: Screen, done: "Sequence[LayoutBuild]") -> None:
    if not done:
        screen.say("no layouts")
    for one in done:
        screen.say(bold(f"{one.source} {one.name}"), f": {_told(one)}")
        for warning in one.warnings:
            screen.say(f"  warning: {warning}")


def _told(one: "LayoutBuild") -> str:
    if one.error:
        return f"not built: {one.error}"
    parts = [
        "made" if one.created else "",
        f"{format_count(one.built)} {'batch' if one.built == 1 else 'batches'} built,"
        f" {format_size(one.bytes)} read in {one.seconds:.1f} s"
        if one.built
        else "",
        f"{format_count(one.removed)} removed" if one.removed else "",
        f"{format_count(one.skipped)} left to other processes" if one.skipped else "",
    ]
    told = "; ".join(part for part in parts if part)
    state = "fresh" if one.complete else "not complete: build it again"
    return f"{told}; {state}" if told else state


_VERIFY = """
lakebed layout verify
lakebed layout verify income --name by_geo_fips --json
"""


def verify(screen: Screen, table: AnyTableArgument = None, name: NameOption = None) -> None:
    """Compare counts and checksums of layouts with those of their tables, batch by batch.

    The exit code is 1 if rows differ. Such batches are not used any more, and built again by the
    next build.
    """
    with screen.spinner("comparing rows"):
        found = screen.lake.layouts.verify(table, name=name)
    screen.show(checks_json(found), lambda: _print_checks(screen, found))
    if not all(one.ok for one in found):
        raise typer.Exit(_PROBLEMS)


def _print_checks(screen: Screen, found: "Sequence[LayoutCheck]") -> None:
    for one in found:
        same = [batch for batch in one.batches if not batch.problem]
        rows = sum(batch.rows for batch in same)
        told = f"{len(same)} of {len(one.batches)} batches are the same, {format_count(rows)} rows"
        screen.say(bold(f"{one.table} {one.name}"), f": {told}")
        for batch in one.batches:
            if batch.problem:
                screen.say(f"  {batch.batch or 'all rows'}: {batch.problem}")
    if not found:
        screen.say("no layouts")
