"""The command `layout advise`."""

from typing import TYPE_CHECKING

import typer

from lakebed.cli.layout.arguments import AnyTableArgument
from lakebed.cli.output.formats import format_time, plural
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import Styled
from lakebed.cli.parsing.command import command
from lakebed.presentation.layout import advice_json
from lakebed.sizes import format_size

if TYPE_CHECKING:
    from lakebed.query.advice.advice import AdviceReport, LayoutAdvice
    from lakebed.query.advice.workload import LogCoverage


def add_to(noun: typer.Typer) -> None:
    """Give the noun `layout` this command."""
    command(noun, "advise", examples=_ADVISE)(advise)


_ADVISE = """
lakebed layout advise
lakebed layout advise income
lakebed layout advise --json
"""
_TITLES = {
    "layout": "add the layout {}",
    "sort_in_place": "sort the table itself",
    "no_pruning_gain": "drop the layout {}",
    "unused": "drop the layout {}",
    "costs_more": "drop the layout {}",
}


def advise(screen: Screen, table: AnyTableArgument = None) -> None:
    """Say which layouts would have paid for the queries of the log, and which do not pay.

    Reads the query log, manifests and a sample of rows. Changes nothing, starts no JVM.
    """
    found = screen.lake.layouts.advise(table)
    screen.show(advice_json(found), lambda: _text(screen, found))


def _text(screen: Screen, found: "AdviceReport") -> None:
    screen.say(Styled(f"the query log of this machine: {found.folder}", "dim"))
    for line in _seen(found.log):
        screen.say(Styled(line, "dim"))
    for name in found.unknown:
        screen.say(Styled(f"{name} is in the log, but cannot be read now", "dim"))
    for thin in found.thin:
        seen = f"{plural(thin.reads, 'read')} on {plural(thin.days, 'day')}"
        screen.say(f"{thin.table}: the log has {seen}, too little to advise on it")
    for one in found.advice:
        screen.say("")
        _show(screen, one)
    if not found.advice and not found.thin:
        screen.say(f"nothing to advise on {plural(found.tables, 'table')}")


def _seen(log: "LogCoverage") -> list[str]:
    if not log.queries:
        return ["the query log is empty: there is nothing to found advice on"]
    return [
        f"queries in the log: {log.queries:,}, from {format_time(log.since)} to"
        f" {format_time(log.until)} (UTC); {log.spark:,} by Spark, {log.failed:,} failed,"
        f" {log.without_tables:,} of no table",
        f"reads of tables: {log.reads:,}; {log.without_conditions:,} without a condition that"
        f" leaves out files, {log.untold:,} of which the log does not tell",
        "Spark's own jobs, pipelines and other programs are not in it",
    ]


def _show(screen: Screen, one: "LayoutAdvice") -> None:
    title = _TITLES[one.kind].format(one.layout)
    screen.say(Styled(f"{one.table}: {title}", "bold"))
    screen.say(f"  {one.why}")
    if one.files_now:
        screen.say(
            f"  {plural(one.reads, 'read')}: {one.files_now:g} → {one.files_then:g} files,"
            f" {format_size(one.needed_now)} → {format_size(one.needed_then)} of needed columns;"
            f" {format_size(one.saved)} less in all"
        )
    screen.say(f"  storage: {one.amplification:g} times the table, if you follow this")
    if one.config:
        screen.say("  write to the pipeline's config.yaml:")
    for line in (*one.config, *one.commands):
        screen.say(f"    {line}")
