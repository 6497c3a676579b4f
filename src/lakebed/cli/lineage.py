"""The command `lineage`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from lakebed.cli.output.formats import plural
from lakebed.cli.output.screen import Screen
from lakebed.cli.output.style import bold
from lakebed.cli.parsing.command import command
from lakebed.cli.parsing.options import (
    ExcludeOption,
    SelectOption,
    SelectorsArgument,
    VarsOption,
    all_selectors,
)
from lakebed.cli.parsing.variables import variables
from lakebed.errors import UnknownName, UsageError
from lakebed.presentation.lineage import column_lineage_json, lineage_json

if TYPE_CHECKING:
    from lakebed.pipelines.lineage.lineage import ColumnLineage, Lineage, LineageEdge
    from lakebed.sql import ColumnSource

_FORMATS = ("text", "json", "mermaid")


def add_to(app: typer.Typer) -> None:
    """Give the app this command."""
    command(app, "lineage", examples=_LINEAGE)(lineage)


_LINEAGE = """
lakebed lineage
lakebed lineage +gold.revenue --format mermaid
lakebed lineage silver.orders --columns
"""


def lineage(
    screen: Screen,
    selectors: SelectorsArgument = None,
    select: SelectOption = None,
    exclude: ExcludeOption = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="Show which columns each column comes from.")
    ] = False,
    format: Annotated[str, typer.Option("--format", help=f"{', '.join(_FORMATS)}.")] = "text",
    vars: VarsOption = None,
) -> None:
    """Show where tables come from, with the snapshots read last; or columns, with --columns."""
    if format not in _FORMATS:
        raise UnknownName("format", format, _FORMATS)
    if columns and format == "mermaid":
        raise UsageError(
            "mermaid draws tables, not columns.", next="Use --format text or json with --columns."
        )
    shown = replace(screen, as_json=screen.as_json or format == "json")
    pipelines, chosen = screen.lake.pipelines, all_selectors(selectors, select)
    if columns:
        traced = pipelines.column_lineage(*chosen, exclude=exclude or (), vars=variables(vars))
        shown.show(
            [column_lineage_json(one) for one in traced], lambda: _print_columns(shown, traced)
        )
        return
    found = pipelines.lineage(*chosen, exclude=exclude or ())
    shown.show(lineage_json(found), lambda: _print(shown, found, drawn=format == "mermaid"))


def _print(screen: Screen, found: "Lineage", *, drawn: bool) -> None:
    from lakebed.pipelines.lineage.lineage import mermaid

    if drawn:
        screen.say(mermaid(found))
        return
    for node in found.nodes:
        edges = [edge for edge in found.edges if edge.target == node.name]
        if edges or node.kind in {"table", "view"}:
            at = f" at {node.snapshot}" if node.snapshot else ""
            screen.say(bold(node.name), f"{' (view)' if node.kind == 'view' else ''}{at}")
        kinds = {other.name: other.kind for other in found.nodes}
        for edge in edges:
            screen.say(f"  ← {_edge(edge, kinds[edge.source])}")


def _edge(edge: "LineageEdge", kind: str) -> str:
    if kind == "zone":
        files = "" if edge.files is None else f", {plural(edge.files, 'file')} in the last run"
        return f"zone {edge.source}{files}"
    read = f" at {edge.snapshot}" if edge.snapshot else ""
    return f"{edge.source}{read}{', in a gate' if edge.through == 'gate' else ''}"


def _print_columns(screen: Screen, traced: "tuple[ColumnLineage, ...]") -> None:
    for one in traced:
        at = f" at {one.snapshot}, run {one.run}" if one.snapshot else ""
        screen.say(bold(one.table), at)
        if not one.columns:
            screen.say("  its columns cannot be traced")
        for column, sources in one.columns.items():
            screen.say(f"  {column} ← {_sources(sources, one)}")


def _sources(sources: "tuple[ColumnSource, ...] | None", one: "ColumnLineage") -> str:
    if sources is None:
        return "not known"
    if not sources:
        return "no column"
    pins = one.inputs or {}
    return ", ".join(
        f"{source.table}.{source.column}"
        + (f" at {pins[source.table]}" if pins.get(source.table) else "")
        for source in sources
    )
